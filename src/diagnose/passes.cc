// Sorts batches and iterations by the iterator that was current when they began; see passes.h.
#include "diagnose/passes.h"

#include <algorithm>

namespace fullbore::diagnose {
namespace {

void add_known(double& sum, std::int64_t value) {
  if (value != wire::kUnknown) sum += static_cast<double>(value);
}

// Position of the pass that a time lies in; before the first iterator: the first.
std::size_t place_of(const Trainer& trainer, std::int64_t time_ns) {
  const auto after = std::ranges::upper_bound(trainer.iterators, time_ns, {},
                                              [](const wire::IteratorRecord* iterator) { return iterator->begin_ns; });
  return after == trainer.iterators.begin() ? 0 : static_cast<std::size_t>(after - trainer.iterators.begin()) - 1;
}

}  // namespace

std::vector<Pass> measure_passes(const Trainer& trainer, const Iterations& iterations, const Makers& makers) {
  std::vector<Pass> passes(trainer.iterators.size());
  if (passes.empty()) return passes;
  for (const Maker& maker : makers.workers) {
    for (const Made& made : maker.made) {
      Pass& pass = passes[place_of(trainer, made.batch->begin_ns)];
      ++pass.batches;
      add_known(pass.read_chars, made.batch->read_chars);
      add_known(pass.read_bytes, made.batch->read_bytes);
    }
  }
  for (std::size_t i = iterations.warmup; i < iterations.all.size(); ++i) {
    const Iteration& iteration = iterations.all[i];
    if (!iteration.steady) continue;
    Pass& pass = passes[place_of(trainer, iteration.begin_ns)];
    ++pass.iterations;
    pass.wall_ns += static_cast<double>(iteration.wall_ns());
    pass.wait_ns += static_cast<double>(iteration.wait_ns());
  }
  return passes;
}

Pass later_passes(const std::vector<Pass>& passes) {
  Pass sum;
  for (std::size_t i = 1; i < passes.size(); ++i) {
    sum.batches += passes[i].batches;
    sum.read_chars += passes[i].read_chars;
    sum.read_bytes += passes[i].read_bytes;
    sum.iterations += passes[i].iterations;
    sum.wall_ns += passes[i].wall_ns;
    sum.wait_ns += passes[i].wait_ns;
  }
  return sum;
}

}  // namespace fullbore::diagnose
