#include "diagnose/causes/body_use.h"

#include <algorithm>

namespace fullbore::diagnose {

std::optional<BodyUse> body_use(const Situation& situation) {
  double wall_ns = 0, cpu_ns = 0, queued_ns = 0;
  const auto& all = situation.iterations.all;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const Iteration& iteration = all[i];
    const wire::NextRecord* following = all[i + 1].next;  // says what the loop body in front of it used
    if (!iteration.steady || following == nullptr || following->begin_ns != iteration.end_ns) continue;
    if (following->loop_cpu_ns == wire::kUnknown) continue;
    wall_ns += static_cast<double>(iteration.end_ns - iteration.wait_end_ns);
    cpu_ns += static_cast<double>(following->loop_cpu_ns);
    if (following->loop_runq_ns != wire::kUnknown) queued_ns += static_cast<double>(following->loop_runq_ns);
  }
  if (wall_ns <= 0) return std::nullopt;
  const double on_core = std::clamp(cpu_ns / wall_ns, 0.0, 1.0);
  return BodyUse{on_core, std::clamp(queued_ns / wall_ns, 0.0, 1 - on_core)};
}

}  // namespace fullbore::diagnose
