// The link to the device runs below what it can: an older generation, or fewer lanes.
#include <fmt/format.h>

#include <cmath>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/device_counters.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {
namespace {

struct Link {
  double generation = 0, width = 0;            // as high as it was while the run was judged: it drops when idle
  double most_generation = 0, most_width = 0;  // what device and slot can do

  // GB/s per lane doubles with each generation: 1 at the third.
  static double rate(double generation, double width) { return width * std::exp2(generation - 3); }
  double now() const { return rate(generation, width); }
  double most() const { return rate(most_generation, most_width); }
};

std::optional<Link> link_of(const Situation& situation) {
  const auto generation = device_highest(situation, "gpu.link_generation");
  const auto width = device_highest(situation, "gpu.link_width");
  const auto most_generation = device_highest(situation, "gpu.max_link_generation");
  const auto most_width = device_highest(situation, "gpu.max_link_width");
  if (!generation || !width || !most_generation || !most_width) return std::nullopt;
  return Link{*generation, *width, *most_generation, *most_width};
}

constexpr double kDegraded = 0.75;  // of what the link can; a lower generation or half the lanes is a half

}  // namespace

std::optional<Cause> link_degraded(const Situation& situation) {
  const auto link = link_of(situation);
  if (!situation.device || !link || link->now() >= kDegraded * link->most()) return std::nullopt;
  const double exposed = exposed_pageable(situation) + exposed_pinned(situation);
  const double share = exposed * (1 - link->now() / link->most());
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_copy_cause("link_degraded", share, situation.device->pinned, situation);
  cause.where = cause.fix.where = std::nullopt;
  cause.summary = fmt::format(
      "The link to the GPU runs at generation {:.0f} with {:.0f} lanes where generation {:.0f} with {:.0f} is "
      "possible; the GPU runs no kernel for {} of each step while batches are copied, and would be at most {} faster.",
      link->generation, link->width, link->most_generation, link->most_width, percent(exposed),
      factor(*cause.gain.max));
  add_evidence(cause, "link generation, highest seen", link->generation, "", kDriverCounters);
  add_evidence(cause, "link lanes, highest seen", link->width, "", kDriverCounters);
  cause.fix.text =
      "reseat the card or its riser, try another slot, check the BIOS setting of the slot and `dmesg` for PCIe errors; "
      "in a cloud, ask for another machine";
  cause.fix.risk = "none";
  cause.why_not.push_back("pinning or prefetching: they hide the copy, but the link stays half as fast for everything");
  return cause;
}

}  // namespace fullbore::diagnose
