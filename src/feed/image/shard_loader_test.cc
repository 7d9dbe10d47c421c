// The image loader on tar shards: what it hands out is what the same pictures as files give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "feed/image/shard_files.h"
#include "feed/image/testing/tars.h"
#include "feed/jpeg/testing/pictures.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::tar_end;
using testing::tar_member;

class ShardLoaderTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPictures = 24, kPerShard = 6;

  void SetUp() override {
    fs::create_directories(root_ / "files");
    std::ofstream list(root_ / "files.csv");
    list << "path,label\n";
    std::string shard;
    for (std::uint32_t i = 0; i < kPictures; ++i) {
      const auto bytes = jpeg::testing::encode({.width = 40 + 3 * i, .height = 90 - i, .seed = i + 1});
      const std::string text(bytes.begin(), bytes.end());
      const std::string key = "p" + std::to_string(100 + i);
      write("files/" + key + ".jpg", text);
      list << "files/" << key << ".jpg," << i % 3 << "\n";
      shard += tar_member(key + ".jpg", text) + tar_member(key + ".cls", std::to_string(i % 3));
      if (i % kPerShard != kPerShard - 1) continue;
      write("s-" + std::to_string(i / kPerShard) + ".tar", shard + tar_end());
      shard.clear();
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  std::string at(const std::string& name) const { return (root_ / name).string(); }
  LoaderOptions options() const {
    LoaderOptions options;
    options.plan.batch_size = 8;
    options.transform.geometry = RandomResizedCrop{.size = {32, 24}};
    options.threads = 3;
    options.listing_cache = at("cache");
    return options;
  }
  static std::unique_ptr<ImageLoader> open(const std::string& data, const LoaderOptions& options) {
    auto loader = ImageLoader::open(data, options);
    EXPECT_TRUE(loader) << loader.error().message;
    return std::move(*loader);
  }
  // The error that the pass ends with.
  static std::string run(ImageLoader& loader) {
    EXPECT_TRUE(loader.start(0));
    for (;;) {
      const auto batch = loader.next();
      if (!batch) return batch.error().message;
      if (!*batch) return "";
    }
  }

  fs::path root_ = fs::temp_directory_path() / (std::string("fullbore-shard-loader-") + std::to_string(::getpid()) +
                                                "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ShardLoaderTest, BatchesAreThoseOfTheSamePicturesAsFiles) {
  const auto shards = open(at("s-{0..3}.tar"), options()), files = open(at("files.csv"), options());
  ASSERT_EQ(shards->batches(), 3u);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    ASSERT_TRUE(shards->start(epoch) && files->start(epoch));
    while (const auto expected = *files->next()) {
      const Batch got = **shards->next();
      EXPECT_TRUE(std::ranges::equal(got.ids(), expected->ids()));
      EXPECT_TRUE(std::ranges::equal(got.labels(), expected->labels()));
      EXPECT_EQ(std::memcmp(got.data(), expected->data(), 8 * 3 * 32 * 24 * 4), 0);
    }
  }
  EXPECT_EQ(shards->path(7), at("s-1.tar/p107.jpg"));
}

TEST_F(ShardLoaderTest, AFolderAPatternAndAListAreTheSameData) {
  fs::remove_all(root_ / "files");
  LoaderOptions uncached = options();
  uncached.listing_cache = "";
  const auto folder = open(root_, uncached), pattern = open(at("s-{0..3}.tar"), uncached);
  const auto list = ImageLoader::open({at("s-0.tar"), at("s-{1,2}.tar"), at("s-3.tar")}, uncached);
  ASSERT_TRUE(list);
  EXPECT_EQ(folder->fingerprint(), pattern->fingerprint());
  EXPECT_EQ(folder->fingerprint(), (*list)->fingerprint());
  const auto mixed = ImageLoader::open({at("s-0.tar"), at("files.csv")}, uncached);
  EXPECT_THAT(mixed.error().message, HasSubstr("files.csv is no tar shard"));
}

TEST_F(ShardLoaderTest, AShardCutShortServesWhatIsWholeAndReportsTheRest) {
  fs::resize_file(root_ / "s-3.tar", fs::file_size(root_ / "s-3.tar") / 2);
  LoaderOptions skipping = options();
  skipping.on_error = OnError::kSkip;
  const auto loader = open(at("s-{0..3}.tar"), skipping);
  EXPECT_LT(loader->samples(), kPictures);
  EXPECT_EQ(run(*loader), "");
  const auto bad = loader->bad_samples();
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_THAT(bad[0].path, HasSubstr(at("s-3.tar/p1")));
  EXPECT_EQ(bad[0].stage, "read");
  EXPECT_THAT(bad[0].reason, ::testing::MatchesRegex("at byte [0-9]+: a member of .* it was cut short"));
  EXPECT_THAT(run(*open(at("s-{0..3}.tar"), options())), HasSubstr("it was cut short; on_error=\"skip\""));
}

TEST_F(ShardLoaderTest, ABadPictureIsNamedWithShardMemberAndByte) {
  write("s-2.tar", tar_member("x/a.jpg", "no picture") + tar_member("x/a.cls", "1") + tar_end());
  const auto loader = open(at("s-{0..2}.tar"), options());
  EXPECT_THAT(run(*loader), HasSubstr("cannot decode sample 12, " + at("s-2.tar/x/a.jpg") + ": at byte 512: "));
}

TEST_F(ShardLoaderTest, AShardThatChangedSinceItWasListedIsRefused) {
  const auto loader = open(at("s-{0..3}.tar"), options());
  fs::resize_file(root_ / "s-1.tar", 100'000);
  EXPECT_THAT(run(*loader), HasSubstr("the shard was changed since it was listed"));
}

TEST_F(ShardLoaderTest, TheNumberOfOpenShardsIsBounded) {
  Catalogue catalogue("");
  constexpr std::uint32_t kShards = 3 * ShardFiles::kMostOpen;
  const std::string shard = at("s-0.tar");
  const ShardVersion version = (*OpenShard::open(shard))->version();
  for (std::uint32_t i = 0; i < kShards; ++i) catalogue.add_shard({shard, version});
  const auto open_files = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  const auto before = open_files();
  ShardFiles files(catalogue);
  FileBytes bytes;
  for (std::uint32_t i = 0; i < 2 * kShards; ++i) ASSERT_TRUE(files.read({i % kShards, 512, 16}, bytes));
  EXPECT_LE(open_files() - before, static_cast<std::ptrdiff_t>(ShardFiles::kMostOpen));
}

}  // namespace
}  // namespace fullbore::image
