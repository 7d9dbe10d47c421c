// How long the report of an hour takes: a loop of 10 ms steps fed by four workers is written to a run folder as the
// collector would, read back, judged and printed. Number to reach: under 2 s.
#include <unistd.h>

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

std::string write_hour(const std::string& folder) {
  const record::Run run = diagnose::testing::simulate(
      {.workers = 4, .batch = 8, .epochs = 10, .batches = 36'000, .body_ms = 10, .sample_ms = 4, .cores = 8});
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
  out.flush(true);
  return folder;
}

}  // namespace

int main() {
  std::string name = (std::filesystem::temp_directory_path() / "fullbore-hour-XXXXXX").string();
  const std::filesystem::path base = mkdtemp(name.data());
  const std::string folder = write_hour((base / "run").string());
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const record::Run run = record::read_run(folder).value();
    const auto read = std::chrono::steady_clock::now();
    const std::string text = report::terminal_text(diagnose::diagnose(run), {});
    const auto end = std::chrono::steady_clock::now();
    const std::chrono::duration<double> reading = read - start;
    const std::chrono::duration<double> whole = end - start;
    std::printf("%zu steps: read %.2f s, with judging and text %.2f s (limit 2 s), %zu bytes of text\n",
                run.ranks.at(0).steps.size(), reading.count(), whole.count(), text.size());
  }
  std::filesystem::remove_all(base);
}
