#include "feed/image/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "feed/image/data_source.h"
#include "feed/image/shard_files.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PackTest : public ::testing::Test {
 protected:
  static constexpr int kPictures = 20;

  void SetUp() override {
    for (int i = 0; i < kPictures; ++i)
      write_picture(i, "\xff\xd8\xff" + std::string(2000 + 100 * i, static_cast<char>('a' + i)));
    options_.shard_bytes = 16'000;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string at(const std::string& name) const { return (root_ / name).string(); }
  std::string out() const { return at("out"); }
  std::string picture(int number) const {
    return at(std::string("data/") + (number < 10 ? "cat" : "dog") + "/a.b " + std::to_string(100 + number) + ".jpg");
  }
  void write_picture(int number, const std::string& bytes) const {
    fs::create_directories(fs::path(picture(number)).parent_path());
    std::ofstream(picture(number), std::ios::binary) << bytes;
  }
  base::Expected<PackResult> run(std::uint64_t at_most = 1000) const {
    const auto catalogue = open_data({at("data")}, 1, "");
    EXPECT_TRUE(catalogue);
    std::uint64_t calls = 0;
    return pack(*catalogue, out(), options_, [&](const PackProgress&) { return calls++ < at_most; });
  }
  static std::string message(const base::Expected<PackResult>& result) {
    return result ? "" : result.error().message();
  }
  // Name -> content of all that lies in the folder.
  static std::map<std::string, std::string> content(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      std::ifstream in(entry.path(), std::ios::binary);
      files[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(in), {});
    }
    return files;
  }
  // "LABEL: CONTENT" of each sample of the data.
  static std::vector<std::string> samples(const std::string& data) {
    const auto catalogue = open_data({data}, 1, "");
    if (!catalogue) return {catalogue.error().message()};
    ShardFiles shards(*catalogue);
    FileBytes bytes;
    std::vector<std::string> result;
    for (std::uint64_t i = 0; i < catalogue->size(); ++i) {
      std::string path;
      catalogue->path(i, path);
      const auto member = catalogue->member(i);
      const auto read = member ? shards.read(*member, bytes) : bytes.read(path);
      result.push_back(std::to_string(catalogue->label(i)) + ": " + std::string(read->begin(), read->end()));
    }
    return result;
  }

  PackOptions options_;
  fs::path root_ = fs::temp_directory_path() / (std::string("fullbore-pack-") + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(PackTest, ShardsHoldTheDataInItsOrderWithLabelsAndClasses) {
  const auto result = run();
  ASSERT_TRUE(result) << message(result);
  EXPECT_GT(result->index.shards.size(), 3u);
  for (const WrittenShard& shard : result->index.shards) EXPECT_LE(shard.bytes, options_.shard_bytes);
  EXPECT_EQ(samples(out()), samples(at("data")));
  const auto catalogue = open_data({out()}, 1, "");
  EXPECT_THAT(catalogue->classes(), ElementsAre("cat", "dog"));
  EXPECT_EQ(catalogue->name(0), "00000000-a_b_100.jpg");
}

TEST_F(PackTest, AShuffledPackHasEverySampleOnce) {
  options_.shuffle = 3;
  ASSERT_TRUE(run());
  auto packed = samples(out()), expected = samples(at("data"));
  EXPECT_NE(packed, expected);
  std::ranges::sort(packed);
  std::ranges::sort(expected);
  EXPECT_EQ(packed, expected);
}

TEST_F(PackTest, APackInPiecesIsTheSameAsOneAtOnce) {
  ASSERT_TRUE(run());
  const auto expected = content(out());
  fs::remove_all(out());
  std::uint64_t calls = 0;
  for (bool stopped = true; stopped; ++calls) {
    const auto result = run(7);
    ASSERT_TRUE(result) << message(result);
    stopped = result->stopped;
    for (const auto& [name, bytes] : content(out())) EXPECT_FALSE(name.ends_with(".partial")) << name;
  }
  EXPECT_GT(calls, 2u);
  EXPECT_EQ(content(out()), expected);
  EXPECT_EQ(run()->resumed_at, static_cast<std::uint64_t>(kPictures));  // nothing is left to do
  EXPECT_EQ(content(out()), expected);
}

TEST_F(PackTest, AnUnfinishedPackIsNotReadAsAWholeOne) {
  ASSERT_TRUE(run(12)->stopped);
  EXPECT_THAT(samples(out()), ElementsAre(HasSubstr("is not packed to its end")));
  ASSERT_TRUE(run());
  fs::remove(out() + "/shard-000001.tar");
  EXPECT_THAT(samples(out()), ElementsAre(HasSubstr("shard-000001.tar is missing")));
}

TEST_F(PackTest, OtherDataOrOptionsAreNotMixedIn) {
  ASSERT_TRUE(run(12)->stopped);
  options_.shuffle = 1;
  EXPECT_THAT(message(run()), HasSubstr("another --shard-size or --shuffle"));
  options_.shuffle.reset();
  fs::remove(picture(19));
  EXPECT_THAT(message(run()), HasSubstr("other files or labels"));
  write_picture(19, "\xff\xd8\xff");
  fs::resize_file(out() + "/shard-000000.tar", 1);
  EXPECT_THAT(message(run()), HasSubstr("shard-000000.tar is not the shard of"));
  fs::remove(out() + "/index.json");
  EXPECT_THAT(message(run()), HasSubstr("which is of no pack"));
}

TEST_F(PackTest, WhatIsNoPictureEndsItOrIsLeftOut) {
  write_picture(4, "GIF89a");
  write_picture(5, "");
  EXPECT_THAT(message(run()),
              StartsWith("cannot pack sample 4, " + picture(4) + ": a GIF, which is not decoded here; --skip-bad"));
  options_.skip_bad = true;
  const auto result = run();
  ASSERT_TRUE(result) << message(result);
  ASSERT_EQ(result->index.left_out.size(), 2u);
  EXPECT_EQ(result->index.left_out[1].path, picture(5));
  EXPECT_EQ(samples(out()).size(), kPictures - 2u);
}

TEST_F(PackTest, AFullDiskLeavesNothingHalfWrittenAndTheNextCallGoesOn) {
  ASSERT_TRUE(run());
  const auto expected = content(out());
  fs::remove_all(out());
  // A limit on the size of files stands for a full disk: the write fails in the same place.
  options_.shard_bytes = 40'000;
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{20'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const auto failed = run();
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(message(failed), HasSubstr("cannot write " + out() + "/.shard-000000.tar.partial: File too large"));
  std::vector<std::string> left;
  for (const auto& [name, bytes] : content(out())) left.push_back(name);
  EXPECT_THAT(left, ElementsAre("index.json"));
  EXPECT_TRUE(run());
  EXPECT_EQ(samples(out()), samples(at("data")));
}

TEST_F(PackTest, TwoAtOnceDoNotWriteIntoOneFolder) {
  const auto catalogue = open_data({at("data")}, 1, "");
  std::string second;
  ASSERT_TRUE(pack(*catalogue, out(), options_, [&](const PackProgress& progress) {
    if (progress.done == 3) second = message(run());
    return true;
  }));
  EXPECT_EQ(second, "another process packs into " + out());
}

TEST_F(PackTest, ShardsCanBePackedAnew) {
  ASSERT_TRUE(run());
  const auto catalogue = open_data({out()}, 1, "");
  PackOptions one;
  one.shard_bytes = 1'000'000;
  const auto result = pack(*catalogue, at("again"), one, [](const PackProgress&) { return true; });
  ASSERT_TRUE(result) << message(result);
  EXPECT_EQ(result->index.shards.size(), 1u);
  EXPECT_EQ(samples(at("again")), samples(at("data")));
}

}  // namespace
}  // namespace fullbore::image
