#include "feed/image/shard_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "feed/image/shard_cache.h"
#include "feed/image/testing/tars.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::tar_end;
using testing::tar_member;

class ShardSetTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  std::string write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << bytes;
    return at(name);
  }
  std::string at(const std::string& name) const { return (root_ / name).string(); }

  // "LABEL NAME", or what is wrong with it.
  static std::vector<std::string> samples(const base::Expected<Catalogue>& catalogue) {
    if (!catalogue) return {catalogue.error().message()};
    std::vector<std::string> result;
    std::string path;
    for (std::uint64_t i = 0; i < catalogue->size(); ++i) {
      const std::string* fault = catalogue->fault(i);
      result.push_back(std::to_string(catalogue->label(i)) + " " + std::string(catalogue->name(i)) +
                       (fault ? " at " + std::to_string(catalogue->member(i)->offset) + ": " + *fault : ""));
    }
    return result;
  }
  std::vector<std::string> samples(const std::string& bytes) const {
    return samples(list_shards({write("s.tar", bytes)}, 1, ""));
  }
  static std::vector<std::string> expand(const std::string& pattern) {
    const auto names = expand_shards(pattern);
    return names ? *names : std::vector<std::string>{names.error().message()};
  }

  fs::path root_ = fs::temp_directory_path() / (std::string("fullbore-shards-") + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ShardSetTest, PicturesHaveTheLabelOfTheirKeyWhereverItStands) {
  EXPECT_THAT(samples(tar_member("1.cls", "7\n") + tar_member("1.jpg", "x") + tar_member("2.JPEG", "x") +
                      tar_member("2.json", R"({"label": 3})") + tar_member("notes.txt", "x") +
                      tar_member("1.seg.png", "x") + tar_member("3.webp", "x") +
                      tar_member("3.json", "{\"label\": 1}") + tar_member("3.cls", "-2") + tar_end()),
              ElementsAre("7 1.jpg", "3 2.JPEG", "-2 3.webp"));
}

TEST_F(ShardSetTest, WithoutAnyLabelAllAreMinusOneAndOtherwiseItIsMissing) {
  const std::string bare = tar_member("1.jpg", "x") + tar_member("2.jpg", "x");
  EXPECT_THAT(samples(bare), ElementsAre("-1 1.jpg", "-1 2.jpg"));
  EXPECT_THAT(samples(bare + tar_member("2.cls", "4")),
              ElementsAre("-1 1.jpg at 512: it has no label, in neither a .cls nor a .json, and other samples have one",
                          "4 2.jpg"));
}

TEST_F(ShardSetTest, WhatCannotBeUsedIsASampleWithTheReason) {
  EXPECT_THAT(samples(tar_member("1.jpg", "x") + tar_member("1.cls", "cat") + tar_member("1.png", "x")),
              ElementsAre("-1 1.jpg at 512: its .cls is no whole number",
                          "-1 1.png at 2560: a second picture of its key; the first one is at byte 512"));
  const std::string tar = tar_member("1.jpg", "x") + tar_member("2.jpg", std::string(900, 'x'));
  EXPECT_THAT(samples(tar.substr(0, 2000)),
              ElementsAre("-1 1.jpg",
                          "-1 2.jpg at 1024: a member of 900 bytes, of which the archive has 464: it was cut short"));
  EXPECT_THAT(samples(tar.substr(0, 1400)),
              ElementsAre("-1 1.jpg", HasSubstr("-1  at 1024: the archive ends in the middle of a header")));
  std::string link = tar_member("1.jpg", "");
  link[156] = '1';
  testing::mend_checksum(link, 0);
  EXPECT_THAT(samples(link), ElementsAre(HasSubstr("-1 1.jpg at 512: a link to another member")));
}

TEST_F(ShardSetTest, AShardOfWhichNothingCanBeUsedIsAnError) {
  EXPECT_THAT(samples(""), ElementsAre("the shard " + at("s.tar") + " is empty: 0 bytes"));
  EXPECT_THAT(samples(tar_end()), ElementsAre(HasSubstr("no picture in " + at("s.tar"))));
  EXPECT_THAT(samples(std::string("\x1f\x8b") + std::string(600, 'x')),
              ElementsAre(HasSubstr("cannot use the shard " + at("s.tar") + " at byte 0: compressed by gzip")));
  EXPECT_THAT(list_shards({at("missing.tar")}, 1, "").error().message(), HasSubstr("cannot open the shard"));
  EXPECT_THAT(list_shards({root_}, 1, "").error().message(), HasSubstr("is no regular file"));
}

