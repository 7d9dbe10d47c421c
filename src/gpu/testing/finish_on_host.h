// The finish kernel for the fake driver: the same C, compiled for the processor.
#pragma once

#include "gpu/testing/fake_cuda.h"

namespace fullbore::gpu::testing {

HostKernel finish_on_host();

}  // namespace fullbore::gpu::testing
