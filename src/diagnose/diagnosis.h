// What judging yields: plain data, printed by src/report and compared by `fullbore compare`. An absent value was not
// measured (missing[] says why); it is never zero. Field names are the JSON keys of fullbore.report/1.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fullbore::diagnose {

enum class Severity { kNone, kNote, kWarning, kCritical };  // 5 %, 10 %, 20 % of step time
enum class Confidence { kHigh, kMedium, kLow };

struct Location {
  std::string file;
  int line = 0;
  std::string code;  // source text there, may be empty
};

struct Evidence {
  std::string metric;
  double value = 0;
  std::string unit;
  std::string source;  // "hook", "/proc/PID/schedstat", ...
};

// One DataLoader argument. Values as the user would write them ("4", "True").
struct Setting {
  std::string name;
  std::string before;
  std::string after;
};

struct Fix {
  std::string text;               // one change, in words
  std::vector<Setting> settings;  // what --fix=RUN applies; empty: not for a machine
  std::optional<Location> where;
  std::string diff;  // unified diff of the user's own line, or ""
  std::string risk;  // what it changes in results
  std::string next_command;
};

// Factors on throughput. Where no replay predicts, `kind` is "bound" and only max is set; else it is "replay". The
// interval is there for the causes that matter most.
struct Gain {
  std::optional<double> max;
  std::optional<double> predicted;
  std::optional<double> low;
  std::optional<double> high;
  std::string kind = "bound";
  std::string with;  // what was replayed: "with 6 workers"
};

// What a fix alters about the recorded loader, for the replay to predict its gain (docs/design/008-replay.md). Nothing
// altered: nothing is replayed, and the bound stands alone. Factors multiply what was recorded; 0 is "gone".
struct Change {
  std::optional<int> workers;      // num_workers
  std::optional<int> prefetch;     // prefetch_factor
  std::optional<bool> persistent;  // workers live on between epochs
  std::optional<double> cores;     // that this trainer and its workers may use
  std::optional<int> even_worker;  // this worker's samples cost what the others' do
  bool even_samples = false;       // slow samples cost what a typical one does
  double sample_cpu = 1;           // CPU time of making samples
  double sample_blocked = 1;       // time in which making samples waits for something else than a core
  double device_bytes = 1;         // bytes that making samples takes from the device
  double collate = 1;              // time of collating
  double handoff = 1;              // from the worker to the loop: queue, pin thread, unpickling
  double pin = 1;                  // of that the pin thread
  double sampler = 1;              // time in which the loop draws indices
  double start = 1;                // from asking for workers until they begin
  double body_less_ms = 0;         // less in the loop body, per step
  double pause_less_ms = 0;        // less standing still, per step of the whole run: checkpoints, validation
  std::string words;               // what was replayed: "with 6 workers", "with decoding at half its cost"

  bool operator==(const Change&) const = default;
};

struct Cause {
  std::string cause;  // stable id
  std::string stage;  // "decode", ..., "" where none applies
  Severity severity = Severity::kNone;
  double share = 0;     // of step time, exposed; causes are ranked by it
  std::string cost;     // what it cost where that is no share of a step: "the run ended at step 41"; else ""
  std::string summary;  // one sentence
  std::optional<Location> where;
  std::vector<Evidence> evidence;
  Fix fix;
  Change change;  // what the replay alters to predict the gain
  Gain gain;
  std::vector<std::string> why_not;  // the obvious change, and why it would not help
};

// What a replay of the changed loader waits for.
struct NextLimit {
  std::string limit;      // "model", "storage", "cores", "no_workers", "pin_thread", "workers", "order", "handoff"
  double wait_share = 0;  // of the step then
  double step_ms = 0;     // then
};

// Two changes that together gain more than either.
struct Pair {
  std::string first, second;  // causes
  Gain gain;
};

// Whether a replay of the loader explains this run, and what follows from it beyond each cause's gain.
struct ReplayFacts {
  std::optional<double> replayed_ms;  // the steady step under the present settings
  std::optional<double> error;        // of it, against the measured one
  std::string why;                    // nothing is predicted, "" if it is
  std::optional<NextLimit> next;      // after the first cause's change
  std::optional<Pair> pair;
};

struct Verdict {
  std::string cause = "insufficient_data";
  std::string stage;
  Severity severity = Severity::kNone;
  Confidence confidence = Confidence::kHigh;
  std::string confidence_why;  // what lowers it, "" where it is high
  std::string summary;
};

struct Part {
  double ms = 0;  // per step
  double share = 0;
};

// Ids and order of the parts of a step; they sum to 100 %.
inline constexpr std::array<const char*, 14> kPartIds = {
    "input_wait",      "h2d_exposed", "host_sync",  "launch",  "gpu_compute", "model", "device_gap",
    "collective_wait", "checkpoint",  "validation", "logging", "gc",          "other", "unknown"};

// Absent parts were not measured on this tier.
struct Account {
  std::string tier = "host";  // kernels, kernels_no_launch, events, gpm, nvml, host
  std::map<std::string, Part> parts;
  std::vector<std::pair<std::string, Part>> other;  // the named pieces of "other"
  double step_ms = 0;
};

