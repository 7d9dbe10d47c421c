// In the place of ceilings.cc where the build has no CUDA headers.
#include "gpu/ceilings.h"

namespace fullbore::gpu {

base::Expected<std::vector<DeviceCeilings>> measure_all_ceilings(const CudaApi&, std::size_t) {
  return base::fail("this build of fullbore knows no CUDA (FULLBORE_GPU=none)");
}

}  // namespace fullbore::gpu
