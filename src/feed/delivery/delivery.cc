#include "feed/delivery/delivery.h"

#include "feed/image/finish.h"
#include "gpu/pinned_buffer.h"

namespace fullbore::feed {

using base::Expected;

// The events of one batch under way, used again for another.
struct Delivered::Flight {
  gpu::Event begin, copied, end;
  std::optional<image::Batch> batch;  // whose slot the copy reads
  std::size_t bytes = 0;
  std::shared_ptr<Delivered> delivered;
};

namespace {

// Device addresses of the table must not share a word with the pixels before it.
constexpr std::size_t kAlignment = 256;

std::size_t pixels_of(const DeliveryOptions& options) {
  return std::size_t{options.picture.width} * options.picture.height;
}

std::size_t table_offset(const DeliveryOptions& options) {
  const std::size_t bytes = options.most_samples * pixels_of(options) * 3;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::size_t Delivery::workspace_bytes(const DeliveryOptions& options) {
  return FinishKernel::is_needed(options.transform) ? table_offset(options) + sizeof(FinishTable) : 0;
}

Delivery::Delivery(std::shared_ptr<const gpu::Device> device, gpu::StreamHandle stream, const DeliveryOptions& options,
                   gpu::DeviceAddress workspace)
    : device_(std::move(device)), stream_(stream), options_(options), workspace_(workspace) {}

Expected<std::unique_ptr<Delivery>> Delivery::start(const std::shared_ptr<const gpu::Device>& device,
                                                    gpu::StreamHandle stream, const DeliveryOptions& options,
                                                    const char* ptx, gpu::DeviceAddress workspace) {
  for (const float std : options.transform.normalise.std) {
    if (!(std > 0)) return base::fail("a std of " + std::to_string(std) + "; it must be positive");
  }
  std::unique_ptr<Delivery> delivery(new Delivery(device, stream, options, workspace));
  if (FinishKernel::is_needed(options.transform)) {
    auto kernel = FinishKernel::load(device, ptx, options.transform, workspace + table_offset(options), stream);
    if (kernel) {
      delivery->kernel_ = std::move(*kernel);
    } else {
      delivery->no_kernel_ = kernel.error().message();
    }
  }
  if (auto made = delivery->make_flights(); !made) return std::unexpected(made.error());
  return delivery;
}

Expected<void> Delivery::make_flights() {
  for (std::size_t i = 0; i < kMostInFlight; ++i) {
    auto begin = gpu::Event::create(device_, gpu::EventUse::kTiming);
    auto copied = gpu::Event::create(device_, gpu::EventUse::kTiming);
    auto end = gpu::Event::create(device_, gpu::EventUse::kTiming);
    for (const auto* event : {&begin, &copied, &end}) {
      if (!*event) return std::unexpected(event->error());
    }
    flights_.emplace_back(new Flight{std::move(*begin), std::move(*copied), std::move(*end), {}, 0, {}});
    spare_.push_back(flights_.back().get());
  }
  return {};
}

Delivery::~Delivery() {
  if (device_->forked()) return;
  static_cast<void>(wait());
}

Expected<std::shared_ptr<Delivered>> Delivery::send(image::Batch batch, gpu::DeviceAddress images,
                                                    gpu::DeviceAddress labels) {
  if (device_->forked()) return base::fail("CUDA does not work in a forked child; make the loader in the child");
  const gpu::ContextScope scope(*device_);
  const std::lock_guard lock(mutex_);
  if (auto settled = settle(kMostInFlight - 1); !settled) return std::unexpected(settled.error());
  auto delivered = std::make_shared<Delivered>();
  delivered->ids.assign(batch.ids().begin(), batch.ids().end());
  delivered->replaced.assign(batch.replaced().begin(), batch.replaced().end());
  delivered->host_times = batch.times();
  Flight& flight = *spare_.back();
  spare_.pop_back();
  flight.batch = std::move(batch);
  flight.delivered = delivered;
  delivered->flight_ = &flight;
  under_way_.push_back(&flight);
  if (auto queued = queue(flight, images, labels); !queued) {
    // Some of it may have been queued: the slot and the memory must stay until that ran.
    if (flight.end.record(stream_)) static_cast<void>(flight.end.wait());
    under_way_.pop_back();
    flight.batch.reset();
    flight.delivered.reset();
    delivered->flight_ = nullptr;
    spare_.push_back(&flight);
    return std::unexpected(queued.error());
  }
  return delivered;
}

Expected<void> Delivery::queue(Flight& flight, gpu::DeviceAddress images, gpu::DeviceAddress labels) {
  const image::Batch& batch = *flight.batch;
  const std::size_t pixel_bytes = batch.samples() * pixels_of(options_) * 3;
  const auto label_bytes = std::as_bytes(batch.labels());
  flight.bytes = pixel_bytes + label_bytes.size();
  const gpu::DeviceAddress decoded = kernel_ ? workspace_ : images;
  if (auto ok = flight.begin.record(stream_); !ok) return ok;
  if (auto ok = gpu::copy_to_device(*device_, decoded, batch.data(), pixel_bytes, stream_); !ok) return ok;
  if (auto ok = gpu::copy_to_device(*device_, labels, label_bytes.data(), label_bytes.size(), stream_); !ok) return ok;
  if (auto ok = flight.copied.record(stream_); !ok) return ok;
  if (kernel_) {
    auto launched = kernel_->launch(decoded, images, batch.samples(), pixels_of(options_), stream_);
    if (!launched) return launched;
  }
  return flight.end.record(stream_);
}

Expected<void> Delivery::hand_over(const Delivered& delivered, gpu::StreamHandle consumer) {
  const gpu::ContextScope scope(*device_);  // the default stream is that of the current context
  const std::lock_guard lock(mutex_);
  return delivered.flight_ == nullptr ? Expected<void>() : delivered.flight_->end.make_wait(consumer);
}

// Gives slots back whose copies are complete, and waits until at most `most` batches are under way.
Expected<void> Delivery::settle(std::size_t most) {
  while (!under_way_.empty()) {
    auto landed = land(*under_way_.front(), under_way_.size() > most);
    if (!landed) return std::unexpected(landed.error());
    if (!*landed) break;
    under_way_.pop_front();
  }
  for (Flight* flight : under_way_) {
    if (auto copied = flight->copied.done(); flight->batch && copied && *copied) flight->batch.reset();
  }
  return {};
}

Expected<bool> Delivery::land(Flight& flight, bool wait) {
  auto done = flight.end.done();
  if (done && !*done && wait) {
    if (auto waited = flight.end.wait(); !waited) return std::unexpected(waited.error());
    done = true;
  }
  if (!done || !*done) return done;
  const auto h2d = gpu::Event::elapsed_ms(flight.begin, flight.copied);
  const auto finish = gpu::Event::elapsed_ms(flight.copied, flight.end);
  if (!h2d || !finish) return std::unexpected(h2d ? finish.error() : h2d.error());
  flight.delivered->times_ = DeliveryTimes{flight.bytes, *h2d, *finish};
  ++sums_.batches;
  sums_.bytes += flight.bytes;
  sums_.h2d_ms += *h2d;
  sums_.finish_ms += *finish;
  flight.delivered->flight_ = nullptr;
  flight.delivered.reset();
  flight.batch.reset();
  spare_.push_back(&flight);
  return true;
}

Expected<std::optional<DeliveryTimes>> Delivery::times(const Delivered& delivered) {
  const gpu::ContextScope scope(*device_);
  const std::lock_guard lock(mutex_);
  if (delivered.flight_ != nullptr) {
    if (auto settled = settle(kMostInFlight); !settled) return std::unexpected(settled.error());
  }
  return delivered.times_;
}

Expected<DeliverySums> Delivery::sums() {
  const gpu::ContextScope scope(*device_);
  const std::lock_guard lock(mutex_);
  if (auto settled = settle(kMostInFlight); !settled) return std::unexpected(settled.error());
  return sums_;
}

Expected<void> Delivery::wait() {
  const gpu::ContextScope scope(*device_);
  const std::lock_guard lock(mutex_);
  return settle(0);
}

}  // namespace fullbore::feed
