#include "fullbore/image_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "feed/jpeg/testing/pictures.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What a pass handed out.
struct Seen {
  std::vector<std::vector<std::byte>> pixels;
  std::vector<std::vector<std::uint64_t>> ids;

  bool operator==(const Seen&) const = default;
};

class ImageLoaderTest : public ::testing::Test {
 protected:
  static constexpr int kPictures = 40;

  void SetUp() override {
    for (int i = 0; i < kPictures; ++i) {
      const auto number = static_cast<std::uint32_t>(i);
      write(i, jpeg::testing::encode({.width = 40 + 3 * number, .height = 90 - number, .seed = number + 1}));
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path path(int picture) const {
    const std::string number = std::to_string(picture);
    return root_ / (picture < 20 ? "cat" : "dog") / (std::string(3 - number.size(), '0') + number + ".jpg");
  }
  void write(int picture, const std::vector<std::uint8_t>& bytes) const {
    fs::create_directories(path(picture).parent_path());
    std::ofstream(path(picture), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  void damage(int picture) const { fs::resize_file(path(picture), fs::file_size(path(picture)) / 2); }

  LoaderOptions options() const {
    LoaderOptions options;
    options.plan.batch_size = 8;
    options.plan.seed = 5;
    options.transform.geometry = RandomResizedCrop{.size = {32, 24}};
    options.transform.flip = 0.5;
    options.threads = 3;
    return options;
  }
  std::unique_ptr<ImageLoader> open(const LoaderOptions& options) const {
    auto loader = ImageLoader::open(root_.string(), options);
    EXPECT_TRUE(loader) << loader.error().message;
    return std::move(*loader);
  }
  static std::size_t batch_bytes(const ImageLoader& loader, const LoaderOptions& options, const Batch& batch) {
    const Size size = loader.picture_size();
    return batch.samples() * 3 * size.width * size.height * (options.transform.dtype == DType::kUint8 ? 1 : 4);
  }
  Seen pass(const LoaderOptions& options, std::uint64_t epoch, std::uint64_t first = 0) const {
    const auto loader = open(options);
    EXPECT_TRUE(loader->start(epoch, first));
    Seen seen;
    for (;;) {
      const auto batch = loader->next();
      EXPECT_TRUE(batch) << batch.error().message;
      if (!batch || !*batch) return seen;
      const Batch& got = **batch;
      seen.pixels.emplace_back(got.data(), got.data() + batch_bytes(*loader, options, got));
      seen.ids.emplace_back(got.ids().begin(), got.ids().end());
    }
  }

  fs::path root_ = fs::temp_directory_path() / (std::string("fullbore-loader-") + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ImageLoaderTest, ThreadsThatASlowCallerDoesNotNeedRestAndBatchesStayTheSame) {
  LoaderOptions adapting = options();
  adapting.plan.batch_size = 1;
  adapting.depth = 8;
  const Seen wanted = pass(adapting, 3);
  adapting.adapt_threads = true;
  const auto loader = open(adapting);
  Seen seen;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    ASSERT_TRUE(loader->start(epoch));
    seen = {};
    while (const auto batch = *loader->next()) {
      seen.pixels.emplace_back(batch->data(), batch->data() + batch_bytes(*loader, adapting, *batch));
      seen.ids.emplace_back(batch->ids().begin(), batch->ids().end());
      std::this_thread::sleep_for(5ms);  // the model
    }
  }
  EXPECT_EQ(seen, wanted);
  EXPECT_THAT(loader->explain(), HasSubstr("1 of 3 threads work for now"));
}

TEST_F(ImageLoaderTest, AWaitIsCountedAlsoWhereTheCallerLooksNowAndThen) {
  const auto loader = open(options());
  ASSERT_TRUE(loader->start(0));
  const std::int64_t began = base::monotonic_ns();
  while (!loader->wait(1ms)) {
  }
  const double waited_ms = static_cast<double>(base::monotonic_ns() - began) / 1e6;
  EXPECT_GT((**loader->next()).times().wait_ms, waited_ms / 2);
}

TEST_F(ImageLoaderTest, BatchesAreEqualForAnyNumberOfThreadsAndDepth) {
  LoaderOptions one = options();
  one.threads = one.depth = 1;
  const Seen expected = pass(one, 2);
  ASSERT_EQ(expected.ids.size(), 5u);
  for (const int threads : {2, 7}) {
    LoaderOptions many = options();
    many.threads = threads;
    many.depth = threads;
    EXPECT_EQ(pass(many, 2), expected) << threads;
  }
  EXPECT_NE(pass(one, 3), expected);
}

TEST_F(ImageLoaderTest, WhatWasDecodedBeforeDoesNotChangeWhatComes) {
  damage(7);  // never has checkpoints
  LoaderOptions skipping = options();
  skipping.on_error = OnError::kSkip;
  LoaderOptions forgetful = skipping;
  forgetful.index = "";
  forgetful.index_memory = 0;
  const auto loader = open(skipping), other = open(forgetful);
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    ASSERT_TRUE(loader->start(epoch));
    ASSERT_TRUE(other->start(epoch));
    while (const auto batch = *loader->next()) {
      const Batch expected = **other->next();
      ASSERT_TRUE(std::ranges::equal(batch->ids(), expected.ids()));
      ASSERT_EQ(std::memcmp(batch->data(), expected.data(), batch_bytes(*loader, skipping, expected)), 0);
    }
  }
}

TEST_F(ImageLoaderTest, APassBegunInTheMiddleGivesWhatWasLeft) {
  Seen all = pass(options(), 1);
  const Seen rest = pass(options(), 1, 3);
  all.ids.erase(all.ids.begin(), all.ids.begin() + 3);
  all.pixels.erase(all.pixels.begin(), all.pixels.begin() + 3);
  EXPECT_EQ(rest, all);
  EXPECT_TRUE(pass(options(), 1, 5).ids.empty());
  EXPECT_FALSE(open(options())->start(1, 6));
}

TEST_F(ImageLoaderTest, PixelsAreThoseOfTheDecoderOnTheSameWindow) {
  LoaderOptions plain = options();
  plain.transform = {};
  plain.transform.geometry = ResizeCenterCrop{.shorter_side = 0, .resized = {30, 20}, .crop = {30, 20}};
  plain.transform.dtype = DType::kUint8;
  plain.transform.layout = Layout::kNhwc;
  plain.plan.shuffle = false;
  const Seen seen = pass(plain, 0);
  std::ifstream file(path(9), std::ios::binary);
  const std::vector<char> text((std::istreambuf_iterator<char>(file)), {});
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  const auto expected = jpeg::Decoder().decode(bytes, {.resize = jpeg::Resize{{30, 20}, Filter::kBilinear, false}});
  ASSERT_TRUE(expected);
  EXPECT_EQ(seen.ids[1][1], 9u);
  EXPECT_EQ(std::memcmp(seen.pixels[1].data() + 30 * 20 * 3, expected->pixels.data(), 30 * 20 * 3), 0);
}

TEST_F(ImageLoaderTest, ABatchIsNotUsedAgainWhileItIsHeld) {
  const auto loader = open(options());
  ASSERT_TRUE(loader->start(0));
  std::vector<Batch> held;
  while (auto batch = *loader->next()) held.push_back(*batch);
  ASSERT_EQ(held.size(), 5u);
  const Seen expected = pass(options(), 0);
  for (std::size_t i = 0; i < held.size(); ++i)
    EXPECT_EQ(std::memcmp(held[i].data(), expected.pixels[i].data(), expected.pixels[i].size()), 0);
}

TEST_F(ImageLoaderTest, ABatchOutlivesItsLoader) {
  auto loader = open(options());
  ASSERT_TRUE(loader->start(0));
  const Batch batch = **loader->next();
  loader.reset();
  EXPECT_EQ(batch.samples(), 8u);
  EXPECT_EQ(std::memcmp(batch.data(), pass(options(), 0).pixels[0].data(), 8 * 3 * 32 * 24 * 4), 0);
}

TEST_F(ImageLoaderTest, HoldingAllThatMemoryAllowsIsAnErrorAndNotADeadlock) {
  LoaderOptions tight = options();
  tight.memory_limit = 2 * 8 * 3 * 32 * 24 * 4;
  const auto loader = open(tight);
  ASSERT_TRUE(loader->start(0));
  std::optional<Batch> first = *loader->next(), second = *loader->next();
  const auto third = loader->next();
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().message, HasSubstr("all 2 batches that memory is allowed for are still held"));
  first.reset();
  EXPECT_TRUE(loader->next()->has_value());
}

TEST_F(ImageLoaderTest, ABadSampleEndsThePassAfterTheBatchesBeforeIt) {
  LoaderOptions ordered = options();
  ordered.plan.shuffle = false;
  damage(19);
  const auto loader = open(ordered);
  ASSERT_TRUE(loader->start(0));
  EXPECT_TRUE(*loader->next());
  EXPECT_TRUE(*loader->next());
  const auto third = loader->next();
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().message, HasSubstr("cannot decode sample 19, " + path(19).string() + ": "));
  EXPECT_THAT(third.error().message, HasSubstr("on_error=\"skip\""));
  EXPECT_FALSE(loader->next()->has_value());
  ASSERT_TRUE(loader->start(1));
  EXPECT_TRUE(*loader->next());
}

TEST_F(ImageLoaderTest, SkippedSamplesAreFilledUpTheSameWayByAnyNumberOfThreads) {
  for (const int picture : {3, 17, 30}) damage(picture);
  fs::remove(path(21));
  fs::create_symlink("nowhere", path(21));
  LoaderOptions skipping = options();
  skipping.on_error = OnError::kSkip;
  const Seen seen = pass(skipping, 4);
  skipping.threads = 1;
  EXPECT_EQ(pass(skipping, 4), seen);
  ASSERT_EQ(seen.ids.size(), 5u);
  for (const auto& ids : seen.ids) {
    for (const std::uint64_t id : ids) EXPECT_TRUE(id != 3 && id != 17 && id != 30 && id != 21) << id;
  }
}

TEST_F(ImageLoaderTest, EachBadSampleIsReportedOnceAndMaxBadEndsThePass) {
  damage(3);
  fs::resize_file(path(17), 0);
  LoaderOptions skipping = options();
  skipping.on_error = OnError::kSkip;
  skipping.max_bad = 2;
  const auto loader = open(skipping);
  for (const std::uint64_t epoch : {0u, 1u}) {
    ASSERT_TRUE(loader->start(epoch));
    while (*loader->next()) {
    }
  }
  const auto bad = loader->bad_samples();
  ASSERT_EQ(bad.size(), 2u);
  EXPECT_EQ(bad[0].sample, 3u);
  EXPECT_EQ(bad[0].stage, "decode");
  EXPECT_EQ(bad[1].path, path(17).string());
  EXPECT_EQ(bad[1].stage, "read");
  EXPECT_EQ(bad[1].reason, "the file is empty");
  damage(5);
  ASSERT_TRUE(loader->start(2));
  auto batch = loader->next();
  while (batch && *batch) batch = loader->next();
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().message, HasSubstr("3 bad samples, where max_bad is 2"));
}

