// In the place of cuda_api.cc where the build has no CUDA headers.
#include "gpu/cuda_driver.h"

namespace fullbore::gpu {

base::Expected<const CudaApi*> load_cuda() {
  return base::fail("this build of fullbore knows no CUDA (FULLBORE_GPU=none); build it with -DFULLBORE_GPU=cuda");
}

}  // namespace fullbore::gpu
