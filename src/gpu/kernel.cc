#include "gpu/kernel.h"

#include <array>

#include "gpu/cuda_api.h"

namespace fullbore::gpu {
namespace {

// What the driver's compiler has to say: "cannot WHAT: CUDA_ERROR_NAME (sentence); LOG".
base::Error with_log(const CudaApi& api, CUresult result, const std::string& log) {
  base::Error error = cuda_error(api, result, "compile a kernel for this GPU");
  return log.empty() ? error : base::Error(error.message() + "; " + log);
}

}  // namespace

base::Expected<Kernel> Kernel::load(const std::shared_ptr<const Device>& device, const char* ptx, const char* name) {
  const CudaApi& api = device->api();
  const ContextScope scope(*device);
  std::array<char, 1024> log{};
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule module = nullptr;
  const CUresult loaded = api.module_load_data(&module, ptx, options.size(), options.data(), values.data());
  if (loaded != CUDA_SUCCESS) return std::unexpected(with_log(api, loaded, log.data()));
  Kernel kernel(device, module, nullptr);
  const CUresult found = api.module_get_function(&kernel.function_, module, name);
  if (auto ok = check(api, found, "find a kernel in its module"); !ok) return std::unexpected(ok.error());
  return kernel;
}

Kernel& Kernel::operator=(Kernel&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(module_, other.module_);
  std::swap(function_, other.function_);
  return *this;
}

Kernel::~Kernel() {
  if (module_ == nullptr || device_->forked()) return;
  const ContextScope scope(*device_);
  device_->api().module_unload(module_);
}

base::Expected<void> Kernel::launch(StreamHandle stream, unsigned blocks, unsigned threads, void** arguments) const {
  const CudaApi& api = device_->api();
  const CUresult result = api.launch_kernel(function_, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr);
  return check(api, result, "launch a kernel");
}

}  // namespace fullbore::gpu
