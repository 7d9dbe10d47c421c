#include "gpu/kernel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "gpu/kernels/finish_ptx.h"
#include "gpu/testing/fake_cuda.h"

namespace fullbore::gpu {
namespace {

using testing::FakeCuda;

// Writes its second argument through its first.
testing::HostKernel store() {
  const auto run = [](unsigned, unsigned, void* const* arguments) {
    int* to = nullptr;
    std::memcpy(&to, arguments[0], sizeof(to));
    std::memcpy(to, arguments[1], sizeof(*to));
  };
  return {{sizeof(int*), sizeof(int)}, run};
}

TEST(Kernel, ItRunsInTheOrderOfItsStreamWithTheArgumentsOfTheCall) {
  FakeCuda cuda;
  cuda.add_kernel("store", store());
  const auto device = *Device::open(cuda.api(), 0);
  const StreamHandle stream = cuda.make_stream();
  const auto kernel = *Kernel::load(device, "", "store");
  int result = 0, value = 7;
  int* to = &result;
  void* arguments[] = {&to, &value};
  cuda.hold(stream);
  ASSERT_TRUE(kernel.launch(stream, 1, 1, arguments));
  value = 8;
  cuda.run_until_idle();
  EXPECT_EQ(result, 0);
  cuda.release(stream);
  cuda.run_until_idle();
  EXPECT_EQ(result, 7);
}

TEST(Kernel, ADriverThatRefusesItIsQuoted) {
  FakeCuda cuda;
  cuda.fail("module_load_data", CUDA_ERROR_INVALID_PTX);
  const auto kernel = Kernel::load(*Device::open(cuda.api(), 0), "", "store");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message(), "cannot compile a kernel for this GPU: CUDA_ERROR_FAKE (as the test asked)");
}

TEST(Kernel, ItsModuleIsGivenBackAlsoWhereItHasNoSuchKernel) {
  FakeCuda cuda;
  const auto device = *Device::open(cuda.api(), 0);
  EXPECT_FALSE(Kernel::load(device, "", "store"));
  cuda.add_kernel("store", store());
  EXPECT_TRUE(Kernel::load(device, "", "store"));
  EXPECT_EQ(cuda.calls("module_load_data"), 2);
  EXPECT_EQ(cuda.calls("module_unload"), 2);
}

// A newer version would be refused by drivers that are still in use; local memory would mean that the values of a
// thread are not in registers.
TEST(FinishPtx, ItIsForOldDriversAndKeepsItsValuesInRegisters) {
  const std::string ptx = kFinishPtx;
  if (ptx.empty()) GTEST_SKIP() << "built without clang";
  EXPECT_NE(ptx.find(".version 6.3"), std::string::npos);
  EXPECT_NE(ptx.find(".target sm_70"), std::string::npos);
  EXPECT_NE(ptx.find(std::string(".entry ") + kFinishName), std::string::npos);
  EXPECT_EQ(ptx.find(".local"), std::string::npos);
}

}  // namespace
}  // namespace fullbore::gpu
