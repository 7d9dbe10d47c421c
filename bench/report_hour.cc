// How long the report of an hour takes: a loop that waits for four workers, one of them slow, and stops for checkpoints
// is written to a run folder as the collector would, read back, judged with all its replays and printed. Number to
// reach: under 2 s. The readings of samplers are a few series here, and come from memory.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"
#include "record/run_writer.h"
#include "report/text.h"

namespace {

using namespace fullbore;

template <typename T>
void write(const std::vector<record::From<T>>& records, auto time_of, base::FakeClock& clock, record::RunWriter& out) {
  std::vector<std::byte> bytes(sizeof(wire::RecordHeader) + sizeof(T));
  const wire::RecordHeader header{wire::KindOf<T>::value, static_cast<std::uint16_t>(bytes.size()), 0};
  std::memcpy(bytes.data(), &header, sizeof header);
  for (const auto& [payload, pid, tid] : records) {
    clock.advance_ns(std::max<std::int64_t>(0, time_of(payload) - clock.now_ns()));
    std::memcpy(bytes.data() + sizeof header, &payload, sizeof payload);
    out.append(0, pid, tid, bytes);
    out.flush();
  }
}

record::Run hour() {
  return diagnose::testing::simulate({.workers = 4,
                                      .batch = 8,
                                      .epochs = 10,
                                      .batches = 36'000,
                                      .body_ms = 6,
                                      .sample_ms = 3,
                                      .worker_factor = {1, 1, 1, 2.5},
                                      .checkpoint_every = 100,
                                      .checkpoint_ms = 300,
                                      .validation_ms = 30'000,
                                      .cores = 8});
}

std::string write_hour(const record::Run& run, const std::string& folder) {
  base::FakeClock clock;
  record::RunWriter out = record::RunWriter::create({folder}, clock).value();
  out.write_info(run.info).value();
  const record::RankRecords& rank = run.ranks.at(0);
  const auto begin = [](const auto& payload) { return payload.begin_ns; };
  const auto time = [](const auto& payload) { return payload.time_ns; };
  write(rank.processes, time, clock, out);
  write(rank.loaders, time, clock, out);
  write(rank.iterators, begin, clock, out);
  write(rank.nexts, begin, clock, out);
  write(rank.batches, begin, clock, out);
  write(rank.samples, begin, clock, out);
  write(rank.steps, begin, clock, out);
  write(rank.intervals, begin, clock, out);
  out.flush(true);
  return folder;
}

}  // namespace

int main() {
  std::string name = (std::filesystem::temp_directory_path() / "fullbore-hour-XXXXXX").string();
  const std::filesystem::path base = mkdtemp(name.data());
  const record::Run simulated = hour();
  const std::string folder = write_hour(simulated, (base / "run").string());
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    record::Run run = record::read_run(folder).value();
    run.series = simulated.series;
    const auto read = std::chrono::steady_clock::now();
    const diagnose::Diagnosis diagnosis = diagnose::diagnose(run);
    const std::string text = report::terminal_text(diagnosis, {});
    const auto end = std::chrono::steady_clock::now();
    const std::chrono::duration<double> reading = read - start;
    const std::chrono::duration<double> whole = end - start;
    const auto intervals =
        std::ranges::count_if(diagnosis.causes, [](const auto& cause) { return cause.gain.low.has_value(); });
    std::printf(
        "%zu steps: read %.2f s, with judging and text %.2f s (limit 2 s); %zu causes, %td with an interval%s\n",
        run.ranks.at(0).steps.size(), reading.count(), whole.count(), diagnosis.causes.size(), intervals,
        diagnosis.replay.pair ? ", a pair" : "");
  }
  std::filesystem::remove_all(base);
}
