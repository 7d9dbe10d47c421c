// Small archives of every form that the tar reader knows, and a listing from the cache: seeds for its harness.
#include <string>
#include <vector>

#include "feed/image/shard_cache.h"
#include "feed/image/testing/tars.h"

std::vector<std::vector<std::uint8_t>> make_seeds() {
  using namespace fullbore::image;
  using testing::tar_end;
  using testing::tar_member;
  const auto of_type = [](std::string member, char type) {
    member[156] = type;
    testing::mend_checksum(member, 0);
    return member;
  };
  const std::string pair = tar_member("a/1.jpg", std::string(600, 'p')) + tar_member("a/1.cls", "3");
  std::string binary = tar_member("2.png", "picture");
  binary.replace(124, 12, std::string("\x80\0\0\0\0\0\0\0\0\0\0\x07", 12));
  testing::mend_checksum(binary, 0);
  const std::vector<std::string> archives = {
      pair + tar_end(),
      pair,
      tar_member(std::string(150, 'n') + ".jpg", "pax") + tar_end(),
      of_type(tar_member("././@LongLink", std::string(150, 'n') + ".webp"), 'L') + tar_member("short", "gnu"),
      of_type(tar_member("pax", "10 size=3\n18 path=b/3.jpeg\n"), 'x') + tar_member("3.jpg", "one"),
      of_type(tar_member("global", "16 comment=text\n"), 'g') + pair,
      of_type(tar_member("folder/", ""), '5') + of_type(tar_member("link.jpg", ""), '1') + pair,
      of_type(tar_member("sparse.jpg", "x"), 'S'),
      binary + tar_member("2.json", R"({"label": -4})"),
      pair + pair,
      to_bytes({{4096, 7}, {{"a.jpg", 512, 600, 3, ""}, {"b.jpg", 2048, 1, std::nullopt, "cut"}}}, "s.tar"),
  };
  std::vector<std::vector<std::uint8_t>> seeds;
  for (const std::string& archive : archives) seeds.emplace_back(archive.begin(), archive.end());
  return seeds;
}
