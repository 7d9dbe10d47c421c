#include "feed/delivery/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "feed/delivery/pinned_batches.h"
#include "feed/jpeg/testing/pictures.h"
#include "gpu/kernels/finish_ptx.h"
#include "gpu/testing/finish_on_host.h"

namespace fullbore::feed {
namespace {

namespace fs = std::filesystem;
using gpu::testing::FakeCuda;

constexpr std::size_t kPictures = 24, kBatch = 4, kPixels = 16 * 12;
constexpr std::size_t kImageBytes = kBatch * kPixels * 3 * sizeof(float);

// Memory of the "device" for one batch.
struct alignas(64) Destination {
  std::byte images[kImageBytes];
  std::int64_t labels[kBatch];
  gpu::DeviceAddress images_address() { return reinterpret_cast<gpu::DeviceAddress>(images); }
  gpu::DeviceAddress labels_address() { return reinterpret_cast<gpu::DeviceAddress>(labels); }
  bool operator==(const Destination& other) const { return std::memcmp(this, &other, sizeof(*this)) == 0; }
};

// A loader whose batches lie in page-locked memory of a fake device, and their delivery.
struct Fixture {
  explicit Fixture(const std::string& folder, std::uint64_t seed = 1) : cuda({.seed = seed}) {
    cuda.add_kernel(gpu::kFinishName, gpu::testing::finish_on_host());
    device = *gpu::Device::open(cuda.api(), 0);
    copies = cuda.make_stream();
    compute = cuda.make_stream();
    options.transform.geometry = image::RandomResizedCrop{.size = {16, 12}};
    options.plan.batch_size = kBatch;
    options.plan.shuffle = false;
    options.threads = 1;
    delivery_options = {options.transform, {16, 12}, kBatch};
    options.transform.dtype = image::DType::kUint8;
    options.transform.layout = image::Layout::kNhwc;
    options.memory = pinned_batches(device, static_cast<std::size_t>(options.depth) + Delivery::kMostInFlight);
    loader = *image::ImageLoader::open(folder, options);
    workspace.resize(Delivery::workspace_bytes(delivery_options) / sizeof(Destination) + 1);
    start("ptx");
  }
  void start(const char* ptx) {
    const auto address = reinterpret_cast<gpu::DeviceAddress>(workspace.data());
    delivery = *Delivery::start(device, copies, delivery_options, ptx, address);
  }
  std::shared_ptr<Delivered> send(Destination& to) {
    auto batch = loader->next();
    EXPECT_TRUE(batch && *batch);
    auto sent = delivery->send(std::move(**batch), to.images_address(), to.labels_address());
    EXPECT_TRUE(sent) << sent.error().message();
    return *sent;
  }

  FakeCuda cuda;
  std::shared_ptr<const gpu::Device> device;
  gpu::StreamHandle copies = nullptr, compute = nullptr;
  image::LoaderOptions options;
  DeliveryOptions delivery_options;
  std::vector<Destination> workspace;
  std::unique_ptr<image::ImageLoader> loader;
  std::unique_ptr<Delivery> delivery;
};

class DeliveryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < kPictures; ++i) {
      const auto seed = static_cast<std::uint32_t>(i + 1);
      const auto bytes = jpeg::testing::encode({.width = 40 + seed, .height = 60 - seed, .seed = seed});
      const fs::path kind = root_ / (i % 2 == 0 ? "a" : "b");
      fs::create_directories(kind);
      std::ofstream(kind / (std::string(1, static_cast<char>('a' + i)) + ".jpg"), std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  // What the loader gives on the processor.
  std::vector<Destination> expected() const {
    image::LoaderOptions options;
    options.transform.geometry = image::RandomResizedCrop{.size = {16, 12}};
    options.plan.batch_size = kBatch;
    options.plan.shuffle = false;
    options.threads = 1;
    const auto loader = *image::ImageLoader::open(root_.string(), options);
    EXPECT_TRUE(loader->start(0));
    std::vector<Destination> all;
    for (auto batch = *loader->next(); batch; batch = *loader->next()) {
      Destination& one = all.emplace_back();
      std::memcpy(one.images, batch->data(), sizeof(one.images));
      std::ranges::copy(batch->labels(), one.labels);
    }
    return all;
  }
  std::string root() const { return root_.string(); }

 private:
  fs::path root_ = fs::temp_directory_path() / ("fullbore-delivery-" + std::to_string(::getpid()));
};

TEST_F(DeliveryTest, TheConsumersStreamReadsWholeBatchesInAnyOrderThatEventsAllow) {
  const auto wanted = expected();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Fixture f(root(), seed);
    ASSERT_TRUE(f.loader->start(0));
    std::vector<Destination> got(wanted.size());
    std::vector<bool> right(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto sent = f.send(got[i]);
      ASSERT_TRUE(f.delivery->hand_over(*sent, f.compute));
      f.cuda.launch(f.compute, [&, i] { right[i] = got[i] == wanted[i]; });
    }
    f.cuda.run_until_idle();
    EXPECT_EQ(right, std::vector<bool>(wanted.size(), true)) << "seed " << seed;
  }
}

TEST_F(DeliveryTest, ASlotIsNotRefilledBeforeItsCopyRan) {
  const auto wanted = expected();
  Fixture f(root());
  ASSERT_TRUE(f.loader->start(0));
  f.cuda.hold(f.copies);  // as behind a kernel that spins
  std::vector<Destination> got(wanted.size());
  for (std::size_t i = 0; i < Delivery::kMostInFlight; ++i) f.send(got[i]);
  // All other slots are filled meanwhile.
  for (int batch = 0; batch < f.options.depth; ++batch) ASSERT_TRUE(f.loader->wait(std::chrono::seconds(10)));
  std::jthread releaser([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    f.cuda.release(f.copies);
  });
  for (std::size_t i = Delivery::kMostInFlight; i < wanted.size(); ++i) f.send(got[i]);
  ASSERT_TRUE(f.delivery->wait());
  EXPECT_EQ(got, wanted);
}

TEST_F(DeliveryTest, SteadyStateReservesAndSynchronisesNothing) {
  Fixture f(root());
  Destination to;
  const auto one_epoch = [&](std::uint64_t epoch) {
    ASSERT_TRUE(f.loader->start(epoch));
    for (std::size_t i = 0; i < kPictures / kBatch; ++i) {
      const auto sent = f.send(to);
      ASSERT_TRUE(f.delivery->hand_over(*sent, f.compute));
      f.cuda.run_until_idle();
    }
  };
  const std::size_t locked = f.cuda.pinned_bytes();
  f.cuda.clear_calls();
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) one_epoch(epoch);
  EXPECT_EQ(f.cuda.pinned_bytes(), locked);
  EXPECT_EQ(f.cuda.calls("host_alloc") + f.cuda.calls("event_create") + f.cuda.calls("module_load_data"), 0);
  EXPECT_EQ(f.cuda.calls("event_synchronize"), 0);
  EXPECT_EQ(f.cuda.calls("launch_kernel"), 20 * 6);
}

