// fullbore._core: the C++ parts that Python classes are built on.
#include "bindings.h"

NB_MODULE(_core, module) {
  fullbore::bindings::bind_transfer(module, fullbore::gpu::load_cuda);
}
