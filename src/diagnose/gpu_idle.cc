// See gpu_idle.h. No record says which launch belongs to which kernel, nor which copy a kernel waited for: what the
// thread and the link did at the same instant is taken for the reason.
#include "diagnose/gpu_idle.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fullbore::diagnose {
namespace {

constexpr std::int64_t kMillisecond_ns = 1'000'000;
// Kernels that are queued follow each other within one to two microseconds on an H200; a launch takes four at least.
constexpr std::int64_t kQueuedGap_ns = 3'000;

std::optional<Idle> idle_of(Claim claim) {
  switch (claim) {
    case Claim::kCheckpoint:
      return Idle::kCheckpoint;
    case Claim::kValidation:
      return Idle::kValidation;
    case Claim::kLogging:
      return Idle::kLogging;
    case Claim::kGarbageCollection:
      return Idle::kGarbageCollection;
    case Claim::kInputWait:
      return Idle::kInputWait;
    case Claim::kCollective:
      return Idle::kCollective;
    case Claim::kProfiler:
      return Idle::kProfiler;
    case Claim::kBlockingRead:  // the trace has these itself, and exactly
    case Claim::kCopyCall:
    case Claim::kCount:
      break;
  }
  return std::nullopt;
}

// Moves what `part` and `left` have in common into the kind's place.
void take(Spans& left, const Spans& part, Idle kind, WindowTime& out) {
  if (left.empty() || part.empty()) return;
  Spans& place = out.idle[static_cast<std::size_t>(kind)];
  Spans taken = common(left, part);
  if (taken.empty()) return;
  left = without(left, taken);
  taken.insert(taken.end(), place.begin(), place.end());
  place = merged(std::move(taken));
}

void take_claims(Spans& left, const std::vector<Stretch>& stretches, std::int64_t begin_ns, std::int64_t end_ns,
                 WindowTime& out) {
  std::array<std::vector<Span>, kIdleKinds> by_kind;
  auto it = std::ranges::lower_bound(stretches, begin_ns, {}, &Stretch::end_ns);
  for (; it != stretches.end() && it->begin_ns < end_ns; ++it) {
    if (const auto kind = idle_of(it->claim))
      by_kind[static_cast<std::size_t>(*kind)].emplace_back(it->begin_ns, it->end_ns);
  }
  for (std::size_t kind = 0; kind < kIdleKinds; ++kind)
    take(left, merged(std::move(by_kind[kind])), static_cast<Idle>(kind), out);
}

// Copies in flight. A sum of many says only when the first began and the last ended.
Spans copying(const GpuWindow& window) {
  std::vector<Span> spans;
  for (const GpuCopy& copy : window.copies) {
    if (copy.single()) spans.push_back(copy.span());
  }
  for (const CopyRow& row : window.rows) spans.emplace_back(row.begin_ns, row.end_ns);
  return merged(std::move(spans));
}

// Out of pageable memory the host copies first: what is left of a gap in front of such a copy is that.
Spans staging(const GpuWindow& window, const Spans& left) {
  std::vector<Span> spans;
  for (const GpuCopy& copy : window.copies) {
    if (!copy.pageable() || !copy.single()) continue;
    const std::int64_t begin_ns = copy.record->begin_ns;
    const auto after = std::ranges::lower_bound(left, begin_ns, {}, &Span::first);
    if (after != left.begin() && std::prev(after)->second == begin_ns) spans.push_back(*std::prev(after));
  }
  return merged(std::move(spans));
}

Spans waiting(const GpuWindow& window) {
  std::vector<Span> spans;
  for (const GpuWait& wait : window.waits) spans.push_back(wait.span());
  return merged(std::move(spans));
}

Spans queued(const Spans& gaps) {
  Spans out;
  std::ranges::copy_if(gaps, std::back_inserter(out),
                       [](const Span& gap) { return gap.second - gap.first <= kQueuedGap_ns; });
  return out;
}

}  // namespace

std::size_t size_of_gap(std::int64_t gap_ns) {
  if (gap_ns < kMillisecond_ns) return 0;
  if (gap_ns < 10 * kMillisecond_ns) return 1;
  return gap_ns < 100 * kMillisecond_ns ? 2 : 3;
}

WindowTime split_window(const GpuWindow& window, const std::vector<Stretch>& stretches, std::int64_t begin_ns,
                        std::int64_t end_ns) {
  WindowTime out;
  std::vector<Span> busy = window.compute;
  busy.insert(busy.end(), window.collective.begin(), window.collective.end());
  const Spans seen = {{begin_ns, end_ns}};
  out.busy = common(merged(std::move(busy)), seen);
  const Spans gaps = without(seen, out.busy);
  Spans left = gaps;
  take_claims(left, stretches, begin_ns, end_ns, out);
  take(left, copying(window), Idle::kCopy, out);
  take(left, staging(window, left), Idle::kCopy, out);
  take(left, queued(gaps), Idle::kDeviceGap, out);
  take(left, waiting(window), Idle::kHostSync, out);
  take(left, seen, Idle::kLaunch, out);
  return out;
}

}  // namespace fullbore::diagnose