TEST_F(ImageLoaderTest, AReplacedSampleIsBlackAndNamed) {
  damage(3);
  LoaderOptions replacing = options();
  replacing.on_error = OnError::kReplace;
  replacing.plan.shuffle = false;
  replacing.transform.dtype = DType::kUint8;
  const auto loader = open(replacing);
  ASSERT_TRUE(loader->start(0));
  const Batch batch = **loader->next();
  EXPECT_THAT(batch.replaced(), ElementsAre(3u));
  EXPECT_EQ(batch.ids()[3], 3u);
  const std::size_t bytes = 3 * 32 * 24;
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(batch.data());
  EXPECT_TRUE(std::all_of(pixels + 3 * bytes, pixels + 4 * bytes, [](std::uint8_t value) { return value == 0; }));
}

TEST_F(ImageLoaderTest, ABombIsRefusedBeforeItIsDecoded) {
  LoaderOptions careful = options();
  careful.max_pixels = 40 * 90;
  const auto loader = open(careful);
  ASSERT_TRUE(loader->start(0));
  auto batch = loader->next();
  while (batch && *batch) batch = loader->next();
  ASSERT_FALSE(batch);
  EXPECT_THAT(batch.error().message, HasSubstr("max_pixels is 3600"));
}

TEST_F(ImageLoaderTest, ANewPassDropsWhatWasLeftOfTheOneBefore) {
  const auto loader = open(options());
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    ASSERT_TRUE(loader->start(epoch));
    const auto batch = loader->next();
    ASSERT_TRUE(batch && *batch);
  }
  loader->stop();
  EXPECT_FALSE(loader->next()->has_value());
  ASSERT_TRUE(loader->start(3));
  const Seen expected = pass(options(), 3);
  EXPECT_EQ(std::memcmp((**loader->next()).data(), expected.pixels[0].data(), expected.pixels[0].size()), 0);
}

