// Batches cross the link in a wider type than their values need: pictures as floats that are bytes in the file, numbers
// in double precision, indices in 64 bits.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

struct Narrower {
  const char* dtype;
  double factor;  // so many times fewer bytes
  const char* fix;
};

// (N, C, H, W) or (N, H, W, C).
bool is_pictures(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kLeastSide = 8;
  const auto channels = [](std::int64_t size) { return size == 1 || size == 3 || size == 4; };
  if (shape.size() != 4) return false;
  return (channels(shape[1]) && std::min(shape[2], shape[3]) >= kLeastSide) ||
         (channels(shape[3]) && std::min(shape[1], shape[2]) >= kLeastSide);
}

// (N, H, W) or more: the class of each pixel.
bool is_maps(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kLeastSide = 8;
  return shape.size() >= 3 && std::min(shape[shape.size() - 2], shape.back()) >= kLeastSide;
}

std::optional<Narrower> narrower(const LoaderFacts& loader) {
  static constexpr const char* kBytes =
      "keep pictures as bytes (uint8) in the dataset, and convert and normalise on the device: "
      "images.to(device, non_blocking=True).float().div_(255), or fullbore.ImageLoader, which does it in one kernel";
  if (is_pictures(loader.shape)) {
    if (loader.dtype == "torch.float32") return Narrower{"uint8", 4, kBytes};
    if (loader.dtype == "torch.float64") return Narrower{"uint8", 8, kBytes};
    if (loader.dtype == "torch.float16" || loader.dtype == "torch.bfloat16") return Narrower{"uint8", 2, kBytes};
  }
  if (loader.dtype == "torch.float64")
    return Narrower{"float32", 2,
                    "convert in the dataset or the collate function: NumPy arrays are float64 unless told"};
  if (loader.dtype == "torch.int64" && is_maps(loader.shape))
    return Narrower{"uint8", 8, "keep maps of up to 256 classes as uint8, and call .long() on the device for the loss"};
  if (loader.dtype == "torch.int64")
    return Narrower{"int32", 2, "send int32 and call .long() on the device where a layer needs int64"};
  return std::nullopt;
}

}  // namespace

std::optional<Cause> wide_dtype(const Situation& situation) {
  const LoaderFacts& loader = situation.loader;
  const auto narrow = narrower(loader);
  if (!situation.device || !narrow || !loader.tensor_mb) return std::nullopt;
  const GpuEvidence& device = *situation.device;
  const double copied_mb = device.per_iteration(device.pageable.bytes + device.pinned.bytes) / 1e6;
  if (copied_mb <= 0) return std::nullopt;
  const double of_copies = std::min(1.0, *loader.tensor_mb / copied_mb);
  const double exposed = exposed_pageable(situation) + exposed_pinned(situation);
  const double share = exposed * of_copies * (1 - 1 / narrow->factor);
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_copy_cause(
      "wide_dtype", share, device.pageable.bytes > device.pinned.bytes ? device.pageable : device.pinned, situation);
  cause.summary = fmt::format(
      "The GPU runs no kernel for {} of each step while {:.1f} MB of {} are copied to it{}; as {} they would be {:.0f} "
      "times fewer bytes, and training at most {} faster.",
      percent(exposed), *loader.tensor_mb, loader.dtype, in_place(cause.where), narrow->dtype, narrow->factor,
      factor(*cause.gain.max));
  cause.fix.text = narrow->fix;
  cause.fix.risk = "none where the values fit the narrower type; what reads the batch on the host sees another type";
  cause.why_not.push_back("pin_memory: it makes the same bytes faster, not fewer");
  return cause;
}

}  // namespace fullbore::diagnose
