// Writes a run folder: run.json, system.fbr and rank-N/records.fbr in compressed, checksummed frames, each complete by
// itself, so that a run cut short at any byte is readable up to there. Keeps to the budget of 2 MB per minute.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "record/run.h"
#include "wire/records.h"

namespace fullbore::record {

struct RunWriterOptions {
  std::string folder;  // made with mode 0700; must not exist
  std::uint64_t budget_bytes_per_minute = 2'000'000;
};

// Owned by one thread. Errors after creation (disk full) are kept, told once by error(), and end the writing; the
// watched command never notices.
class RunWriter {
 public:
  static base::Expected<RunWriter> create(const RunWriterOptions& options, const base::Clock& clock);
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;
  ~RunWriter();

  const std::string& folder() const;

  // Whole records (headers included) of one thread. rank kUnknown32 counts as 0. Damaged ones are skipped and counted.
  void append(std::int32_t rank, std::uint32_t pid, std::uint32_t tid, std::span<const std::byte> records);
  // Records of the collector itself, to system.fbr.
  void append_system(std::span<const std::byte> records);
  // Writes frames that are a second old or 64 KiB large; `all` also the rest. Call about ten times a second.
  void flush(bool all = false);
  // Replaces run.json atomically.
  base::Expected<void> write_info(const RunInfo& info);

  // First error met, "" if none.
  const std::string& error() const;
  std::uint64_t bytes_written() const;

 private:
  struct State;
  explicit RunWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fullbore::record