TEST_F(ImageLoaderTest, TheNextEpochIsMadeAheadAndIsTheSameAsWhenItIsNot) {
  LoaderOptions deep = options();
  deep.depth = 8;
  const auto loader = open(deep);
  int ready_at_once = 0;
  for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
    ASSERT_TRUE(loader->start(epoch));
    ready_at_once += loader->wait(0ms);
    const Seen expected = pass(deep, epoch);  // meanwhile all that may be made is made
    for (std::size_t i = 0; i < 5; ++i) {
      const auto batch = *loader->next();
      ASSERT_TRUE(batch);
      ASSERT_TRUE(std::ranges::equal(batch->ids(), expected.ids[i]));
      ASSERT_EQ(std::memcmp(batch->data(), expected.pixels[i].data(), expected.pixels[i].size()), 0);
    }
    ASSERT_FALSE(*loader->next());
  }
  EXPECT_GT(ready_at_once, 5);
}

TEST_F(ImageLoaderTest, AnotherEpochThanTheNextDropsWhatWasMadeAhead) {
  const auto loader = open(options());
  for (const auto& [epoch, first] : {std::pair{0u, 0u}, {7u, 0u}, {8u, 2u}, {8u, 0u}, {9u, 0u}}) {
    ASSERT_TRUE(loader->start(epoch, first));
    const Seen expected = pass(options(), epoch, first);
    std::size_t seen = 0;
    while (const auto batch = *loader->next()) {
      ASSERT_TRUE(std::ranges::equal(batch->ids(), expected.ids[seen]));
      ASSERT_EQ(std::memcmp(batch->data(), expected.pixels[seen].data(), expected.pixels[seen].size()), 0);
      ++seen;
    }
    EXPECT_EQ(seen, expected.ids.size());
  }
}

