#include "cli/bench_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fullbore::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

image::BenchResult measured() {
  image::BenchResult result;
  result.samples = 40'000;
  result.reading = {.threads = 2,
                    .pictures = 10'000,
                    .bytes = 1'000'000'000,
                    .seconds = 2,
                    .cached = 0.04,
                    .by = {{"JPEG, window", 9'990}, {"PNG", 10}}};
  result.first_epoch = {512, 0.01, 0.5, 0.1};
  result.later_epochs = {512, 0.01, 0.35, 0.1};
  result.rates = {{1, 2'000, 1, 0.99}, {2, 4'000, 1, 1.96}};
  result.repeated = 512;
  return result;
}

TEST(BenchCommandTest, TheTextSaysWhereReadingCameFrom) {
  image::BenchResult result = measured();
  EXPECT_THAT(bench_text(result), HasSubstr("reading alone: 5,000 pictures/s, 500 MB/s, 2 threads (cold: 4 % was in"));
  result.reading.cached = 1;
  EXPECT_THAT(bench_text(result), HasSubstr("(warm: 100 % was in the page cache)"));
  result.reading.cached.reset();
  EXPECT_THAT(bench_text(result), HasSubstr("(page cache: not known"));
  EXPECT_TRUE(nlohmann::json::parse(bench_json(result))["reading"]["cached_share"].is_null());
}

TEST(BenchCommandTest, TheLimitIsWhatGivesLess) {
  image::BenchResult result = measured();
  EXPECT_THAT(bench_text(result),
              HasSubstr("limit: the cores, 4,000 pictures/s; 76 % of a picture's CPU time is decode; "
                        "storage would give 5,000"));
  result.reading.seconds = 10;
  EXPECT_THAT(bench_text(result), HasSubstr("limit: storage, 1,000 pictures/s; then decode, 4,000"));
  EXPECT_EQ(nlohmann::json::parse(bench_json(result))["limit"]["part"], "storage");
}

TEST(BenchCommandTest, CoresThatOthersTookAreTold) {
  image::BenchResult result = measured();
  EXPECT_THAT(bench_text(result), Not(HasSubstr("other programs")));
  result.rates[1].pictures = 2'000;
  result.rates[1].cpu_seconds = 1;
  EXPECT_THAT(bench_text(result),
              HasSubstr("2 threads had 1.0 cores: other programs or a quota took the rest; with all "
                        "of them at most 4,000"));
}

TEST(BenchCommandTest, BadPicturesAreTold) {
  image::BenchResult result = measured();
  EXPECT_THAT(bench_text(result), Not(HasSubstr("bad pictures")));
  EXPECT_TRUE(nlohmann::json::parse(bench_json(result))["bad"]["first"].is_null());
  result.bad = 3;
  result.first_bad = "\xff.jpg: the file is empty";
  EXPECT_THAT(bench_text(result), HasSubstr("bad pictures: 3; one is"));
  EXPECT_EQ(nlohmann::json::parse(bench_json(result))["bad"]["first"], "\\xff.jpg: the file is empty");
}

}  // namespace
}  // namespace fullbore::cli
