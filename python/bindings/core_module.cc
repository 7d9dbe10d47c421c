// fullbore._core: the C++ parts that Python classes are built on.
#include "bindings.h"
#include "version.h"

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // a daemon thread may still hold a transfer when the interpreter ends
  module.attr("__version__") = fullbore::kVersion;
  fullbore::bindings::bind_jpeg(module);
  fullbore::bindings::bind_limits(module);
  fullbore::bindings::bind_image_loader(module);
  fullbore::bindings::bind_delivery(module, fullbore::gpu::load_cuda);
  fullbore::bindings::bind_transfer(module, fullbore::gpu::load_cuda);
}
