#include "diagnose/rank_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/causes/device_counters.h"
#include "diagnose/causes/wording.h"
#include "diagnose/statistics.h"

namespace fullbore::diagnose {
namespace {

// The same model launches the same kernels; a last batch or a checkpoint may differ.
constexpr double kSameWork = 0.05;
constexpr double kLonger = 1.15;  // kernels, than the median of the others
constexpr double kSlower = 0.75;  // copies, of the median of the others
// Shorter copies do not reach the rate of a link.
constexpr double kLargeCopyBytes = 1e6;

std::string device_name(const Situation& situation, const std::string& bus) {
  for (const auto& device : situation.trainer->rank->gpu_devices) {
    if (device.pid == situation.trainer->pid && situation.run->name(device.record.pci_bus_id) == bus)
      return std::string(situation.run->name(device.record.name));
  }
  return "";
}

bool same_work(const RankDevice& one, const RankDevice& other) {
  return std::abs(one.kernels - other.kernels) <= kSameWork * std::max(one.kernels, other.kernels);
}

// Of the others that do the same work; nullopt where there are none, or it is not known of one.
std::optional<double> median_of_others(const std::vector<RankDevice>& devices, const RankDevice& one,
                                       std::optional<double> (*value)(const RankDevice&)) {
  std::vector<double> values;
  for (const RankDevice& other : devices) {
    if (&other == &one || !same_work(one, other)) continue;
    const auto known = value(other);
    if (!known) return std::nullopt;
    values.push_back(*known);
  }
  return median(std::move(values));
}

std::optional<double> compute_of(const RankDevice& device) {
  return device.compute_ms;
}

std::string why_slower(const RankDevice& one, const std::vector<RankDevice>& devices) {
  const auto clock = median_of_others(devices, one, [](const RankDevice& d) { return d.clock_mhz; });
  if (!clock || !one.clock_mhz || *one.clock_mhz > 0.95 * *clock) return "";
  return fmt::format(" (its clock is {:.0f} MHz, theirs {:.0f})", *one.clock_mhz, *clock);
}

std::string why_copies_slower(const RankDevice& one, const std::vector<RankDevice>& devices) {
  const auto width = median_of_others(devices, one, [](const RankDevice& d) { return d.link_width; });
  const auto generation = median_of_others(devices, one, [](const RankDevice& d) { return d.link_generation; });
  if (!width || !generation || !one.link_width || !one.link_generation) return "";
  if (*one.link_width >= *width && *one.link_generation >= *generation) return "";
  return fmt::format(" (its link is generation {:.0f} with {:.0f} lanes, theirs {:.0f} with {:.0f})",
                     *one.link_generation, *one.link_width, *generation, *width);
}

std::string text_of(const RankDevice& device) {
  std::string text = device.pci_bus_id;
  if (!device.name.empty()) text += " " + device.name;
  text += fmt::format(", {:.0f} kernels in {} per step", device.kernels, milliseconds(device.compute_ms));
  if (device.gb_per_s) text += fmt::format(", copies {:.1f} GB/s", *device.gb_per_s);
  if (device.clock_mhz) text += fmt::format(", {:.0f} MHz", *device.clock_mhz);
  return text;
}

}  // namespace

std::vector<RankDevice> rank_devices(const std::vector<const Situation*>& trainers) {
  std::vector<RankDevice> devices;
  for (const Situation* trainer : trainers) {
    const std::string bus = device_bus(*trainer);
    if (!trainer->device || bus.empty()) continue;
    const GpuEvidence& evidence = *trainer->device;
    RankDevice device;
    device.rank = trainer->trainer->rank->rank;
    device.pid = trainer->trainer->pid;
    device.pci_bus_id = bus;
    device.name = device_name(*trainer, bus);
    device.kernels = evidence.per_iteration(static_cast<double>(evidence.kernels));
    device.compute_ms = evidence.per_iteration(evidence.compute_ns) / 1e6;
    const CopiesFrom& copies = evidence.pinned.bytes >= evidence.pageable.bytes ? evidence.pinned : evidence.pageable;
    if (copies.bytes >= kLargeCopyBytes * static_cast<double>(copies.count)) device.gb_per_s = copies.gb_per_s();
    device.clock_mhz = device_mean(*trainer, "gpu.sm_clock_mhz");
    device.link_generation = device_highest(*trainer, "gpu.link_generation");
    device.link_width = device_highest(*trainer, "gpu.link_width");
    devices.push_back(std::move(device));
  }
  return devices;
}

std::optional<std::string> slower_device(const std::vector<RankDevice>& devices) {
  for (const RankDevice& one : devices) {
    const auto others = median_of_others(devices, one, compute_of);
    if (others && *others > 0 && one.compute_ms >= kLonger * *others)
      return fmt::format("rank {}: the same kernels take {} per step on {}, {} on the other ranks{}", one.rank,
                         milliseconds(one.compute_ms), one.pci_bus_id, milliseconds(*others), why_slower(one, devices));
  }
  for (const RankDevice& one : devices) {
    const auto others = median_of_others(devices, one, [](const RankDevice& d) { return d.gb_per_s; });
    if (others && one.gb_per_s && *one.gb_per_s <= kSlower * *others)
      return fmt::format("rank {}: batches are copied to {} at {:.1f} GB/s, to those of the other ranks at {:.1f}{}",
                         one.rank, one.pci_bus_id, *one.gb_per_s, *others, why_copies_slower(one, devices));
  }
  return std::nullopt;
}

void describe_rank_devices(const std::vector<const Situation*>& trainers, Diagnosis& out) {
  const std::vector<RankDevice> devices = rank_devices(trainers);
  if (devices.empty() || trainers.size() < 2) return;
  for (const RankDevice& device : devices)
    out.facts[fmt::format("gpu rank {} (pid {})", device.rank, device.pid)] = text_of(device);
  if (auto slower = slower_device(devices)) out.facts["slower gpu"] = *std::move(slower);
}

}  // namespace fullbore::diagnose
