// The index file through the loader: it must change when a picture is ready, never what the picture is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>

#include "feed/jpeg/testing/pictures.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using Pixels = std::vector<std::byte>;

class IndexLoaderTest : public ::testing::Test {
 protected:
  static constexpr int kPictures = 24;

  void SetUp() override {
    fs::create_directories(root_ / "cat");
    for (int i = 0; i < kPictures; ++i) write(i, picture(i));
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path path(int number) const { return root_ / "cat" / (std::to_string(number) + ".jpg"); }
  static std::vector<std::uint8_t> picture(int number, std::uint32_t seed = 1) {
    return jpeg::testing::encode({.width = 300 + static_cast<std::uint32_t>(number), .height = 200, .seed = seed});
  }
  void write(int number, const std::vector<std::uint8_t>& bytes) const {
    std::ofstream(path(number), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  static LoaderOptions options(const std::string& index = "auto") {
    LoaderOptions options;
    options.plan.batch_size = 8;
    options.transform.geometry = RandomResizedCrop{.size = {32, 24}};
    options.transform.dtype = DType::kUint8;
    options.threads = 2;
    options.index = index;
    options.index_memory = 0;
    return options;
  }
  std::unique_ptr<ImageLoader> open(const LoaderOptions& with) const {
    auto loader = ImageLoader::open(root_.string(), with);
    EXPECT_TRUE(loader) << loader.error().message;
    return std::move(*loader);
  }
  static Pixels pass(ImageLoader& loader, std::uint64_t epoch) {
    EXPECT_TRUE(loader.start(epoch));
    Pixels pixels;
    for (;;) {
      const auto batch = loader.next();
      EXPECT_TRUE(batch) << batch.error().message;
      if (!batch || !*batch) return pixels;
      pixels.insert(pixels.end(), (*batch)->data(), (*batch)->data() + (*batch)->samples() * 3 * 32 * 24);
    }
  }
  Pixels pass(const LoaderOptions& with, std::uint64_t epoch) const { return pass(*open(with), epoch); }

  const fs::path root_ =
      fs::temp_directory_path() / (std::string("fullbore-indexed-") + std::to_string(::getpid()) + "-" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const fs::path index_ = root_ / ".fullbore-index";
};

TEST_F(IndexLoaderTest, TheFirstPassWritesItAndTheNextRunOnlyReadsIt) {
  const Pixels expected = pass(options(""), 0);
  EXPECT_FALSE(fs::exists(index_));
  EXPECT_EQ(pass(options(), 0), expected);
  const auto size = fs::file_size(index_);
  EXPECT_GT(size, kPictures * 100u);
  EXPECT_EQ(pass(options(), 0), expected);
  EXPECT_EQ(fs::file_size(index_), size);
}

TEST_F(IndexLoaderTest, ItsStateIsToldWhileThePassesGoOn) {
  const auto loader = open(options());
  pass(*loader, 0);
  pass(*loader, 1);
  EXPECT_EQ(loader->index().path, index_.string());
  EXPECT_EQ(loader->index().problem, "");
  EXPECT_EQ(loader->index().bytes, fs::file_size(index_));
}

TEST_F(IndexLoaderTest, AChangedPictureIsDecodedAsItIsNow) {
  pass(options(), 0);
  const auto size = fs::file_size(index_);
  write(3, picture(3, 2));
  EXPECT_EQ(pass(options(), 1), pass(options(""), 1));
  EXPECT_GT(fs::file_size(index_), size);
}

TEST_F(IndexLoaderTest, DamageAnywhereInItChangesNoPicture) {
  pass(options(), 0);
  const Pixels expected = pass(options(""), 1);
  const auto size = fs::file_size(index_);
  for (std::uintmax_t at = 0; at < size; at += size / 23) {
    std::fstream file(index_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at)).put('\x5a');
    file.close();
    const auto loader = open(options());
    EXPECT_EQ(pass(*loader, 1), expected) << "byte " << at;
    if (loader->index().path.empty()) fs::remove(index_);  // its first bytes said that it is no index
  }
}

TEST_F(IndexLoaderTest, AnIndexThatIsCutWhileItIsUsedChangesNoPicture) {
  pass(options(), 0);
  const auto loader = open(options());
  fs::resize_file(index_, 100);
  EXPECT_EQ(pass(*loader, 1), pass(options(""), 1));
}

TEST_F(IndexLoaderTest, TwoRunsAtOnceMakeOneIndex) {
  const auto run = [this] { return pass(options(), 0); };
  auto other = std::async(std::launch::async, run);
  EXPECT_EQ(run(), other.get());
  const auto size = fs::file_size(index_);
  EXPECT_EQ(pass(options(), 0), pass(options(""), 0));
  EXPECT_EQ(fs::file_size(index_), size);
  fs::remove(index_);
  pass(options(), 0);
  EXPECT_LT(size, fs::file_size(index_) * 3 / 2);
}

}  // namespace
}  // namespace fullbore::image