// The exposed input wait by what the worker (or the training thread) was doing meanwhile.
struct InputWaitPart {
  std::string what;  // "decode", "open", "collate", "handoff", "worker_start", ...
  Part part;
  std::optional<double> on_cpu, runnable, blocked;  // shares of this part
};

struct Steps {
  std::int64_t count = 0;  // steady iterations judged
  std::int64_t warmup = 0;
  std::optional<double> mean_ms, p50_ms, p99_ms;
  std::optional<double> p5_ms, p95_ms;
  std::optional<double> sem_ms;  // standard error of mean_ms, autocorrelation included
  std::optional<double> wait_mean_ms, wait_p99_ms, wait_autocorrelation;
  std::optional<double> samples_per_s;
  std::optional<double> epoch_hours;
  std::optional<double> optimizer_steps_per_iteration;
};

struct LoaderFacts {
  std::optional<Location> where;
  std::string dataset_type, collate, start_method;
  std::optional<std::int64_t> dataset_length, batches, batch_size, workers, prefetch_factor;
  std::optional<bool> pin_memory, persistent_workers, drop_last, iterable;
  std::optional<double> batch_mb;
  std::string dtype;                // of the largest tensor of a batch: "torch.float32", "" unknown
  std::vector<std::int64_t> shape;  // of the same, four dimensions at most
  std::optional<double> tensor_mb;
  std::optional<double> sample_ms_p50, sample_ms_p99, sample_cpu_share;
  std::optional<double> batch_ms;                        // making one batch, mean
  std::optional<double> worker_busy;                     // share of time, mean over workers
  std::vector<std::pair<std::string, double>> stage_ms;  // per sample, by stage
};

struct LineTime {
  Location where;
  double ms = 0;  // per step
  double share = 0;
  std::string kind;  // wait, copy, blocking, model, pause
};

// What --fix did in this run: one setting of one loader. `after` is what was tried where it was left alone or taken
// back.
enum class FixOutcome : std::uint8_t { kApplied, kLeftAlone, kTakenBack };
struct FixAction {
  Location where;  // of the loader's construction
  Setting setting;
  FixOutcome outcome = FixOutcome::kApplied;
  std::string why;  // for the last two
};

struct FixReport {
  std::string mode;  // "exact", "plain", or the folder it was taken from
  std::vector<FixAction> actions;
  std::string random_streams;  // what it does to random numbers, in words
  std::string diff;            // the same change by hand
};

// Copies from the host out of one kind of memory, in the trace windows.
struct CopyFacts {
  std::int64_t count = 0;
  double bytes = 0;
  double ms = 0;  // all of them together
  std::optional<double> gb_per_s;
};

struct Copies {
  CopyFacts pageable, pinned;
  double h2d_ms_per_batch = 0;
  double exposed_share = 0;  // of the step: copied while no kernel ran
};

// Shares of the time by the length of the gap they lie in: below 1, 10 and 100 ms, and longer.
using GapShares = std::array<double, 4>;

// Why no kernel ran, as the ids of the account name it.
struct GpuIdle {
  std::string why;
  double share = 0;
  GapShares gaps = {};  // sum to it
};

// The device in the trace windows.
struct GpuFacts {
  std::int64_t windows = 0;
  std::int64_t steps = 0;  // whole ones in them
  double seen_ms = 0;      // of these
  double busy = 0;         // share in which a kernel ran
  double kernels_per_step = 0;
  GapShares gaps = {};        // without a kernel
  std::vector<GpuIdle> idle;  // the same by why, largest first
  double hidden_wait_ms = 0;  // waiting for input while kernels ran, per step: it cost nothing
};

struct Missing {
  std::string signal;
  std::string why;
};

struct Diagnosis {
  std::string run;      // folder
  std::string command;  // that was watched, quoted for a shell
  Verdict verdict;
  std::vector<Cause> causes;  // ranked
  ReplayFacts replay;
  Account account;  // steady
  Account whole;    // epoch edges, checkpoints, validation included
  std::vector<InputWaitPart> input_wait;
  std::optional<Copies> copies;  // nullopt: nothing was traced
  std::optional<GpuFacts> gpu;
  Steps steps;
  LoaderFacts loader;
  std::vector<LineTime> loop_lines;  // sum to the step
  std::vector<LineTime> dataset_lines;
  std::string line_tier;                                              // "monitoring", "windows", ""
  std::vector<std::pair<std::string, std::optional<double>>> system;  // flat metrics: "cpu.usable_cores", ...
  std::map<std::string, std::string> facts;                           // versions, mount, device names, ...
  std::optional<FixReport> fix;                                       // of a run with --fix
  std::vector<Missing> missing;
  std::vector<std::pair<std::string, std::optional<double>>> overhead;
  std::map<std::string, std::string> environment;
  std::string model_hash;
  std::optional<int> exit_code, signal;
  std::string changed_at;  // when the two halves disagree, or ""
};

}  // namespace fullbore::diagnose