TEST_F(DeliveryTest, TimesAreEmptyUntilTheBatchIsThereAndThenSummed) {
  Fixture f(root());
  ASSERT_TRUE(f.loader->start(0));
  f.cuda.hold(f.copies);
  Destination to;
  const auto sent = f.send(to);
  EXPECT_EQ(sent->ids, (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_FALSE(*f.delivery->times(*sent));
  f.cuda.release(f.copies);
  f.cuda.run_until_idle();
  const auto times = *f.delivery->times(*sent);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->bytes, kBatch * (kPixels * 3 + sizeof(std::int64_t)));
  EXPECT_GT(times->h2d_ms, 0);
  EXPECT_GT(times->finish_ms, 0);
  const auto sums = *f.delivery->sums();
  EXPECT_EQ(sums.batches, 1u);
  EXPECT_EQ(sums.bytes, times->bytes);
}

TEST_F(DeliveryTest, AnotherThreadsGraphCaptureIsNotBroken) {
  Fixture f(root());
  ASSERT_TRUE(f.loader->start(0));
  f.cuda.begin_capture();
  std::vector<Destination> got(kPictures / kBatch);
  for (Destination& to : got) ASSERT_TRUE(f.delivery->hand_over(*f.send(to), f.compute));
  ASSERT_TRUE(f.delivery->wait());
  EXPECT_EQ(f.cuda.capture_breaking_calls(), 0);
  f.cuda.end_capture();
}

TEST_F(DeliveryTest, WithoutAKernelTheDecodedPixelsAreDeliveredWithTheReason) {
  Fixture f(root());
  f.cuda.fail("module_load_data", CUDA_ERROR_INVALID_PTX);
  f.start("ptx");
  EXPECT_THAT(f.delivery->no_kernel(), ::testing::HasSubstr("cannot compile a kernel"));
  ASSERT_TRUE(f.loader->start(0));
  auto batch = *f.loader->next();
  const std::vector<std::byte> decoded(batch->data(), batch->data() + kBatch * kPixels * 3);
  Destination to;
  ASSERT_TRUE(f.delivery->send(std::move(*batch), to.images_address(), to.labels_address()));
  ASSERT_TRUE(f.delivery->wait());
  EXPECT_EQ(std::vector<std::byte>(to.images, to.images + decoded.size()), decoded);
}

TEST_F(DeliveryTest, AfterAFailedLaunchTheSlotsAreFreeAndLaterBatchesRight) {
  const auto wanted = expected();
  Fixture f(root());
  ASSERT_TRUE(f.loader->start(0));
  f.cuda.fail("launch_kernel", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  std::vector<Destination> got(wanted.size());
  for (int i = 0; i < 3; ++i) {
    auto batch = f.loader->next();
    ASSERT_TRUE(batch && *batch);
    const auto sent = f.delivery->send(std::move(**batch), got[0].images_address(), got[0].labels_address());
    ASSERT_FALSE(sent);
    EXPECT_THAT(sent.error().message(), ::testing::HasSubstr("cannot launch a kernel"));
  }
  f.cuda.fail("launch_kernel", CUDA_SUCCESS);
  for (std::size_t i = 3; i < wanted.size(); ++i) f.send(got[i]);
  ASSERT_TRUE(f.delivery->wait());
  EXPECT_TRUE(std::equal(got.begin() + 3, got.end(), wanted.begin() + 3));
}

TEST_F(DeliveryTest, MemoryThatCannotBeLockedIsSaidWhenTheLoaderIsOpened) {
  FakeCuda cuda({.most_pinned_bytes = 3000});
  image::LoaderOptions options;
  options.plan.batch_size = kBatch;
  options.memory = pinned_batches(*gpu::Device::open(cuda.api(), 0), 4);
  const auto loader = image::ImageLoader::open(root(), options);
  ASSERT_FALSE(loader);
  EXPECT_THAT(loader.error().message, ::testing::HasSubstr("smaller depth"));
  EXPECT_EQ(cuda.pinned_bytes(), 0u);
}

TEST_F(DeliveryTest, AForkedChildDropsItWithoutTouchingTheDriver) {
  Fixture f(root());
  ASSERT_TRUE(f.loader->start(0));
  Destination to;
  auto sent = f.send(to);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    sent.reset();
    f.delivery.reset();
    f.loader.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fullbore::feed
