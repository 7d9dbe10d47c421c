// Line times are shares of traced windows put onto untraced times; see lines.h.
#include "diagnose/lines.h"

#include <algorithm>

namespace fullbore::diagnose {
namespace {

constexpr double kLeastShare = 0.01;

// Lines of a place that takes `place_ms` of each step, as far as they reach `least_ms`.
void append(const PlaceProfile& place, double place_ms, double step_ms, double least_ms, std::vector<LineTime>& out) {
  for (const ProfiledLine& line : place.lines) {
    const double ms = line.share * place_ms;
    if (ms > 0 && ms >= least_ms) out.push_back({line.where, ms, ms / step_ms, stage_name(line.stage)});
  }
}

bool waits(const ProfiledLine& line) {
  return line.stage == wire::Stage::kWait;
}

}  // namespace

std::vector<LineTime> loop_lines(const Profile& profile, double step_ms, double wait_ms) {
  std::vector<LineTime> lines;
  if (!profile.loop.measured() || step_ms <= 0) return lines;
  double waiting = 0;
  for (const ProfiledLine& line : profile.loop.lines) waiting += waits(line) ? line.share : 0;
  // Windows see few iterations, and early ones wait more. The wait was measured in all of them, so the line that waits
  // gets that; the others share what is left as they did in the windows.
  const bool split = waiting > 0 && waiting < 1 && wait_ms <= step_ms;
  const double wait_factor = split ? wait_ms / (waiting * step_ms) : 1;
  const double body_factor = split ? (step_ms - wait_ms) / ((1 - waiting) * step_ms) : 1;
  double named = 0;
  for (const ProfiledLine& line : profile.loop.lines) {
    const double share = line.share * (waits(line) ? wait_factor : body_factor);
    if (share < kLeastShare) continue;
    lines.push_back({line.where, share * step_ms, share, stage_name(line.stage)});
    named += share;
  }
  if (named < 1 - 1e-9) lines.push_back({{}, (1 - named) * step_ms, 1 - named, "rest"});
  return lines;
}

std::vector<LineTime> dataset_lines(const Profile& profile, double fetch_ms, double collate_ms, double step_ms) {
  std::vector<LineTime> lines;
  if (step_ms <= 0) return lines;
  const double least_ms = kLeastShare * (fetch_ms + collate_ms);
  append(profile.dataset, fetch_ms, step_ms, least_ms, lines);
  append(profile.collate, collate_ms, step_ms, least_ms, lines);
  std::ranges::stable_sort(lines, std::ranges::greater{}, &LineTime::ms);
  return lines;
}

}  // namespace fullbore::diagnose
