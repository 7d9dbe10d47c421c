#include "feed/image/pool_report.h"

#include <fmt/core.h>

namespace fullbore::image {
namespace {

// A caller that waits for more than this part of its time is held up; as for a note in a report of `fullbore run`.
constexpr double kHeldUp = 0.05;

std::string threads_line(const PoolReport& report) {
  if (report.threads == 1) return "1 thread works.\n";
  if (report.working == report.threads) return fmt::format("All {} threads work.\n", report.threads);
  return fmt::format("{} of {} threads work{}: the caller needs no more, and more would disturb it.\n", report.working,
                     report.threads, report.settled ? "" : " for now");
}

std::string limit_line(const PoolReport& report) {
  const double span_ms = static_cast<double>(report.last_ns - report.first_ns) / 1e6;
  if (report.batches < 2 || span_ms <= 0) return "Not measured yet: what the caller waits, from two batches on.\n";
  const double part = report.wait_ms / span_ms;
  return fmt::format("The caller waited {:.1f} % of its time{}.\n", 100 * part,
                     part > kHeldUp ? "; it would be faster with more threads, or with pictures that cost less"
                                    : "; what else it does is the limit, not this loader");
}

}  // namespace

void PoolReport::add(const BatchTimes& times, std::uint64_t its_samples, std::int64_t asked_ns, std::int64_t now_ns) {
  if (batches == 0) {
    first_ns = now_ns;
  } else {
    wait_ms += static_cast<double>(now_ns - asked_ns) / 1e6;
  }
  ++batches;
  samples += its_samples;
  read_ms += times.read_ms;
  decode_ms += times.decode_ms;
  finish_ms += times.finish_ms;
  last_ns = now_ns;
}

std::string explain(const PoolReport& report) {
  std::string text = threads_line(report);
  if (report.samples > 0) {
    const auto each = [&](double sum_ms) { return sum_ms / static_cast<double>(report.samples); };
    text += fmt::format("A picture takes {:.3f} ms of a thread: {:.3f} to read, {:.3f} to decode, {:.3f} to finish.\n",
                        each(report.read_ms + report.decode_ms + report.finish_ms), each(report.read_ms),
                        each(report.decode_ms), each(report.finish_ms));
  }
  return text + limit_line(report);
}

}  // namespace fullbore::image
