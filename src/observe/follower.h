// Follows a running command to its end: relays what was meant for it, stops and continues with it, ends the observation
// when it is time, and has the report made, all without keeping the command waiting.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/file_reader.h"
#include "base/unique_fd.h"
#include "observe/collector_process.h"
#include "observe/launcher.h"
#include "observe/signals.h"
#include "observe/spawn.h"

namespace fullbore::observe {

// One thread; options and writer outlive it. All relayed signals and SIGCHLD are blocked.
class Follower {
 public:
  Follower(LaunchOptions& options, record::RunWriter& writer, CollectorProcess collector, std::string rings,
           pid_t command, const InheritedSignals& inherited);

  // The command's wait status, when command, observation and report are over.
  int follow();

 private:
  enum class Phase { kWatching, kFinishing, kReporting, kDone };

  int timeout_ms() const;
  void check_times();
  void take_signals();
  void take_signal(const signalfd_siginfo& info);
  void relay(const signalfd_siginfo& info);
  void reap();
  void stop_with_command();
  void take_news();
  void collector_is_gone(const std::string& why);
  void say_why_nothing_was_heard();
  void end_observation(const std::string& why);
  void interrupt_training();
  void write_info();
  void start_report();
  void skip_report();
  void report_has_ended(int wait_status);
  std::string make_it_with() const;

  LaunchOptions& options_;
  record::RunWriter& writer_;
  CollectorProcess collector_;
  std::string rings_;
  pid_t command_;
  const InheritedSignals& inherited_;
  base::RealFiles files_;
  base::MonotonicClock clock_;
  SignalWitness witness_;
  base::UniqueFd signals_;

  Phase phase_ = Phase::kWatching;
  std::optional<int> ended_;      // wait status of the command
  bool collector_lives_ = true;   // as a process
  bool collector_speaks_ = true;  // until its summary or the end of file
  pid_t reporter_ = -1;
  int interrupts_ = 0;
  bool skip_report_ = false;
  std::optional<std::int64_t> watch_until_ns_;
  std::int64_t finish_until_ns_ = 0;
};

}  // namespace fullbore::observe