TEST_F(ShardSetTest, ShardsFollowEachOtherForAnyNumberOfThreads) {
  std::vector<std::string> names, expected;
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    names.push_back(write(number + ".tar", tar_member(number + ".png", "x")));
    expected.push_back("-1 " + number + ".png");
  }
  for (const int threads : {1, 5}) EXPECT_EQ(samples(list_shards(names, threads, "")), expected);
}

TEST_F(ShardSetTest, PatternsAreExpandedAsTheShellDoes) {
  EXPECT_THAT(expand("a-{008..011}.tar"), ElementsAre("a-008.tar", "a-009.tar", "a-010.tar", "a-011.tar"));
  EXPECT_THAT(expand("{b,a}-{0..1}.tar"), ElementsAre("b-0.tar", "b-1.tar", "a-0.tar", "a-1.tar"));
  EXPECT_THAT(expand("plain.tar"), ElementsAre("plain.tar"));
  EXPECT_THAT(expand("a-{3..1}.tar"), ElementsAre(HasSubstr("{3..1} in a-{3..1}.tar is no range")));
  EXPECT_THAT(expand("a-{0..1.tar"), ElementsAre(HasSubstr("is not closed")));
  EXPECT_THAT(expand("{0..999}{0..9999}.tar"), ElementsAre(HasSubstr("more than 1000000 shards")));
  EXPECT_THAT(expand("s3://bucket/a.tar"), ElementsAre(HasSubstr("is not on this machine")));
  EXPECT_THAT(expand(write("odd{.tar", "")), ElementsAre(at("odd{.tar")));
}

TEST_F(ShardSetTest, AFolderOfShardsHasNoFolders) {
  write("set/b.tar", "");
  write("set/a.tar", "");
  write("set/index.json", "");
  EXPECT_TRUE(is_shard_source(at("set")));
  EXPECT_THAT(expand(at("set")), ElementsAre(at("set/a.tar"), at("set/b.tar")));
  write("set/n01440764/1.jpg", "");
  EXPECT_FALSE(is_shard_source(at("set")));
  EXPECT_TRUE(is_shard_source("train-{0..7}.tar"));
  EXPECT_FALSE(is_shard_source(at("set/list.csv")));
}

TEST_F(ShardSetTest, AListingIsKeptAndUsedUntilTheShardChanges) {
  const std::string shard = write("s.tar", tar_member("1.jpg", "x") + tar_member("1.cls", "5"));
  const auto first = list_shard_cached(shard, at("cache"));
  ASSERT_TRUE(first);
  const fs::path kept = fs::directory_iterator(at("cache"))->path();
  ShardListing other = *first;
  other.samples[0].name = "from the cache.jpg";
  std::ofstream(kept, std::ios::binary) << to_bytes(other, fs::canonical(shard).string());
  EXPECT_EQ(list_shard_cached(shard, at("cache"))->samples, other.samples);
  write("s.tar", tar_member("2.jpg", "longer than before") + tar_member("3.jpg", ""));
  EXPECT_EQ(list_shard_cached(shard, at("cache"))->samples.size(), 2u);
  EXPECT_TRUE(list_shard_cached(shard, "/dev/null/no folder"));
}

TEST_F(ShardSetTest, ADamagedListingIsNotUsed) {
  const ShardListing listing{{1000, -5}, {{"a.jpg", 512, 3, 7, ""}, {"", 900, 0, std::nullopt, "damaged"}}};
  const std::string bytes = to_bytes(listing, "/s.tar");
  const auto parsed = parse_listing(bytes, "/s.tar");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->samples, listing.samples);
  EXPECT_EQ(parsed->version, listing.version);
  EXPECT_FALSE(parse_listing(bytes, "/other.tar"));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_FALSE(parse_listing(damaged, "/s.tar")) << i;
    EXPECT_FALSE(parse_listing(std::string_view(bytes).substr(0, i), "/s.tar")) << i;
  }
}

}  // namespace
}  // namespace fullbore::image
