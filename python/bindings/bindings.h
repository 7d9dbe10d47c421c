// One function per public header; the modules below call them. No logic here: what is decided is decided in src/.
#pragma once

#include <nanobind/nanobind.h>

#include "gpu/cuda_driver.h"

namespace fullbore::bindings {

void bind_jpeg(nanobind::module_& module);
void bind_limits(nanobind::module_& module);
void bind_image_loader(nanobind::module_& module);
// `driver` gives the table of the CUDA driver, or the reason why there is none.
void bind_delivery(nanobind::module_& module, base::Expected<const gpu::CudaApi*> (*driver)());
void bind_transfer(nanobind::module_& module, base::Expected<const gpu::CudaApi*> (*driver)());

// The value, or RuntimeError with the error's message.
template <typename T>
T value_or_throw(base::Expected<T> expected) {
  if (!expected) throw std::runtime_error(expected.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*expected);
}

}  // namespace fullbore::bindings