TEST_F(ImageLoaderTest, TheSameEpochAgainBeginsAnewWhenNothingWasMadeAhead) {
  LoaderOptions two_slots = options();
  two_slots.depth = 1;
  two_slots.memory_limit = 1;
  const auto loader = open(two_slots);
  ASSERT_GT(loader->batches(), 2u);
  ASSERT_TRUE(loader->start(8, loader->batches() - 2));
  std::vector<Batch> held;  // both slots: no batch of epoch 9 can be begun
  while (auto batch = *loader->next()) held.push_back(*batch);
  ASSERT_EQ(held.size(), 2u);
  ASSERT_TRUE(loader->start(8, 0));
  held.clear();
  const Seen expected = pass(options(), 8, 0);
  for (const auto& ids : expected.ids) {
    const auto batch = *loader->next();
    ASSERT_TRUE(batch);
    EXPECT_TRUE(std::ranges::equal(batch->ids(), ids));
  }
}

TEST_F(ImageLoaderTest, LabelsAreThoseOfTheClasses) {
  const auto loader = open(options());
  EXPECT_THAT(loader->classes(), ElementsAre("cat", "dog"));
  ASSERT_TRUE(loader->start(0));
  while (const auto batch = *loader->next()) {
    for (std::size_t i = 0; i < batch->samples(); ++i) EXPECT_EQ(batch->labels()[i], batch->ids()[i] < 20 ? 0 : 1);
    EXPECT_GT(batch->times().decode_ms, 0);
    EXPECT_GT(batch->times().make_ms, 0);
  }
}

