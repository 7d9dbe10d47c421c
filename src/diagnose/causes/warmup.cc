// What is done once for a program, or once for each size of a batch, takes a part of the run: compiling, trying which
// kernel is fastest, taking memory. The loop itself computes then; the loader has nothing to do with it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"
#include "diagnose/statistics.h"

namespace fullbore::diagnose {
namespace {

// Nobody changes anything for less, and every short trial would be blamed for what a real run does not notice.
constexpr double kWorthNs = 15e9;
constexpr double kSlow = 3;            // times what its size lets expect
constexpr std::size_t kLeastSlow = 3;  // steps
constexpr std::size_t kLeastSeen = 10;
constexpr double kMoreOften = 5;  // among steps of a new size than among the others
constexpr double kLonger = 10;    // a run of so many times the steps, for comparison

// One step's own work: without its wait for input, and without what stood still for a reason of its own.
struct Body {
  double ns = 0;
  std::optional<double> cpu_ns;
  std::optional<double> bytes;  // of its batch
  bool new_size = false;        // no earlier batch had so many
};

bool is_other_pause(Claim claim) {
  return claim != Claim::kBlockingRead && claim != Claim::kCopyCall;
}

double paused_ns(const std::vector<Stretch>& stretches, const Iteration& iteration) {
  const auto first = std::ranges::upper_bound(stretches, iteration.wait_end_ns, {}, &Stretch::end_ns);
  double sum = 0;
  for (auto one = first; one != stretches.end() && one->begin_ns < iteration.end_ns; ++one) {
    if (!is_other_pause(one->claim)) continue;
    sum +=
        static_cast<double>(std::min(one->end_ns, iteration.end_ns) - std::max(one->begin_ns, iteration.wait_end_ns));
  }
  return sum;
}

// Of all iterations, warm-up included; those in which something else happened are left at 0.
std::vector<Body> bodies_of(const Situation& situation) {
  const auto& all = situation.iterations.all;
  std::vector<Body> bodies(all.size());
  std::set<std::int64_t> sizes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Iteration& iteration = all[i];
    if (iteration.next != nullptr && iteration.next->batch_bytes != wire::kUnknown) {
      bodies[i].bytes = static_cast<double>(iteration.next->batch_bytes);
      bodies[i].new_size = sizes.insert(iteration.next->batch_bytes).second;
    }
    if (iteration.edge || iteration.paused || iteration.hole || iteration.traced) continue;
    const double ns = static_cast<double>(iteration.end_ns - iteration.wait_end_ns);
    bodies[i].ns = std::max(0.0, ns - paused_ns(situation.stretches, iteration));
    const wire::NextRecord* following = i + 1 < all.size() ? all[i + 1].next : nullptr;
    if (following != nullptr && following->loop_cpu_ns != wire::kUnknown)
      bodies[i].cpu_ns = static_cast<double>(following->loop_cpu_ns);
  }
  return bodies;
}

std::optional<Location> model_line(const Situation& situation) {
  const ProfiledLine* line = situation.profile.loop.line_of(wire::Stage::kModel);
  return line == nullptr ? std::nullopt : std::optional(line->where);
}

Cause warmup_cause(double share, const Situation& situation) {
  Cause cause = make_cause("warmup", share, situation);
  cause.where = cause.fix.where = model_line(situation);
  cause.gain = bound_without(share);
  cause.why_not.push_back("workers, prefetching or pinning: the batch was there, the loop itself took long");
  return cause;
}

// Steps whose batch has a size that was not there before, against those of known sizes.
struct Sizes {
  double typical_ns = 0, typical_bytes = 0;  // of known ones
  std::size_t fresh = 0, known = 0;
  std::size_t slow_fresh = 0, slow_known = 0;
  double extra_ns = 0;  // of the slow fresh ones
  double slow_ns = 0, slow_cpu_ns = 0;
  bool cpu_known = true;

