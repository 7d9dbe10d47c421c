// src/feed/delivery for Python: batches of the image loader to a device. What may wait gives the GIL back meanwhile.
#include "feed/delivery/delivery.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "feed/delivery/pinned_batches.h"
#include "gpu/kernels/finish_ptx.h"
#include "image_batches.h"

namespace nb = nanobind;

namespace fullbore::bindings {
namespace {

using feed::Delivered;
using feed::Delivery;
using feed::DeliveryOptions;
using feed::DeliverySums;
using feed::DeliveryTimes;

using Driver = base::Expected<const gpu::CudaApi*> (*)();

gpu::StreamHandle stream_of(std::uintptr_t handle) {
  return reinterpret_cast<gpu::StreamHandle>(handle);
}

std::shared_ptr<const gpu::Device> open_device(Driver driver, int device) {
  return value_or_throw(gpu::Device::open(*value_or_throw(driver()), device));
}

// Its end waits for batches under way. Python objects drop it, so the GIL is held.
std::shared_ptr<Delivery> shared(std::unique_ptr<Delivery> delivery) {
  const auto end = [](Delivery* ended) {
    const nb::gil_scoped_release waiting;
    delete ended;
  };
  return {delivery.release(), end};
}

struct DeliveryHandle {
  std::shared_ptr<Delivery> delivery;
};

// Keeps what knows its times.
struct DeliveredBatch {
  std::shared_ptr<Delivery> delivery;
  std::shared_ptr<Delivered> delivered;
};

// What a batch took on both sides; of the device's only once it is there.
struct DeliveredTimes : image::BatchTimes {
  std::optional<DeliveryTimes> device;
};

DeliveredTimes times_of(const DeliveredBatch& self) {
  return {self.delivered->host_times, value_or_throw(self.delivery->times(*self.delivered))};
}

template <typename T>
auto device_time(T DeliveryTimes::* member) {
  return [member](const DeliveredTimes& self) {
    return self.device ? std::optional<T>((*self.device).*member) : std::nullopt;
  };
}

void bind_delivered(nb::module_& module) {
  using Wait = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<DeliveredTimes>(
      module, "ImageDeliveredTimes",
      "What one batch took, in milliseconds: ImageBatchTimes, and by the device's clock h2d_ms and device_finish_ms, "
      "None until the batch is there.")
      .def_ro("read_ms", &DeliveredTimes::read_ms)
      .def_ro("decode_ms", &DeliveredTimes::decode_ms)
      .def_ro("finish_ms", &DeliveredTimes::finish_ms)
      .def_ro("make_ms", &DeliveredTimes::make_ms)
      .def_ro("slot_wait_ms", &DeliveredTimes::slot_wait_ms)
      .def_ro("queue_ms", &DeliveredTimes::queue_ms)
      .def_ro("wait_ms", &DeliveredTimes::wait_ms)
      .def_prop_ro("bytes", device_time(&DeliveryTimes::bytes))
      .def_prop_ro("h2d_ms", device_time(&DeliveryTimes::h2d_ms))
      .def_prop_ro("device_finish_ms", device_time(&DeliveryTimes::finish_ms));
  nb::class_<DeliveredBatch>(module, "ImageDelivered", "One batch on its way to the device, or there.")
      .def(
          "hand_over",
          [](const DeliveredBatch& self, std::uintptr_t stream) {
            value_or_throw(self.delivery->hand_over(*self.delivered, stream_of(stream)));
          },
          nb::arg("stream"), Wait(), "Makes what `stream` is given from now on run after the batch is there.")
      .def_prop_ro("ids", [](const DeliveredBatch& self) { return self.delivered->ids; })
      .def_prop_ro("replaced", [](const DeliveredBatch& self) { return self.delivered->replaced; })
      .def_prop_ro("times", &times_of);
}

}  // namespace

void bind_delivery(nb::module_& module, Driver driver) {
  using Wait = nb::call_guard<nb::gil_scoped_release>;
  bind_delivered(module);
  nb::class_<DeliverySums>(module, "ImageDeliverySums", "Sums over the batches that are there.")
      .def_ro("batches", &DeliverySums::batches)
      .def_ro("bytes", &DeliverySums::bytes)
      .def_ro("h2d_ms", &DeliverySums::h2d_ms)
      .def_ro("finish_ms", &DeliverySums::finish_ms);
  nb::class_<DeliveryOptions>(module, "ImageDeliveryOptions", "Of what is delivered.")
      .def(
          "__init__",
          [](DeliveryOptions* self, const image::LoaderOptions& options, const Loader& loader) {
            new (self) DeliveryOptions{options.transform, loader.loader->picture_size(), options.plan.batch_size};
          },
          nb::arg("options"), nb::arg("loader"),
          "Type, layout, normalisation and batch size are those of `options`; `loader` gives the pixels.")
      .def_prop_ro(
          "picture",
          [](const DeliveryOptions& self) { return nb::make_tuple(self.picture.height, self.picture.width); },
          "(height, width) in pixels.")
      .def_prop_ro("workspace_bytes", &Delivery::workspace_bytes);
  nb::class_<DeliveryHandle>(module, "ImageDelivery", "Sends batches to one device and finishes them there.")
      .def(
          "__init__",
          [driver](DeliveryHandle* self, int device, std::uintptr_t stream, const DeliveryOptions& options,
                   std::uintptr_t workspace) {
            new (self) DeliveryHandle{shared(value_or_throw(
                Delivery::start(open_device(driver, device), stream_of(stream), options, gpu::kFinishPtx, workspace)))};
          },
          nb::arg("device"), nb::arg("stream"), nb::arg("options"), nb::arg("workspace"), Wait(),
          "`stream` is a CUstream as int, `workspace` the address of device memory that stays.")
      .def_prop_ro(
          "no_kernel", [](const DeliveryHandle& self) { return self.delivery->no_kernel(); },
          "Why decoded pixels are delivered where others were asked for, or an empty string.")
      .def(
          "send",
          [](const DeliveryHandle& self, const LoadedBatch& batch, std::uintptr_t images, std::uintptr_t labels) {
            return DeliveredBatch{self.delivery, value_or_throw(self.delivery->send(batch.batch, images, labels))};
          },
          nb::arg("batch"), nb::arg("images"), nb::arg("labels"), Wait(),
          "Queues the copies to these addresses, and what finishes them, and returns at once.")
      .def("sums", [](const DeliveryHandle& self) { return value_or_throw(self.delivery->sums()); })
      .def(
          "wait", [](const DeliveryHandle& self) { value_or_throw(self.delivery->wait()); }, Wait(),
          "Blocks until all that was sent is there.");
  module.def(
      "use_pinned_memory",
      [driver](image::LoaderOptions& options, int device) {
        const auto ahead = static_cast<std::size_t>(std::max(options.depth, 1));
        options.memory = feed::pinned_batches(open_device(driver, device), ahead + Delivery::kMostInFlight);
      },
      nb::arg("options"), nb::arg("device"), "Batches of a loader with these options will lie in page-locked memory.");
}

}  // namespace fullbore::bindings
