#include "diagnose/gpu_evidence.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace fullbore::diagnose {
namespace {

using Span = std::pair<std::int64_t, std::int64_t>;

// A wait of the host belongs to a copy if it ends so soon after it: a return from the driver takes 10-30 us.
constexpr std::int64_t kReturn_ns = 200'000;
// A window from the first kernel to the last cuts one step, so of two one is whole.
constexpr double kLeastSteps = 2;
constexpr std::int64_t kMillisecond_ns = 1'000'000;

// Disjoint, in order.
std::vector<Span> merged(std::vector<Span> spans) {
  std::ranges::sort(spans);
  std::vector<Span> out;
  for (const Span& span : spans) {
    if (!out.empty() && span.first <= out.back().second) {
      out.back().second = std::max(out.back().second, span.second);
    } else {
      out.push_back(span);
    }
  }
  return out;
}

// Of [begin, end) what no span of `covers` (merged) covers.
double uncovered_ns(std::int64_t begin_ns, std::int64_t end_ns, const std::vector<Span>& covers) {
  std::int64_t left = end_ns - begin_ns;
  auto it = std::ranges::lower_bound(covers, begin_ns, {}, &Span::second);
  for (; it != covers.end() && it->first < end_ns; ++it)
    left -= std::min(end_ns, it->second) - std::max(begin_ns, it->first);
  return static_cast<double>(left);
}

struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t next_ns = 0;  // records up to here are its own: those of the next begin later
  std::vector<Span> kernels;
  std::vector<const wire::CopyRecord*> copies;  // from the host
  std::vector<const wire::SyncRecord*> waits;   // of the host
};

template <typename Record, typename Use>
void each_of(const std::vector<record::From<Record>>& records, std::uint32_t pid, const Window& window, Use use) {
  for (const auto& [record, writer, thread] : records) {
    if (writer == pid && record.begin_ns >= window.begin_ns && record.begin_ns < window.next_ns) use(record);
  }
}

Window collect(const record::RankRecords& rank, std::uint32_t pid, std::int64_t begin_ns, std::int64_t next_ns) {
  Window window{begin_ns, next_ns, {}, {}, {}};
  each_of(rank.kernels, pid, window,
          [&](const wire::KernelRecord& kernel) { window.kernels.emplace_back(kernel.begin_ns, kernel.end_ns); });
  each_of(rank.copies, pid, window, [&](const wire::CopyRecord& copy) {
    if (copy.kind == wire::CopyKind::kHostToDevice) window.copies.push_back(&copy);
  });
  each_of(rank.syncs, pid, window, [&](const wire::SyncRecord& sync) {
    if (sync.kind != wire::SyncKind::kStreamWaitsForEvent) window.waits.push_back(&sync);
  });
  window.kernels = merged(std::move(window.kernels));
  return window;
}

bool stood_still(const wire::CopyRecord& copy, const Window& window) {
  return std::ranges::any_of(window.waits, [&](const wire::SyncRecord* wait) {
    return wait->begin_ns < copy.end_ns && wait->end_ns >= copy.end_ns && wait->end_ns < copy.end_ns + kReturn_ns;
  });
}

void add_copies(const Window& window, GpuEvidence& out) {
  for (const wire::CopyRecord* copy : window.copies) {
    CopiesFrom& from = copy->source == wire::MemoryKind::kPageable ? out.pageable : out.pinned;
    from.count += copy->count;
    from.bytes += static_cast<double>(copy->bytes);
    from.busy_ns += static_cast<double>(copy->busy_ns);
    // Of a sum only begin and end are known; its copies lie between them.
    from.exposed_ns +=
        std::min(static_cast<double>(copy->busy_ns), uncovered_ns(copy->begin_ns, copy->end_ns, window.kernels));
    if (&from == &out.pinned && stood_still(*copy, window)) out.waited_for += static_cast<double>(copy->bytes);
  }
}

void add_gaps(const Window& window, GpuEvidence& out) {
  for (std::size_t i = 0; i + 1 < window.kernels.size(); ++i) {
    const std::int64_t gap_ns = window.kernels[i + 1].first - window.kernels[i].second;
    const std::size_t size = gap_ns < kMillisecond_ns         ? 0
                             : gap_ns < 10 * kMillisecond_ns  ? 1
                             : gap_ns < 100 * kMillisecond_ns ? 2
                                                              : 3;
    out.gap_ns[size] += static_cast<double>(gap_ns);
  }
}

// From the first kernel to the last: what is outside may have been launched outside.
void add_window(Window window, double step_ns, GpuEvidence& out) {
  if (window.kernels.empty()) return;
  const std::int64_t first_ns = window.kernels.front().first, last_ns = window.kernels.back().second;
  if (static_cast<double>(last_ns - first_ns) < kLeastSteps * step_ns) return;
  std::erase_if(window.copies, [&](const auto* copy) { return copy->begin_ns < first_ns || copy->end_ns > last_ns; });
  ++out.windows;
  out.seen_ns += static_cast<double>(last_ns - first_ns);
  for (const auto& [begin_ns, end_ns] : window.kernels) out.kernel_ns += static_cast<double>(end_ns - begin_ns);
  add_copies(window, out);
  add_gaps(window, out);
}

}  // namespace

std::optional<GpuEvidence> gpu_evidence(const record::RankRecords& rank, std::uint32_t pid, std::int64_t begin_ns,
                                        std::int64_t end_ns, double step_ns) {
  std::vector<const wire::TraceWindowRecord*> windows;
  for (const auto& window : rank.trace_windows) {
    if (window.pid == pid) windows.push_back(&window.record);
  }
  std::ranges::sort(windows, {}, &wire::TraceWindowRecord::begin_ns);
  GpuEvidence out;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const wire::TraceWindowRecord& window = *windows[i];
    if (window.begin_ns < begin_ns || window.end_ns > end_ns || window.dropped > 0) continue;
    const std::int64_t next_ns = i + 1 < windows.size() ? windows[i + 1]->begin_ns : INT64_MAX;
    add_window(collect(rank, pid, window.begin_ns, next_ns), step_ns, out);
  }
  if (out.pinned.bytes > 0) out.waited_for /= out.pinned.bytes;
  return out.windows > 0 ? std::optional(out) : std::nullopt;
}

}  // namespace fullbore::diagnose
