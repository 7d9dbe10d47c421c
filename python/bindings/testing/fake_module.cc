// The bindings over the fake driver, for the tests of the Python classes on machines without a GPU. Beside the bound
// engine it has what a test does to the fake, and kernels that read and write "device" memory when their stream gets
// there.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <vector>

#include "bindings.h"
#include "gpu/kernels/finish_ptx.h"
#include "gpu/testing/fake_cuda.h"
#include "gpu/testing/finish_on_host.h"

namespace nb = nanobind;

namespace {

using fullbore::gpu::StreamHandle;
using fullbore::gpu::testing::FakeCuda;

// All that there ever were: an engine of an earlier test may be collected late, and its table must still be there.
std::vector<std::unique_ptr<FakeCuda>> fakes;
FakeCuda* fake = nullptr;
std::vector<std::uint64_t> results;  // of the kernels since the last reset; read after run_until_idle()

fullbore::base::Expected<const fullbore::gpu::CudaApi*> driver() {
  if (fake == nullptr) return fullbore::base::fail("reset() the fake first");
  return &fake->api();
}

StreamHandle stream_of(std::uintptr_t handle) {
  return reinterpret_cast<StreamHandle>(handle);
}

std::uint64_t sum_of(std::uintptr_t address, std::size_t bytes) {
  std::uint64_t hash = 1469598103934665603u;
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ reinterpret_cast<const unsigned char*>(address)[i]) * 1099511628211u;
  return hash;
}

std::size_t launch_sum(std::uintptr_t stream, std::uintptr_t address, std::size_t bytes) {
  const std::size_t index = results.size();
  results.push_back(0);
  fake->launch(stream_of(stream), [=] { results[index] = sum_of(address, bytes); });
  return index;
}

}  // namespace

NB_MODULE(_fullbore_fake, module) {
  nanobind::set_leak_warnings(false);  // a daemon thread may still hold a transfer when the interpreter ends
  fullbore::bindings::bind_image_loader(module);
  fullbore::bindings::bind_limits(module);
  fullbore::bindings::bind_delivery(module, driver);
  fullbore::bindings::bind_transfer(module, driver);
  module.def(
      "reset",
      [](std::uint64_t seed, int devices, std::size_t most_pinned_bytes) {
        results.clear();
        results.reserve(1 << 16);
        const fullbore::gpu::testing::FakeCudaOptions options{seed, devices, most_pinned_bytes};
        fake = fakes.emplace_back(std::make_unique<FakeCuda>(options)).get();
        fake->add_kernel(fullbore::gpu::kFinishName, fullbore::gpu::testing::finish_on_host());
      },
      nb::arg("seed") = 1, nb::arg("devices") = 2, nb::arg("most_pinned_bytes") = std::size_t{1} << 30);
  module.attr("has_kernels") = *fullbore::gpu::kFinishPtx != 0;
  module.def("make_stream", [] { return reinterpret_cast<std::uintptr_t>(fake->make_stream()); });
  module.def("hold", [](std::uintptr_t stream) { fake->hold(stream_of(stream)); });
  module.def("release", [](std::uintptr_t stream) { fake->release(stream_of(stream)); });
  module.def("run_until_idle", [] { fake->run_until_idle(); }, nb::call_guard<nb::gil_scoped_release>());
  module.def("idle", [](std::uintptr_t stream) { return fake->idle(stream_of(stream)); });
  module.def("fail", [](const std::string& function, int result, int after) {
    fake->fail(function, static_cast<CUresult>(result), after);
  });
  module.def(
      "calls", [](const std::string& function, bool own_thread) { return fake->calls(function, own_thread); },
      nb::arg("function"), nb::arg("own_thread") = false);
  module.def("clear_calls", [] { fake->clear_calls(); });
  module.def("pinned_bytes", [] { return fake->pinned_bytes(); });
  module.def("begin_capture", [] { fake->begin_capture(); });
  module.def("end_capture", [] { fake->end_capture(); });
  module.def("capture_breaking_calls", [] { return fake->capture_breaking_calls(); });
  module.def("sum_of", &sum_of, "The sum of host memory, to compare with a kernel's.");
  module.def("launch_sum", &launch_sum,
             "Queues a kernel that sums device memory; result(index) after run_until_idle().");
  module.def("launch_marker", [](std::uintptr_t stream) {
    results.push_back(0);
    fake->launch(stream_of(stream), [index = results.size() - 1] { results[index] = 1; });
    return results.size() - 1;
  });
  module.def("result", [](std::size_t index) { return results.at(index); });
}
