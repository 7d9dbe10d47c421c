// Signals meant for the training. A terminal sends them to the whole process group, so the command has them already; a
// `kill PID` reaches the launcher alone and must be passed on. The collector, in the same group, is the witness that
// tells the two apart: without it every Ctrl-C would arrive twice or every `kill` not at all.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/file_reader.h"
#include "base/unique_fd.h"

namespace fullbore::observe {

inline constexpr int kSignals = 65;

// Every signal that can be sent with a purpose: all but KILL and STOP (nobody can catch them), CHLD (ours), and faults.
sigset_t relayed_signals();

// In memory that launcher and collector share. The collector writes all but `stopped_with_command`.
struct WitnessPage {
  struct Seen {
    std::atomic<std::uint32_t> count;
    std::atomic<std::int64_t> last_ns;
  };
  std::array<Seen, kSignals> seen;
  std::atomic<std::uint32_t> taking;                // the collector has taken a signal that it has not counted yet
  std::atomic<std::uint32_t> stopped_with_command;  // the launcher stopped itself because the command was stopped
};

// The collector's side: takes what reached it. The signals must be blocked.
class WitnessRecorder {
 public:
  WitnessRecorder(WitnessPage& page, const base::Clock& clock);
  int fd() const { return fd_.get(); }
  // Call when fd() is readable; never blocks.
  void take();

 private:
  WitnessPage& page_;
  const base::Clock& clock_;
  base::UniqueFd fd_;
};

// The launcher's side.
class SignalWitness {
 public:
  SignalWitness(const WitnessPage& page, std::uint32_t collector_pid, const base::FileReader& files,
                const base::Clock& clock)
      : page_(page), pid_(collector_pid), files_(files), clock_(clock) {}

  // Did the signal that the launcher just got reach the collector too? Waits up to 10 ms to be sure that it did not.
  bool reached_group(int signal);

 private:
  bool pending(int signal) const;
  bool taken(int signal) const;

  const WitnessPage& page_;
  std::uint32_t pid_;
  const base::FileReader& files_;
  const base::Clock& clock_;
  std::array<std::uint32_t, kSignals> accounted_ = {};
};

// Bits of SigPnd and ShdPnd in the text of /proc/PID/status.
std::uint64_t pending_signals(std::string_view status);

// Ends this process as the command ended: its exit code, or the same signal with its default action and no second core
// file. As PID 1, which no signal ends, exit code 128 + n. Async-signal-safe.
[[noreturn]] void end_like(int wait_status);

}  // namespace fullbore::observe