  // Attention grows with the square of the length: nothing that is usual here grows faster.
  double expected_ns(double bytes) const {
    const double ratio = std::max(1.0, bytes / std::max(1.0, typical_bytes));
    return typical_ns * ratio * ratio;
  }
  bool blamed() const {
    if (slow_fresh < kLeastSlow || known < kLeastSeen) return false;
    const double among_fresh = static_cast<double>(slow_fresh) / static_cast<double>(fresh);
    return among_fresh >= kMoreOften * static_cast<double>(slow_known) / static_cast<double>(known);
  }
};

Sizes compare_sizes(const Situation& situation, const std::vector<Body>& bodies) {
  Sizes sizes;
  std::vector<const Body*> judged;
  std::vector<double> known_ns, known_bytes;
  for (std::size_t i = situation.iterations.warmup; i < bodies.size(); ++i) {
    if (bodies[i].ns <= 0 || !bodies[i].bytes) continue;
    judged.push_back(&bodies[i]);
    if (bodies[i].new_size) continue;
    known_ns.push_back(bodies[i].ns);
    known_bytes.push_back(*bodies[i].bytes);
  }
  if (known_ns.empty()) return sizes;
  sizes.typical_ns = *median(std::move(known_ns));
  sizes.typical_bytes = *median(std::move(known_bytes));
  for (const Body* body : judged) {
    const double expected = sizes.expected_ns(*body->bytes);
    const bool slow = body->ns >= kSlow * expected;
    ++(body->new_size ? sizes.fresh : sizes.known);
    if (slow) ++(body->new_size ? sizes.slow_fresh : sizes.slow_known);
    if (!slow || !body->new_size) continue;
    sizes.extra_ns += body->ns - expected;
    sizes.slow_ns += body->ns;
    sizes.slow_cpu_ns += body->cpu_ns.value_or(0);
    sizes.cpu_known = sizes.cpu_known && body->cpu_ns;
  }
  return sizes;
}

std::optional<Cause> new_sizes(const Situation& situation, const std::vector<Body>& bodies) {
  const Sizes sizes = compare_sizes(situation, bodies);
  if (!sizes.blamed() || situation.whole.total_ns <= 0) return std::nullopt;
  const double share = sizes.extra_ns / situation.whole.total_ns;
  if (share < kNoteShare) return std::nullopt;

  Cause cause = warmup_cause(share, situation);
  const double each_ms = sizes.slow_ns / 1e6 / static_cast<double>(sizes.slow_fresh);
  cause.summary = fmt::format(
      "Of {} steps whose batch has a size that was not there before, {} take {} each instead of {}{}: something is "
      "compiled or tried anew for each size, {} of all time; with sizes that come again training would be at most {} "
      "faster.",
      sizes.fresh, sizes.slow_fresh, milliseconds(each_ms), milliseconds(sizes.typical_ns / 1e6), in_place(cause.where),
      percent(share), factor(*cause.gain.max));
  add_evidence(cause, "steps with a new size", static_cast<double>(sizes.fresh), "", "hook");
  add_evidence(cause, "of them slow", static_cast<double>(sizes.slow_fresh), "", "hook");
  add_evidence(cause, "steps with a known size", static_cast<double>(sizes.known), "", "hook");
  add_evidence(cause, "of them slow", static_cast<double>(sizes.slow_known), "", "hook");
  add_evidence(cause, "a slow one, without its wait for input", each_ms, "ms", "hook");
  add_evidence(cause, "a step with a known size", sizes.typical_ns / 1e6, "ms", "hook");
  if (sizes.cpu_known)
    add_evidence(cause, "the thread on a core in the slow ones", std::min(1.0, sizes.slow_cpu_ns / sizes.slow_ns),
                 "share", "hook");
  cause.fix.text =
      "give batches few sizes: pad to multiples (of 64, 128), or put samples of like length together; with "
      "torch.compile one program for all sizes (dynamic=True, or torch._dynamo.mark_dynamic(batch, 1)); with "
      "convolutions torch.backends.cudnn.benchmark = False; drop_last=True where only the last batch is smaller";
  cause.fix.risk = "padding needs a mask; other kernels round differently; drop_last leaves out samples";
  return cause;
}

// The first steps, against the steady ones.
struct Beginning {
  std::size_t slow = 0;
  double extra_ns = 0, wait_ns = 0, span_ns = 0;
  double typical_ns = 0;
  double share() const { return span_ns > 0 ? extra_ns / span_ns : 0; }
  double share_if_longer() const { return extra_ns / (extra_ns + kLonger * (span_ns - extra_ns)); }
};

Beginning beginning_of(const Situation& situation, const std::vector<Body>& bodies) {
  Beginning beginning;
  const Iterations& iterations = situation.iterations;
  std::vector<double> steady_ns;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (iterations.all[i].steady && bodies[i].ns > 0) steady_ns.push_back(bodies[i].ns);
  }
  if (steady_ns.empty()) return beginning;
  beginning.typical_ns = *median(std::move(steady_ns));
  beginning.span_ns = static_cast<double>(iterations.whole_end_ns - iterations.all.front().begin_ns);
  for (std::size_t i = 0; i < iterations.warmup; ++i) {
    if (bodies[i].ns < kSlow * beginning.typical_ns) continue;
    ++beginning.slow;
    beginning.extra_ns += bodies[i].ns - beginning.typical_ns;
    beginning.wait_ns += static_cast<double>(iterations.all[i].wait_ns());
  }
  return beginning;
}

