#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/words.h"

namespace fullbore::report {
namespace {

using namespace diagnose;
using Row = Comparison::Row;

// Without a spread a smaller change than this is called none.
constexpr double kNoticeable = 0.03;
constexpr double kTwoSided95 = 1.96;

enum class Better { kHigher, kLower, kNeither };

// `unsaid`: where the run does not name the signal.
std::string reason(const Diagnosis& d, std::string_view signal, std::string_view unsaid) {
  for (const Missing& m : d.missing) {
    if (m.signal == signal) return m.why;
  }
  for (const Missing& m : d.missing) {
    if (m.signal.starts_with(std::string(signal) + ".")) return m.why;
  }
  return std::string(unsaid);
}

// `signal` is where missing[] would name the reason.
Row row(std::string id, std::string label, std::string unit,
        std::pair<std::optional<double>, std::optional<double>> values, Better better, const Diagnosis& before,
        const Diagnosis& after, std::string_view signal) {
  Row result{std::move(id), std::move(label), std::move(unit), values.first, values.second, std::nullopt, ""};
  if (!values.first || !values.second) {
    result.why =
        reason(values.first ? after : before, signal, signal == "gpu" ? "no GPU counters were read" : "not measured");
  } else if (better != Better::kNeither && *values.first > 0 && *values.second > 0) {
    result.factor = better == Better::kHigher ? *values.second / *values.first : *values.first / *values.second;
  }
  return result;
}

std::optional<Part> part(const Account& account, const std::string& id) {
  const auto found = account.parts.find(id);
  return found == account.parts.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> whole_ms(const Diagnosis& d) {
  return d.whole.parts.empty() ? std::nullopt : std::optional(d.whole.step_ms);
}

std::optional<double> cost_of_1000(const Diagnosis& d, double price_per_hour) {
  const auto ms = whole_ms(d) ? whole_ms(d) : d.steps.mean_ms;
  return ms ? std::optional(price_per_hour * *ms * 1000 / 3.6e6) : std::nullopt;
}

std::optional<double> gpu_busy(const Diagnosis& d) {
  return d.gpu ? std::optional(d.gpu->busy) : std::nullopt;
}

std::optional<double> h2d_ms(const Diagnosis& d) {
  return d.copies ? std::optional(d.copies->h2d_ms_per_batch) : std::nullopt;
}

std::optional<double> h2d_rate(const Diagnosis& d) {
  if (!d.copies) return std::nullopt;
  const double ms = d.copies->pageable.ms + d.copies->pinned.ms;
  return ms > 0 ? std::optional((d.copies->pageable.bytes + d.copies->pinned.bytes) / 1e6 / ms) : std::nullopt;
}

std::vector<Row> rows_of(const Diagnosis& a, const Diagnosis& b, const CompareOptions& options) {
  const auto steps = [&](auto member) { return std::pair(a.steps.*member, b.steps.*member); };
  const auto wait = [&](auto member) {
    const auto get = [&](const Diagnosis& d) {
      const auto p = part(d.account, "input_wait");
      return p ? std::optional((*p).*member) : std::nullopt;
    };
    return std::pair(get(a), get(b));
  };
  std::vector<Row> rows = {
      row("samples_per_s", "samples/s", "", steps(&Steps::samples_per_s), Better::kHigher, a, b, "steps"),
      row("step_mean_ms", "step mean", "ms", steps(&Steps::mean_ms), Better::kLower, a, b, "steps"),
      row("step_p50_ms", "step p50", "ms", steps(&Steps::p50_ms), Better::kLower, a, b, "steps"),
      row("step_p99_ms", "step p99", "ms", steps(&Steps::p99_ms), Better::kLower, a, b, "steps"),
      row("whole_step_ms", "step mean, whole run", "ms", {whole_ms(a), whole_ms(b)}, Better::kLower, a, b, "steps"),
      row("input_wait_ms", "input wait", "ms", wait(&Part::ms), Better::kNeither, a, b, "input_wait"),
      row("input_wait_share", "input wait, share", "share", wait(&Part::share), Better::kNeither, a, b, "input_wait"),
      row("gpu_busy", "GPU busy", "share", {gpu_busy(a), gpu_busy(b)}, Better::kHigher, a, b, "gpu"),
      row("h2d_ms_per_batch", "H2D per batch", "ms", {h2d_ms(a), h2d_ms(b)}, Better::kLower, a, b, "gpu"),
      row("pcie_gb_per_s", "PCIe to the GPU", "GB/s", {h2d_rate(a), h2d_rate(b)}, Better::kNeither, a, b, "gpu"),
      row("epoch_hours", "epoch", "h", steps(&Steps::epoch_hours), Better::kLower, a, b, "epoch"),
  };
  if (options.price_per_hour) {
    const double price = *options.price_per_hour;
    rows.push_back(row("cost_per_1000_iterations", "1000 iterations cost", "",
                       {cost_of_1000(a, price), cost_of_1000(b, price)}, Better::kLower, a, b, "steps"));
  }
  return rows;
}

// Causes that live at the edges of epochs do not show in the steady step.
bool lives_at_the_edges(const std::string& cause) {
  return cause == "worker_restart" || cause == "worker_startup" || cause == "checkpoint_pause" ||
         cause == "validation_pause";
}

void judge_steady(Comparison& c, const Steps& a, const Steps& b) {
  if (!a.mean_ms || !b.mean_ms || *a.mean_ms <= 0 || *b.mean_ms <= 0) return;
  c.basis = "steady";
  c.factor = *a.mean_ms / *b.mean_ms;
  double low = *c.factor - kNoticeable, high = *c.factor + kNoticeable;
  if (a.sem_ms && b.sem_ms) {
    // First order: the relative error of a quotient is the root of the sum of squares.
    const double margin = kTwoSided95 * std::hypot(*a.sem_ms / *a.mean_ms, *b.sem_ms / *b.mean_ms);
    c.low = low = *c.factor * std::max(0.0, 1 - margin);
    c.high = high = *c.factor * (1 + margin);
  }
  c.outcome = low > 1    ? Comparison::Outcome::kFaster
              : high < 1 ? Comparison::Outcome::kSlower
                         : Comparison::Outcome::kUnchanged;
}

void judge_whole(Comparison& c, double before, double after) {
  if (before <= 0 || after <= 0) return;
  c.basis = "whole";
  c.factor = before / after;
  c.outcome = *c.factor > 1 + kNoticeable   ? Comparison::Outcome::kFaster
              : *c.factor < 1 - kNoticeable ? Comparison::Outcome::kSlower
                                            : Comparison::Outcome::kUnchanged;
}

// Run folders are told by their own names: the path to them may be written in two ways.
std::string_view folder_name(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

// Does `--fix` apply what was predicted? Advice such as "copy the data" may come with settings that help until then.
bool plays_its_settings(const diagnose::Cause& cause) {
  diagnose::Change others = cause.change;
  others.workers = others.prefetch = std::nullopt;
  others.persistent = std::nullopt;
  others.words.clear();
  return !cause.fix.settings.empty() && others == diagnose::Change{};
}

template <typename T>
void note_difference(std::vector<std::string>& list, std::string_view what, const std::optional<T>& a,
                     const std::optional<T>& b) {
  if (a && b && *a != *b) list.push_back(fmt::format("{} {} and {}", what, *a, *b));
}

Comparison::Side side_of(const Diagnosis& d) {
  return {d.run, d.command, d.fix ? d.fix->mode : ""};
}

}  // namespace

std::vector<std::string> differences(const Diagnosis& before, const Diagnosis& after) {
  std::vector<std::string> list;
  note_difference(list, "batch size", before.loader.batch_size, after.loader.batch_size);
  note_difference(list, "dataset length", before.loader.dataset_length, after.loader.dataset_length);
  if (!before.model_hash.empty() && !after.model_hash.empty() && before.model_hash != after.model_hash) {
    list.push_back(fmt::format("model {} and {} (hash of the optimiser's parameter shapes and types)",
                               before.model_hash, after.model_hash));
  }
  return list;
}

Comparison compare(const Diagnosis& before, const Diagnosis& after, const CompareOptions& options) {
  Comparison c;
  c.before = side_of(before);
  c.after = side_of(after);
  c.rows = rows_of(before, after, options);
  if (lives_at_the_edges(before.verdict.cause) && whole_ms(before) && whole_ms(after)) {
    judge_whole(c, *whole_ms(before), *whole_ms(after));
  } else {
    judge_steady(c, before.steps, after.steps);
  }
  if (!before.causes.empty()) {
    c.bound = before.causes.front().gain.max;
    c.predicted = before.causes.front().gain.predicted;
    c.predicted_low = before.causes.front().gain.low;
    c.predicted_high = before.causes.front().gain.high;
    c.bound_cause = before.causes.front().cause;
    c.as_recommended = after.fix && !before.run.empty() && folder_name(after.fix->mode) == folder_name(before.run) &&
                       plays_its_settings(before.causes.front());
  }
  return c;
}

}  // namespace fullbore::report
