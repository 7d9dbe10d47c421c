#include "diagnose/causes/lock_looks.h"

#include <fmt/format.h>

namespace fullbore::diagnose {
namespace {

// Below 30 looks one of them would be more than three points.
constexpr double kLeastLooks = 30;

}  // namespace

std::optional<LockLooks> lock_looks(const Situation& situation) {
  LockLooks looks;
  const Iterations& iterations = situation.iterations;
  const double seconds = static_cast<double>(iterations.whole_end_ns - iterations.whole_begin_ns) / 1e9;
  const std::string label = fmt::format("trainer/{}/{}", situation.trainer->pid, situation.trainer->tid);
  const auto count = [&](const char* metric) {
    const auto rate = rate_in(situation.run->find(metric, label), iterations.whole_begin_ns, iterations.whole_end_ns);
    return rate.value_or(0) * seconds;
  };
  looks.all = count("thread.lock_looks");
  looks.waiting = count("thread.lock_waits");
  return looks.all < kLeastLooks ? std::nullopt : std::optional(looks);
}

}  // namespace fullbore::diagnose
