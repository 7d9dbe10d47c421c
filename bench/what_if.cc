// What the replay makes of a run: the present settings against what was measured, and the step at other numbers of
// workers and depths of prefetching. `bench/replay_truth.py` holds it against runs that have these settings.
//
//     what_if_bench [--alone] RUN [WORKERS:PREFETCH ...]
//
// --alone: the run had priority over everything else on its machine, so what others took was nobody's loss.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "diagnose/replay/calibration.h"
#include "diagnose/replay/record_loop.h"
#include "diagnose/replay/simulate.h"
#include "diagnose/situation.h"
#include "record/run.h"

namespace {

using namespace fullbore;
using namespace fullbore::diagnose;

void print_loop(const replay::Calibration& calibration, double others) {
  const replay::Loop& loop = *calibration.loop;
  std::printf(
      "{\"workers\": %d, \"prefetch\": %d, \"measured_ms\": %.2f, \"replayed_ms\": %.2f, \"wait_ms\": %.2f, "
      "\"replayed_wait_ms\": %.2f, \"whole_ms\": %.2f, \"replayed_whole_ms\": %.2f, \"other_cores_seen\": %.2f, "
      "\"other_cpu_ms\": %.2f, "
      "\"why\": \"%s\", \"predicted\": {",
      loop.workers, loop.prefetch, loop.step_ms, calibration.now.step_ms, loop.wait_ms, calibration.now.wait_ms,
      loop.whole_ms, calibration.now.whole_ms, others, loop.other_cpu, calibration.why.c_str());
}

int what_if(const record::Run& run, bool alone, int count, char** settings) {
  const auto trainers = find_trainers(run);
  if (trainers.empty()) return std::fprintf(stderr, "what_if: %s has no training loop\n", run.folder.c_str()), 1;
  auto loop = replay::record_loop(assess(run, trainers.front()));
  if (!loop) return std::fprintf(stderr, "what_if: %s\n", loop.error().c_str()), 1;
  const double others = loop->other_cores;
  if (alone) loop->other_cores = 0;
  const replay::Calibration calibration = replay::calibrate(*std::move(loop));
  print_loop(calibration, others);
  for (int i = 0; i < count; ++i) {
    Change change;
    change.workers = std::atoi(settings[i]);
    const char* colon = std::strchr(settings[i], ':');
    if (colon != nullptr && *change.workers > 0) change.prefetch = std::atoi(colon + 1);
    const auto outcome = replay::simulate(replay::apply(*calibration.loop, change), {});
    std::printf("%s\"%s\": %.2f", i > 0 ? ", " : "", settings[i],
                replay::step_after(calibration, calibration.now, outcome));
  }
  std::printf("}}\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool alone = argc > 1 && std::strcmp(argv[1], "--alone") == 0;
  const int first = alone ? 2 : 1;
  if (argc <= first) return std::fprintf(stderr, "usage: what_if_bench [--alone] RUN [WORKERS:PREFETCH ...]\n"), 2;
  const auto run = record::read_run(argv[first]);
  if (!run) return std::fprintf(stderr, "what_if: %s\n", run.error().message().c_str()), 1;
  return what_if(*run, alone, argc - first - 1, argv + first + 1);
}
