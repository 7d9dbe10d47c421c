#include "gpu/ceilings.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <span>

#include "gpu/cuda_api.h"
#include "gpu/device_buffer.h"
#include "gpu/event.h"
#include "gpu/pinned_buffer.h"
#include "gpu/stream.h"

namespace fullbore::gpu {
namespace {

using base::Expected;

// Parts of the largest size: a machine may do best below it.
constexpr std::size_t kParts[] = {16, 4, 1};
// The middle one of so many: the first copies of a stream are slow, and a machine has its moments.
constexpr int kCopies = 9;

using Copy = std::function<CUresult(std::size_t bytes, StreamHandle stream)>;

// Milliseconds of one copy, by the device's own clock.
Expected<double> time_copy(const CudaApi& api, const Copy& copy, std::size_t bytes, Event& begin, Event& end,
                           StreamHandle stream) {
  if (auto ok = begin.record(stream); !ok) return std::unexpected(ok.error());
  if (auto ok = check(api, copy(bytes, stream), "copy"); !ok) return std::unexpected(ok.error());
  if (auto ok = end.record(stream); !ok) return std::unexpected(ok.error());
  if (auto ok = end.wait(); !ok) return std::unexpected(ok.error());
  return Event::elapsed_ms(begin, end);
}

// GB/s of the best size.
Expected<double> best_rate(const std::shared_ptr<const Device>& device, const Copy& copy, std::size_t most_bytes) {
  const auto stream = Stream::create(device);
  if (!stream) return std::unexpected(stream.error());
  auto begin = Event::create(device, EventUse::kTiming);
  if (!begin) return std::unexpected(begin.error());
  auto end = Event::create(device, EventUse::kTiming);
  if (!end) return std::unexpected(end.error());
  double best = 0;
  for (const std::size_t part : kParts) {
    const std::size_t bytes = most_bytes / part;
    std::vector<double> times_ms;
    for (int i = 0; i < kCopies; ++i) {
      const auto ms = time_copy(device->api(), copy, bytes, *begin, *end, stream->handle());
      if (!ms) return std::unexpected(ms.error());
      times_ms.push_back(*ms);
    }
    std::ranges::nth_element(times_ms, times_ms.begin() + kCopies / 2);
    const double middle_ms = times_ms[kCopies / 2];
    if (middle_ms > 0) best = std::max(best, static_cast<double>(bytes) / middle_ms / 1e6);
  }
  return best;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Expected<DeviceCeilings> measure_one(const CudaApi& api, int ordinal, std::size_t most_bytes) {
  const auto device = Device::open(api, ordinal);
  if (!device) return std::unexpected(device.error());
  CUdevice handle = 0;
  char pci_bus_id[32] = "";
  char name[256] = "";
  if (auto ok = check(api, api.device_get(&handle, ordinal), "open the device"); !ok)
    return std::unexpected(ok.error());
  if (auto ok = check(api, api.device_get_pci_bus_id(pci_bus_id, sizeof pci_bus_id, handle), "ask where the GPU is");
      !ok)
    return std::unexpected(ok.error());
  api.device_get_name(name, sizeof name, handle);
  const auto rates = measure_ceilings(*device, most_bytes);
  if (!rates) return std::unexpected(rates.error());
  return DeviceCeilings{lower(pci_bus_id), name, *rates};
}

}  // namespace

Expected<Ceilings> measure_ceilings(const std::shared_ptr<const Device>& device, std::size_t most_bytes) {
  const CudaApi& api = device->api();
  const ContextScope scope(*device);
  const auto on_device = DeviceBuffer::allocate(device, most_bytes);
  if (!on_device) return std::unexpected(on_device.error());
  const auto pinned = PinnedBuffer::allocate(device, most_bytes);
  if (!pinned) return std::unexpected(pinned.error());
  std::ranges::fill(pinned->bytes(), std::byte{1});
  const std::vector<std::byte> pageable(most_bytes, std::byte{1});  // written, so that it has pages of its own
  const DeviceAddress address = on_device->address();

  Ceilings out;
  const struct {
    double& rate;
    Copy copy;
  } wanted[] = {
      {out.pinned_h2d_gb_per_s,
       [&](std::size_t bytes, StreamHandle stream) {
         return api.copy_to_device_async(address, pinned->bytes().data(), bytes, stream);
       }},
      {out.pageable_h2d_gb_per_s,
       [&](std::size_t bytes, StreamHandle stream) {
         return api.copy_to_device_async(address, pageable.data(), bytes, stream);
       }},
      {out.pinned_d2h_gb_per_s,
       [&](std::size_t bytes, StreamHandle stream) {
         return api.copy_to_host_async(pinned->bytes().data(), address, bytes, stream);
       }},
  };
  for (const auto& [rate, copy] : wanted) {
    const auto measured = best_rate(device, copy, most_bytes);
    if (!measured) return std::unexpected(measured.error());
    rate = *measured;
  }
  return out;
}

Expected<std::vector<DeviceCeilings>> measure_all_ceilings(const CudaApi& api, std::size_t most_bytes) {
  int count = 0;
  if (auto ok = check(api, api.device_get_count(&count), "count CUDA devices"); !ok) return std::unexpected(ok.error());
  if (count == 0) return base::fail("this process sees no CUDA device (CUDA_VISIBLE_DEVICES limits them)");
  std::vector<DeviceCeilings> all;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto one = measure_one(api, ordinal, most_bytes);
    if (!one) return std::unexpected(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace fullbore::gpu
