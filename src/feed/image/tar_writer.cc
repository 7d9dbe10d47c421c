#include "feed/image/tar_writer.h"

#include <fmt/core.h>

#include <algorithm>

namespace fullbore::image {
namespace {

constexpr std::size_t kNameBytes = 100;
constexpr std::uint64_t kMostOctal = 077777777777;  // 8 GiB - 1

void put(std::string& block, std::size_t at, std::string_view text) {
  block.replace(at, text.size(), text);
}

std::string ustar_header(std::string_view name, std::uint64_t size, char type) {
  std::string block(kTarBlock, '\0');
  put(block, 0, name.substr(0, kNameBytes));
  put(block, 100, "0000644");
  put(block, 108, "0000000");
  put(block, 116, "0000000");
  put(block, 124, fmt::format("{:011o}", std::min(size, kMostOctal)));
  put(block, 136, "00000000000");
  block[156] = type;
  put(block, 257, std::string_view("ustar\00000", 8));
  put(block, 148, "        ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(block, 148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

// Its length counts its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest;
  while (std::to_string(length).size() + rest != length) length = std::to_string(length).size() + rest;
  return fmt::format("{} {}={}\n", length, key, value);
}

}  // namespace

std::string tar_header(std::string_view name, std::uint64_t size) {
  std::string records;
  if (name.size() > kNameBytes) records += pax_record("path", name);
  if (size > kMostOctal) records += pax_record("size", fmt::format("{}", size));
  if (records.empty()) return ustar_header(name, size, '0');
  std::string bytes = ustar_header("pax", records.size(), 'x') + records;
  bytes.append(tar_padding(records.size()), '\0');
  return bytes + ustar_header(name, size, '0');
}

}  // namespace fullbore::image
