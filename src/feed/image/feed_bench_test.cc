#include "feed/image/feed_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "feed/image/data_source.h"
#include "feed/image/pack.h"
#include "feed/image/page_cache.h"
#include "feed/jpeg/testing/pictures.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class FeedBenchTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kPictures = 12;

  void SetUp() override {
    for (std::uint32_t i = 0; i < kPictures; ++i)
      write(std::to_string(i) + ".jpg", jpeg::testing::encode({.width = 200 + i, .height = 150, .progressive = i < 3}));
    options_.transform.geometry = RandomResizedCrop{.size = {64, 64}};
    options_.most_threads = 3;
    options_.seconds = 0.3;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    fs::create_directories(root_ / "data/a");
    std::ofstream(root_ / "data/a" / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  base::Expected<BenchResult> run(const std::string& data) const {
    const auto catalogue = open_data({data}, 1, "");
    EXPECT_TRUE(catalogue);
    return run_bench(*catalogue, options_, [](double) { return true; });
  }
  base::Expected<BenchResult> run() const { return run((root_ / "data").string()); }

  BenchOptions options_;
  fs::path root_ = fs::temp_directory_path() / (std::string("fullbore-bench-") + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(FeedBenchTest, EveryPartIsMeasured) {
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->reading.pictures, kPictures);
  EXPECT_THAT(result->reading.by,
              UnorderedElementsAre(Pair("JPEG, window", 9u), Pair("JPEG, whole (libjpeg-turbo)", 3u)));
  EXPECT_EQ(result->repeated, kPictures);
  for (const StageCosts* costs : {&result->first_epoch, &result->later_epochs}) {
    EXPECT_EQ(costs->pictures, kPictures);
    EXPECT_GT(costs->read_ms, 0);
    EXPECT_GT(costs->decode_ms, costs->read_ms);
    EXPECT_GT(costs->finish_ms, 0);
  }
  std::vector<int> threads;
  for (const ThreadsRate& rate : result->rates) {
    threads.push_back(rate.threads);
    EXPECT_GE(rate.pictures, kPictures);
    EXPECT_GT(rate.seconds, 0.04);
    EXPECT_GT(rate.cpu_seconds, 0);
  }
  EXPECT_EQ(threads, (std::vector{1, 2, 3}));
}

TEST_F(FeedBenchTest, BadPicturesAreCountedAndNotMeasured) {
  write("4.jpg", {});
  write("5.jpg", {'G', 'I', 'F', '8'});
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->bad, 2u);
  EXPECT_THAT(result->first_bad, HasSubstr("4.jpg: the file is empty"));
  EXPECT_EQ(result->repeated, kPictures - 2);
  EXPECT_EQ(result->reading.by.at("nothing"), 2u);
  fs::remove_all(root_ / "data");
  write("1.jpg", {'x'});
  EXPECT_THAT(run().error().message(), HasSubstr("none of the pictures can be decoded"));
}

TEST_F(FeedBenchTest, ShardsAreMeasuredToo) {
  const auto catalogue = open_data({(root_ / "data").string()}, 1, "");
  ASSERT_TRUE(pack(*catalogue, (root_ / "out").string(), {}, [](const PackProgress&) { return true; }));
  const auto result = run((root_ / "out").string());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reading.pictures, kPictures);
  EXPECT_EQ(result->repeated, kPictures);
}

TEST_F(FeedBenchTest, ItEndsWhenItIsTold) {
  options_.seconds = 1000;
  const auto catalogue = open_data({(root_ / "data").string()}, 1, "");
  int calls = 0;
  EXPECT_FALSE(run_bench(*catalogue, options_, [&](double) { return ++calls < 40; }));
}

TEST(BenchLimitTest, TheLowerOfStorageAndCoresIsTheLimit) {
  BenchResult result;
  result.reading.pictures = 1'000;
  result.reading.seconds = 1;
  result.later_epochs = {10, 0.1, 0.2, 0.3};
  result.rates = {{1, 1'600, 1, 1}, {2, 1'500, 1, 2}};
  const BenchLimit slow_disk = find_limit(result);
  EXPECT_EQ(slow_disk.part + " " + slow_disk.next_part, "storage finish");
  EXPECT_EQ(slow_disk.next_pictures_per_s, 1'600);
  result.reading.pictures = 9'000;
  EXPECT_EQ(find_limit(result).part, "finish");
}

TEST(PageCacheTest, AFileThatWasJustWrittenIsInThePageCache) {
  const std::string path = fs::temp_directory_path() / ("fullbore-cached-" + std::to_string(::getpid()));
  std::ofstream(path) << std::string(100'000, 'x');
  const auto bytes = cached_bytes(path, 5'000, 20'000);
  fs::remove(path);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->cached, bytes->all);
  EXPECT_GE(bytes->all, 20'000u);
  EXPECT_FALSE(cached_bytes(path, 0, 10));
}

}  // namespace
}  // namespace fullbore::image
