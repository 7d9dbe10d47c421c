// src/feed/transfer/transfer_engine.h for Python. Everything that may wait gives the GIL back meanwhile.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "feed/transfer/transfer_engine.h"

namespace nb = nanobind;

namespace fullbore::bindings {
namespace {

using feed::Transfer;
using feed::TransferEngine;
using feed::TransferTimes;
using Requests = std::vector<std::tuple<std::uintptr_t, std::uintptr_t, std::size_t, std::uint32_t>>;

gpu::StreamHandle stream_of(std::uintptr_t handle) {
  return reinterpret_cast<gpu::StreamHandle>(handle);
}

// What Python holds: the engine's device beside it, so that the order of destruction is right whatever the collector
// does.
struct Engine {
  std::shared_ptr<const gpu::Device> device;
  std::shared_ptr<TransferEngine> engine;
};

// A transfer that is given back when Python drops it. Waits for copies under way, so sources outlive it.
class Ticket {
 public:
  Ticket(std::shared_ptr<TransferEngine> engine, Transfer* transfer)
      : engine_(std::move(engine)), transfer_(transfer) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() {
    const nb::gil_scoped_release waiting;
    release();
  }

  TransferEngine& engine() const { return *engine_; }
  Transfer& transfer() const {
    if (transfer_ == nullptr) throw std::runtime_error("the transfer was released");
    return *transfer_;
  }
  void wait_for_sources() {
    if (transfer_ != nullptr) value_or_throw(engine_->wait_for_sources(*transfer_));
  }
  void release() {
    if (transfer_ != nullptr) engine_->release(std::exchange(transfer_, nullptr));
  }

 private:
  std::shared_ptr<TransferEngine> engine_;
  Transfer* transfer_;
};

std::unique_ptr<Ticket> submit(Engine& self, const Requests& given) {
  std::vector<feed::CopyRequest> requests;
  requests.reserve(given.size());
  for (const auto& [source, destination, bytes, pack] : given)
    requests.push_back({reinterpret_cast<const std::byte*>(source), destination, bytes, pack});
  return std::make_unique<Ticket>(self.engine, value_or_throw(self.engine->submit(requests)));
}

using Driver = base::Expected<const gpu::CudaApi*> (*)();

Engine open_engine(Driver driver, int device, std::uintptr_t stream, std::size_t slot_bytes, int slots, int threads) {
  auto opened = value_or_throw(gpu::Device::open(*value_or_throw(driver()), device));
  const feed::TransferOptions options{.slot_bytes = slot_bytes, .slots = slots, .threads = threads};
  std::unique_ptr<TransferEngine> engine = value_or_throw(TransferEngine::start(opened, stream_of(stream), options));
  // Its end waits for copies under way. Python objects drop it, so the GIL is held.
  const auto end = [](TransferEngine* ended) {
    const nb::gil_scoped_release waiting;
    delete ended;
  };
  return {std::move(opened), std::shared_ptr<TransferEngine>(engine.release(), end)};
}

void bind_times(nb::module_& module) {
  nb::class_<TransferTimes>(module, "TransferTimes", "What one batch took; milliseconds and bytes.")
      .def_ro("bytes", &TransferTimes::bytes)
      .def_ro("pageable_bytes", &TransferTimes::pageable_bytes)
      .def_ro("stage_ms", &TransferTimes::stage_ms)
      .def_ro("slot_wait_ms", &TransferTimes::slot_wait_ms)
      .def_ro("queue_ms", &TransferTimes::queue_ms)
      .def_ro("h2d_ms", &TransferTimes::h2d_ms);
}

void bind_ticket(nb::module_& module) {
  using Wait = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Ticket>(module, "Transfer", "One batch on its way to the device.")
      .def(
          "hand_over",
          [](Ticket& self, std::uintptr_t stream) {
            value_or_throw(self.engine().hand_over(self.transfer(), stream_of(stream)));
          },
          nb::arg("stream"), Wait(),
          "Makes what `stream` is given from now on run after the copies. Raises RuntimeError with a copy's error.")
      .def("wait_for_sources", &Ticket::wait_for_sources, Wait(), "Blocks until the sources are not read any more.")
      .def(
          "wait", [](Ticket& self) { value_or_throw(self.engine().wait(self.transfer())); }, Wait(),
          "Blocks until all copies are complete.")
      .def(
          "done", [](Ticket& self) { return value_or_throw(self.engine().done(self.transfer())); },
          "Whether all copies are complete; never blocks.")
      .def(
          "times", [](Ticket& self) { return value_or_throw(self.engine().times(self.transfer())); },
          "TransferTimes, or None until all copies are complete.")
      .def("release", &Ticket::release, Wait(),
           "Gives the transfer back: drops copies that were not begun, waits for those under way.");
}

}  // namespace

void bind_transfer(nb::module_& module, Driver driver) {
  bind_times(module);
  bind_ticket(module);
  nb::class_<Engine>(module, "TransferEngine", "Copies batches to one device on a stream of their own.")
      .def(
          "__init__",
          [driver](Engine* self, int device, std::uintptr_t stream, std::size_t slot_bytes, int slots, int threads) {
            new (self) Engine(open_engine(driver, device, stream, slot_bytes, slots, threads));
          },
          nb::arg("device"), nb::arg("stream"), nb::kw_only(), nb::arg("slot_bytes"), nb::arg("slots"),
          nb::arg("threads"), nb::call_guard<nb::gil_scoped_release>(),
          "Reserves slots * slot_bytes of page-locked memory and starts the threads. `stream` is a CUstream as int.")
      .def("submit", &submit, nb::arg("copies"),
           "Queues copies (source, destination, bytes, pack) and returns at once.")
      .def(
          "enter_thread", [](Engine& self) { value_or_throw(self.device->enter_thread()); },
          "Lets this thread's CUDA calls pass while another thread captures a graph.")
      .def_prop_ro("slots", [](const Engine& self) { return self.engine->slots(); })
      .def_prop_ro(
          "shortfall", [](const Engine& self) { return self.engine->shortfall(); },
          "Why there are fewer slots than asked for, or an empty string.");
}

}  // namespace fullbore::bindings
