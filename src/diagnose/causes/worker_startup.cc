// Starting the workers takes so long that it is a part of the run by itself: spawned interpreters that import
// everything anew, a large dataset that is pickled for each.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Seconds: nobody waits for less, and a short run would be blamed for what a long one does not notice.
constexpr double kWorthNs = 3e9;

struct Start {
  double made_ns = 0;   // until torch had started the processes
  double begun_ns = 0;  // after that, until the awaited one had its first index in hand
  double span_ns = 0;   // from the first start to the last thing known of this loop

  double lost_ns() const { return made_ns + begun_ns; }
};

// The first pass that starts workers; those of later epochs are worker_restart's.
std::optional<Start> first_start(const Situation& situation) {
  const auto& iterators = situation.trainer->iterators;
  const auto first = std::ranges::find_if(iterators, [](const auto* one) { return one->workers > 0; });
  if (first == iterators.end() || ((*first)->flags & wire::kReset) != 0) return std::nullopt;
  Start start;
  start.made_ns = static_cast<double>((*first)->end_ns - (*first)->begin_ns);
  start.span_ns = static_cast<double>(situation.iterations.whole_end_ns - (*first)->begin_ns);
  const auto& nexts = situation.trainer->nexts;
  const auto next = std::ranges::find_if(nexts, [&](const auto* one) { return one->iterator == (*first)->iterator; });
  if (next == nexts.end()) return start;
  for (const Maker& maker : situation.makers.workers) {
    if (maker.worker != (*next)->worker || maker.made.empty()) continue;
    const std::int64_t begun = std::clamp(maker.made.front().batch->begin_ns, (*next)->begin_ns, (*next)->end_ns);
    start.begun_ns = static_cast<double>(begun - (*next)->begin_ns);
  }
  return start;
}

bool restarts(const Situation& situation) {
  const auto starts = std::ranges::count_if(situation.trainer->iterators, [](const auto* one) {
    return one->workers > 0 && (one->flags & wire::kReset) == 0;
  });
  return starts > 1;
}

}  // namespace

std::optional<Cause> worker_startup(const Situation& situation) {
  if (!has_workers(situation) || restarts(situation)) return std::nullopt;
  const auto start = first_start(situation);
  if (!start || start->lost_ns() < kWorthNs || start->span_ns <= 0) return std::nullopt;
  const double share = start->lost_ns() / start->span_ns;
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("worker_startup", share, situation);
  cause.stage = "worker_start";
  cause.gain = bound_without(share);
  const std::string& method = situation.loader.start_method;
  const bool is_fork = method == "fork" || method.empty();
  cause.summary =
      fmt::format("Before the first batch {} pass until {} worker{}{} {} started{}: {} of this run so far.",
                  milliseconds(start->lost_ns() / 1e6), *situation.loader.workers,
                  *situation.loader.workers == 1 ? "" : "s", is_fork ? "" : fmt::format(" (start method {})", method),
                  *situation.loader.workers == 1 ? "has" : "have", in_place(situation.loader.where), percent(share));
  add_evidence(cause, "until the processes were started", start->made_ns / 1e6, "ms", "hook");
  add_evidence(cause, "then until the first had begun", start->begun_ns / 1e6, "ms", "hook");
  add_evidence(cause, "of this run so far", share, "share", "hook");
  cause.fix.text =
      is_fork
          ? "make worker_init_fn and what the dataset opens or loads at first use cheaper; it is done once per worker"
          : "let workers share what they need: multiprocessing_context=\"forkserver\" with "
            "multiprocessing.set_forkserver_preload([...]), imports that only training needs under "
            "if __name__ == \"__main__\", and a dataset that holds paths, not data (it is pickled for every worker)";
  cause.fix.risk = "none for results";
  cause.why_not.push_back("persistent_workers=True: these workers were started once only");
  return cause;
}

}  // namespace fullbore::diagnose
