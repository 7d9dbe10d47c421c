#include "gpu/cuda_api.h"

namespace fullbore::gpu {

base::Error cuda_error(const CudaApi& api, CUresult result, const std::string& what) {
  const char* name = nullptr;
  const char* sentence = nullptr;
  if (api.get_error_name != nullptr) api.get_error_name(result, &name);
  if (api.get_error_string != nullptr) api.get_error_string(result, &sentence);
  std::string message = "cannot " + what + ": ";
  message += name != nullptr ? name : "CUDA error " + std::to_string(static_cast<int>(result));
  if (sentence != nullptr) message += std::string(" (") + sentence + ")";
  return base::Error(std::move(message));
}

base::Expected<void> check(const CudaApi& api, CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return {};
  return std::unexpected(cuda_error(api, result, what));
}

}  // namespace fullbore::gpu