// A run that was watched for a while only says nothing of how long the training is.
bool ran_to_its_end(const Situation& situation) {
  return situation.run->info.stopped_by == "command ended" && !situation.run->info.signal;
}

std::optional<Cause> slow_beginning(const Situation& situation, const std::vector<Body>& bodies) {
  if (!ran_to_its_end(situation)) return std::nullopt;
  const Beginning beginning = beginning_of(situation, bodies);
  if (beginning.extra_ns < kWorthNs || beginning.share() < kWarningShare) return std::nullopt;

  Cause cause = warmup_cause(beginning.share(), situation);
  const std::size_t steps = situation.iterations.all.size();
  cause.summary = fmt::format(
      "The first {} {} longer than later ones{}: what is compiled, tried and set up once is {} of this run of {} "
      "steps; of one of {} steps it would be {}.",
      beginning.slow == 1 ? "step takes" : fmt::format("{} steps take", beginning.slow),
      milliseconds(beginning.extra_ns / 1e6), in_place(cause.where), percent(beginning.share()), steps,
      static_cast<std::size_t>(kLonger) * steps, percent(beginning.share_if_longer()));
  add_evidence(cause, "slow steps at the start", static_cast<double>(beginning.slow), "", "hook");
  add_evidence(cause, "what they take beyond a later one, together", beginning.extra_ns / 1e6, "ms", "hook");
  add_evidence(cause, "waiting for input in them", beginning.wait_ns / 1e6, "ms", "hook");
  add_evidence(cause, "a later one, without its wait for input", beginning.typical_ns / 1e6, "ms", "hook");
  add_evidence(cause, "of a run of ten times the steps", beginning.share_if_longer(), "share", "hook");
  cause.fix.text =
      "nothing, if real runs are much longer; else keep what is compiled (TORCHINDUCTOR_CACHE_DIR on a disk that "
      "stays, with TORCHINDUCTOR_FX_GRAPH_CACHE=1), compile the block that repeats instead of the whole model, or "
      "leave out torch.compile and torch.backends.cudnn.benchmark";
  cause.fix.risk = "none for results, but that other kernels round differently";
  return cause;
}

}  // namespace

std::optional<Cause> warmup(const Situation& situation) {
  if (situation.iterations.all.empty()) return std::nullopt;
  const std::vector<Body> bodies = bodies_of(situation);
  if (auto cause = new_sizes(situation, bodies)) return cause;
  return slow_beginning(situation, bodies);
}

}  // namespace fullbore::diagnose
