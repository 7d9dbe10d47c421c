// Sends batches of pictures to one device: copy, finish kernel, and events that keep slots and consumers in order. All
// of it is queued by the thread that asks for batches, in some 10 us; nothing here waits for the device in its stride,
// and nothing is allocated there but the few hundred bytes of a handle.
//
//     send:       page-locked slot -> workspace -> kernel -> the caller's memory, all on the copy stream
//     hand over:  the consumer's stream waits for the event behind the kernel
//     slot:       given back to the loader when the event behind the copy is complete
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "feed/delivery/finish_kernel.h"
#include "gpu/event.h"

namespace fullbore::feed {

struct DeliveryOptions {
  image::TransformOptions transform;  // of what is handed out
  image::Size picture;
  std::size_t most_samples = 0;
};

// Milliseconds of the device's own clock.
struct DeliveryTimes {
  std::size_t bytes = 0;
  double h2d_ms = 0;
  double finish_ms = 0;  // of the kernel
};

struct DeliverySums : DeliveryTimes {
  std::uint64_t batches = 0;  // whose times are known
};

// A batch on its way, or there. What is known of it on the host; its slot may be in use again.
class Delivered {
 public:
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> replaced;
  image::BatchTimes host_times;

 private:
  friend class Delivery;
  struct Flight;
  Flight* flight_ = nullptr;  // null once it has arrived
  std::optional<DeliveryTimes> times_;
};

// Thread-safe. One per loader and device. `stream` belongs to the caller and outlives it.
class Delivery {
 public:
  // Batches whose slots may be held at a time, beside those that the loader makes ahead.
  static constexpr std::size_t kMostInFlight = 2;

  // Bytes of device memory: 8-bit pixels of one batch, and the table behind them.
  static std::size_t workspace_bytes(const DeliveryOptions& options);
  // `workspace` stays and is used on `stream` alone, so one is enough; it begins on a 256-byte boundary. Where the
  // kernel cannot be had 8-bit pixels are delivered as decoding gives them, and no_kernel() has the reason.
  static base::Expected<std::unique_ptr<Delivery>> start(const std::shared_ptr<const gpu::Device>& device,
                                                         gpu::StreamHandle stream, const DeliveryOptions& options,
                                                         const char* ptx, gpu::DeviceAddress workspace);
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;
  // After all that is under way. In a forked child it leaves everything as it is.
  ~Delivery();

  // Why 8-bit pixels are delivered where others were asked for; empty if all is as asked.
  const std::string& no_kernel() const { return no_kernel_; }

  // Queues a batch. `images` and `labels` have room for it, and are freed in the order of the copy stream. Waits only
  // while kMostInFlight copies are not complete.
  base::Expected<std::shared_ptr<Delivered>> send(image::Batch batch, gpu::DeviceAddress images,
                                                  gpu::DeviceAddress labels);
  // What `consumer` is given from now on runs after the batch is there. Never blocks.
  base::Expected<void> hand_over(const Delivered& delivered, gpu::StreamHandle consumer);
  // Empty until it is there; never blocks.
  base::Expected<std::optional<DeliveryTimes>> times(const Delivered& delivered);
  base::Expected<DeliverySums> sums();
  // Blocks until all that was sent is there.
  base::Expected<void> wait();

 private:
  using Flight = Delivered::Flight;
  Delivery(std::shared_ptr<const gpu::Device> device, gpu::StreamHandle stream, const DeliveryOptions& options,
           gpu::DeviceAddress workspace);

  base::Expected<void> make_flights();
  base::Expected<void> queue(Flight& flight, gpu::DeviceAddress images, gpu::DeviceAddress labels);
  base::Expected<void> settle(std::size_t most);
  base::Expected<bool> land(Flight& flight, bool wait);

  std::shared_ptr<const gpu::Device> device_;
  gpu::StreamHandle stream_;
  const DeliveryOptions options_;
  gpu::DeviceAddress workspace_;
  std::optional<FinishKernel> kernel_;
  std::string no_kernel_;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Flight>> flights_;
  std::vector<Flight*> spare_;
  std::deque<Flight*> under_way_;  // in the order of their sending
  DeliverySums sums_;
};

}  // namespace fullbore::feed
