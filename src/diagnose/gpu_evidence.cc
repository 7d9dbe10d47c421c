// See gpu_evidence.h.
#include "diagnose/gpu_evidence.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fullbore::diagnose {
namespace {

constexpr std::size_t kLeastIterations = 2;

// Consecutive iterations of one kind: [begin, end) with how many.
struct Stretched {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::size_t iterations = 0;
};

// The iterations that lie in the window as a whole, of the typical kind; where too few are, all that were not cut off.
std::vector<Stretched> iterations_in(const GpuWindow& window, const Iterations& iterations) {
  const auto collect = [&](bool typical, std::int64_t until_ns, std::size_t& count) {
    std::vector<Stretched> out;
    count = 0;
    auto it = std::ranges::lower_bound(iterations.all, window.known_from_ns, {}, &Iteration::begin_ns);
    for (; it != iterations.all.end() && it->end_ns <= until_ns; ++it) {
      if (typical ? !it->steady : it->edge || it->hole || it->first) continue;
      if (out.empty() || out.back().end_ns != it->begin_ns) out.push_back({it->begin_ns, it->end_ns, 0});
      out.back().end_ns = it->end_ns;
      ++out.back().iterations;
      ++count;
    }
    return out;
  };
  std::size_t count = 0;
  std::vector<Stretched> found;
  // Sums of copies are better than nothing.
  for (const std::int64_t until_ns : {window.known_until_ns, window.end_ns}) {
    for (const bool typical : {true, false}) {
      if (count < kLeastIterations) found = collect(typical, until_ns, count);
    }
  }
  return count < kLeastIterations ? std::vector<Stretched>{} : found;
}

// Sums over one range of a window.
class Summing {
 public:
  Summing(const GpuWindow& window, const std::vector<Stretch>& stretches, const Stretched& range, GpuEvidence& out)
      : window_(window), range_(range), out_(out) {
    time_ = split_window(window, stretches, range.begin_ns, range.end_ns);
    for (auto it = std::ranges::lower_bound(stretches, range.begin_ns, {}, &Stretch::end_ns);
         it != stretches.end() && it->begin_ns < range.end_ns; ++it) {
      (it->claim == Claim::kInputWait ? waits_ : pauses_).emplace_back(it->begin_ns, it->end_ns);
    }
    waits_ = common(merged(std::move(waits_)), seen());
  }

  void add() {
    out_.iterations += range_.iterations;
    out_.seen_ns += static_cast<double>(range_.end_ns - range_.begin_ns);
    add_kernels();
    add_idle();
    add_copies();
    add_rows();
    add_waits();
  }

 private:
  Spans seen() const { return {{range_.begin_ns, range_.end_ns}}; }

  void add_kernels() {
    const auto from = std::ranges::lower_bound(window_.kernels_ns, range_.begin_ns);
    out_.kernels += static_cast<std::size_t>(std::ranges::lower_bound(window_.kernels_ns, range_.end_ns) - from);
    const double compute_ns = length_within_ns(window_.compute, range_.begin_ns, range_.end_ns);
    out_.compute_ns += compute_ns;
    out_.collective_ns += length_ns(time_.busy) - compute_ns;
  }

  void add_idle() {
    const Spans gaps = without(seen(), time_.busy);
    for (std::size_t kind = 0; kind < kIdleKinds; ++kind) {
      auto gap = gaps.begin();
      for (const Span& part : time_.idle[kind]) {
        const double ns = static_cast<double>(part.second - part.first);
        while (gap != gaps.end() && gap->second <= part.first) ++gap;
        out_.idle_ns[kind] += ns;
        if (gap != gaps.end()) out_.gap_ns[kind][size_of_gap(gap->second - gap->first)] += ns;
      }
    }
  }

  void add_copies() {
    for (const GpuCopy& copy : window_.copies) {
      const auto [begin_ns, end_ns] = copy.span();
      if (begin_ns < range_.begin_ns || begin_ns >= range_.end_ns) continue;
      CopiesFrom& from = copy.pageable() ? out_.pageable : out_.pinned;
      const double bytes = static_cast<double>(copy.record->bytes), busy_ns = static_cast<double>(copy.record->busy_ns);
      from.count += copy.record->count;
      from.bytes += bytes;
      from.busy_ns += busy_ns;
      // Of a sum only begin and end are known; its copies lie between them.
      const double hidden_ns = length_within_ns(time_.busy, begin_ns, end_ns);
      from.exposed_ns += std::min(busy_ns, static_cast<double>(end_ns - begin_ns) - hidden_ns);
      if (copy.waited_for && !copy.pageable()) out_.waited_for += bytes;
    }
  }

  void add_rows() {
    for (const CopyRow& row : window_.rows) {
      if (row.begin_ns < range_.begin_ns || row.begin_ns >= range_.end_ns) continue;
      out_.small.count += static_cast<std::int64_t>(row.count);
      out_.small.bytes += row.bytes;
      const auto& copying = time_.idle[static_cast<std::size_t>(Idle::kCopy)];
      out_.small.idle_ns += length_within_ns(copying, row.begin_ns, row.end_ns);
      copied_.emplace_back(row.begin_ns, row.end_ns);
    }
  }

  void add_waits() {
    out_.input_wait_ns += length_ns(waits_);
    out_.hidden_wait_ns += length_ns(common(waits_, time_.busy));
    std::vector<Span> for_copies = std::move(copied_), for_device;
    for (const GpuWait& wait : window_.waits) (wait.for_copy ? for_copies : for_device).push_back(wait.span());
    for (const GpuCopy& copy : window_.copies) {
      if (copy.pageable() && copy.single()) for_copies.push_back(copy.span());
    }
    const Spans device = without(common(merged(std::move(for_device)), seen()), waits_);
    out_.device_wait_ns += length_ns(device);
    out_.device_waits += static_cast<double>(device.size());
    const Spans body = without(without(without(seen(), waits_), merged(std::move(pauses_))), device);
    // With the host's side of copying out of pageable memory.
    const Spans& staged = time_.idle[static_cast<std::size_t>(Idle::kCopy)];
    const Spans busy = without(without(body, merged(std::move(for_copies))), staged);
    out_.busy_body_ns += length_ns(busy);
    out_.copy_wait_ns += length_ns(body) - length_ns(busy);
  }

  const GpuWindow& window_;
  const Stretched& range_;
  GpuEvidence& out_;
  WindowTime time_;
  std::vector<Span> waits_, pauses_, copied_;
};

}  // namespace

std::optional<GpuEvidence> gpu_evidence(const record::Run& run, const Trainer& trainer, const Iterations& iterations,
                                        const std::vector<Stretch>& stretches) {
  GpuEvidence out;
  for (const GpuWindow& window :
       gpu_windows(run, *trainer.rank, trainer.pid, iterations.whole_begin_ns, iterations.whole_end_ns)) {
    const std::vector<Stretched> ranges = iterations_in(window, iterations);
    out.windows += ranges.empty() ? 0 : 1;
    for (const Stretched& range : ranges) Summing(window, stretches, range, out).add();
  }
  if (out.pinned.bytes > 0) out.waited_for /= out.pinned.bytes;
  return out.windows > 0 ? std::optional(out) : std::nullopt;
}

}  // namespace fullbore::diagnose
