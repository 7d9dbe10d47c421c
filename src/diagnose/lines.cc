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

}  // namespace

std::vector<LineTime> loop_lines(const Profile& profile, double step_ms) {
  std::vector<LineTime> lines;
  if (!profile.loop.measured() || step_ms <= 0) return lines;
  append(profile.loop, step_ms, step_ms, kLeastShare * step_ms, lines);
  double named = 0;
  for (const LineTime& line : lines) named += line.share;
  if (named < 1) lines.push_back({{}, (1 - named) * step_ms, 1 - named, "rest"});
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
