// A loader in its stride takes nothing new from the machine. A program of its own, because it counts allocations.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

#include "feed/jpeg/testing/pictures.h"
#include "fullbore/image_loader.h"

namespace {

// Buffers of pictures and batches are larger than this; small ones come and go with each file that is decoded.
constexpr std::size_t kLarge = 4096;

std::atomic<std::size_t> large_ones = 0;
std::atomic<std::size_t> bytes_in_use = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  if (bytes >= kLarge) large_ones.fetch_add(1, std::memory_order_relaxed);
  void* const memory = alignment == 0 ? std::malloc(bytes) : std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  bytes_in_use.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}

void given_back(void* memory) {
  bytes_in_use.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, 0);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted((bytes + unit - 1) / unit * unit, unit);
}
void operator delete(void* memory) noexcept {
  given_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  given_back(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  given_back(memory);
}

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;

class SteadyStateTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kPictures = 24;

  void SetUp() override {
    fs::create_directories(root_ / "a");
    for (std::uint32_t i = 0; i < kPictures; ++i) {
      const auto bytes = jpeg::testing::encode({.width = 200, .height = 150, .seed = i + 1});
      std::ofstream(root_ / "a" / (std::to_string(i) + ".jpg"), std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  std::unique_ptr<ImageLoader> open() const {
    LoaderOptions options;
    options.plan.batch_size = 6;
    options.threads = 2;
    options.index_memory = 0;
    options.transform.geometry = ResizeCenterCrop{.shorter_side = 80, .resized = {}, .crop = {64, 64}};
    options.transform.flip = 0.5;
    options.transform.steps = {ColorJitter{.brightness = Range{0.5, 1.5}, .hue = Range{-0.1, 0.1}},
                               RandomGrayscale{0.5}, Pad{.left = 2, .right = 3}, RandomErasing{}};
    options.transform.erasing = RandomErasing{.value = std::nullopt};
    return std::move(*ImageLoader::open(root_.string(), options));
  }
  static void run(ImageLoader& loader, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t epoch = first; epoch < first + count; ++epoch) {
      ASSERT_TRUE(loader.start(epoch));
      while (const auto batch = *loader.next()) {
      }
    }
  }
  static std::size_t entries(const char* folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path root_ = fs::temp_directory_path() / ("fullbore-steady-" + std::to_string(::getpid()));
};

TEST_F(SteadyStateTest, OneHundredEpochsTakeNoMemoryDescriptorsOrThreads) {
  const std::size_t files = entries("/proc/self/fd");
  const auto loader = open();
  ASSERT_TRUE(loader->start(0));
  std::vector<Batch> held;  // as many slots as can be in use later, and more
  while (auto batch = *loader->next()) held.push_back(std::move(*batch));
  held.clear();
  run(*loader, 1, 50);
  const std::size_t made = large_ones, bytes = bytes_in_use, tasks = entries("/proc/self/task");
  run(*loader, 51, 100);
  EXPECT_EQ(large_ones, made);
  EXPECT_LT(bytes_in_use, bytes + kLarge);
  EXPECT_EQ(entries("/proc/self/task"), tasks);
  EXPECT_LE(entries("/proc/self/fd"), files + 2);  // each thread may be reading a file of the next epoch
}

}  // namespace
}  // namespace fullbore::image