TEST_F(ImageLoaderTest, AClosedLoaderKnowsItsSamplesAndHandsOutNothing) {
  const auto loader = open(options());
  ASSERT_TRUE(loader->start(0));
  const Batch batch = **loader->next();
  loader->close();
  loader->close();
  EXPECT_EQ(loader->path(batch.ids()[0]), path(static_cast<int>(batch.ids()[0])).string());
  EXPECT_TRUE(loader->wait(0ms));
  EXPECT_FALSE(loader->next()->has_value());
  EXPECT_THAT(loader->start(1).error().message, HasSubstr("was closed"));
  EXPECT_EQ(loader->threads(), 0);
}

TEST_F(ImageLoaderTest, FieldsAreThoseOfTheSamplesAskedFor) {
  std::ofstream(root_ / "list.csv") << "path,one,two,age\ncat/000.jpg,3,x,7\ncat/001.jpg,4,y,8\ncat/002.jpg,5,x,9\n";
  LoaderOptions listed = options();
  listed.plan.batch_size = 3;
  listed.columns = {.labels = {"one", "two"}, .fields = {"age"}};
  const auto loader = ImageLoader::open((root_ / "list.csv").string(), listed);
  ASSERT_TRUE(loader) << loader.error().message;
  ASSERT_TRUE((*loader)->start(0));
  const Batch batch = **(*loader)->next();
  const auto ages = std::get<std::vector<std::int64_t>>(*(*loader)->field("age", batch.ids()));
  ASSERT_EQ(batch.labels().size(), 6u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto id = static_cast<std::int64_t>(batch.ids()[i]);
    EXPECT_EQ(ages[i], 7 + id);
    EXPECT_EQ(batch.labels()[2 * i], 3 + id);
    EXPECT_EQ(batch.labels()[2 * i + 1], id % 2);
  }
  EXPECT_THAT((*loader)->classes(1), ElementsAre("x", "y"));
  EXPECT_THAT((*loader)->field("size", batch.ids()).error().message, HasSubstr("no field \"size\""));
}

TEST_F(ImageLoaderTest, WaitingHasAnEnd) {
  const auto loader = open(options());
  EXPECT_TRUE(loader->wait(0ms));  // no pass: next() says so at once
  ASSERT_TRUE(loader->start(0));
  while (!loader->wait(1ms)) {
  }
  EXPECT_TRUE(*loader->next());
}

TEST_F(ImageLoaderTest, AForkedChildIsToldAndEndsCleanly) {
  auto loader = open(options());
  ASSERT_TRUE(loader->start(0));
  std::optional<Batch> batch = *loader->next();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool told = !loader->next() && !loader->start(1);
    batch.reset();
    loader.reset();
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(*loader->next());
}

TEST_F(ImageLoaderTest, WhatCannotBeMadeIsRefusedAtOnce) {
  const auto message = [&](auto change) {
    LoaderOptions changed = options();
    change(changed);
    const auto loader = ImageLoader::open(root_.string(), changed);
    return loader ? "" : loader.error().message;
  };
  EXPECT_THAT(message([](LoaderOptions& o) { o.transform.flip = 1.5; }), HasSubstr("probability of 1.5"));
  EXPECT_THAT(message([](LoaderOptions& o) { o.transform.normalise.std[1] = 0; }), HasSubstr("a std of 0"));
  EXPECT_THAT(message([](LoaderOptions& o) { o.depth = 0; }), HasSubstr("a depth of 0"));
  EXPECT_THAT(message([](LoaderOptions& o) { o.plan.batch_size = 41; }), HasSubstr("make no batch of 41"));
}

}  // namespace
}  // namespace fullbore::image
