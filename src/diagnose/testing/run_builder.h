// Runs made in memory for tests: records by hand (RunBuilder), or of a simulated loader and training loop (simulate).
// Deterministic, no clock, no randomness.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/run.h"
#include "wire/records.h"

namespace fullbore::diagnose::testing {

constexpr std::int64_t ms(double value) {
  return static_cast<std::int64_t>(value * 1e6);
}

inline constexpr std::uint32_t kTrainerPid = 100;
inline constexpr std::int64_t kStartNs = 1'000'000'000;  // of every run

// Records with every optional field unknown; tests set what they are about.
wire::NextRecord next_record(std::int64_t begin_ns, std::int64_t end_ns, std::int64_t batch);
wire::BatchRecord batch_record(std::int64_t begin_ns, std::int64_t put_ns, std::int64_t batch, std::int32_t worker);
wire::StepRecord step_record(std::int64_t begin_ns, std::int64_t end_ns);
wire::LoaderRecord loader_record_of(std::uint32_t loader, std::int32_t workers);
wire::IteratorRecord iterator_record(std::int64_t begin_ns, std::uint32_t loader, std::uint32_t iterator,
                                     std::int32_t workers);
wire::IntervalRecord interval_record(wire::IntervalKind kind, std::int64_t begin_ns, std::int64_t end_ns);
wire::ProcessRecord process_record(wire::Role role, std::uint32_t parent_pid);

class RunBuilder {
 public:
  RunBuilder();
  wire::NameId name(std::string_view text);
  record::RankRecords& rank(int number = 0);
  void gauge(std::string_view metric, double value, std::string_view label = "");
  // A counter that rises steadily from 0 at start to `per_s` a second until end.
  void counter(std::string_view metric, double per_s, std::int64_t end_ns, std::string_view label = "");
  record::Run take();

  record::Run run;
};

// One training loop over one loader. Times in milliseconds.
struct Simulation {
  int workers = 0;
  int prefetch = 2;
  int batch = 32;
  int epochs = 1;
  int batches = 120;                       // per epoch
  double body_ms = 50;                     // the rest of the loop
  double sample_ms = 1;                    // wall without contention
  double cpu_share = 1;                    // of sample_ms; the rest is blocked
  std::vector<double> worker_factor = {};  // times sample_ms, by worker; missing ones 1
  int slow_every = 0;                      // every so-manieth sample ...
  double slow_ms = 0;                      // ... takes this
  double collate_ms = 1;
  double handoff_ms = 0.2;  // on the way to the training process
  double unpickle_ms = 0;   // of each batch, in next
  double sampler_ms = 0;    // drawing the indices of a batch, in next
  int long_every = 0;       // every so-manieth loop body ...
  double long_ms = 0;       // ... takes this
  bool persistent = true;
  double start_ms = 0;  // of workers, each epoch unless persistent
  double stop_ms = 0;
  int checkpoint_every = 0;  // iterations
  double checkpoint_ms = 0;
  double validation_ms = 0;                // after each epoch, with another loader
  double cores = 8;                        // that the job may use
  double neighbour_cores = 0;              // of them kept busy by others
  std::optional<double> quota_cores = {};  // set: throttled when all of it is wanted
  double body_cpu_ms = 1;                  // CPU time of the loop body
  std::map<wire::Stage, double> stages = {{wire::Stage::kDecode, 0.7}, {wire::Stage::kRead, 0.1}};
  double kernel_share = 0;      // of the workers' CPU time, for ...
  double faults_us = 2.5;       // ... page faults that take this each
  double read_bytes_share = 0;  // of the bytes asked for, from the device
  double device_busy = 0, device_queue = 0;
  std::string device = "cpu";  // of the model
  int rank = 0;
};

// Samples that are read from a device, which is busy all of the time with so many requests.
Simulation reading_from_a_device(int workers, double device_queue);

record::Run simulate(const Simulation& simulation);
// Adds another rank's loop to a run.
void simulate_into(RunBuilder& builder, const Simulation& simulation);

}  // namespace fullbore::diagnose::testing
