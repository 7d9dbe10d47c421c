// src/observe/limits.h for Python.
#include "observe/limits.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace nb = nanobind;

namespace fullbore::bindings {

void bind_limits(nb::module_& module) {
  using observe::UsableLimits;
  nb::class_<UsableLimits>(module, "UsableLimits",
                           "What this process may use of its machine; None: not known or not set.")
      .def_ro("usable_cores", &UsableLimits::usable_cores)
      .def_ro("quota_cores", &UsableLimits::quota_cores)
      .def_ro("affinity_cores", &UsableLimits::affinity_cores)
      .def_ro("shm_free", &UsableLimits::shm_free)
      .def_ro("memory_available", &UsableLimits::memory_available)
      .def_ro("why", &UsableLimits::why);
  module.def(
      "read_limits", [] { return observe::read_limits(base::RealFiles(), 0); },
      nb::call_guard<nb::gil_scoped_release>(), "Reads affinity, control groups, /dev/shm and memory of this process.");
}

}  // namespace fullbore::bindings
