#include "observe/follower.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "observe/command.h"
#include "observe/process_tree.h"
#include "observe/ring_directory.h"

namespace fullbore::observe {
namespace {

// A collector that does not finish in this time (a hung file system) is given up.
constexpr std::int64_t kFinishTimeNs = 10'000'000'000;

}  // namespace

Follower::Follower(LaunchOptions& options, record::RunWriter& writer, CollectorProcess collector, std::string rings,
                   pid_t command, const InheritedSignals& inherited)
    : options_(options),
      writer_(writer),
      collector_(std::move(collector)),
      rings_(std::move(rings)),
      command_(command),
      inherited_(inherited),
      witness_(collector_.witness(), collector_.pid(), files_, clock_) {
  sigset_t set = relayed_signals();
  ::sigaddset(&set, SIGCHLD);
  signals_.reset(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (options_.watch_for) watch_until_ns_ = clock_.now_ns() + options_.watch_for->count();
}

int Follower::follow() {
  while (!ended_ || phase_ != Phase::kDone) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {collector_speaks_ ? collector_.fd() : -1, POLLIN, 0}};
    ::poll(fds, 2, timeout_ms());
    take_signals();
    if (fds[1].revents != 0) take_news();
    check_times();
    if (ended_ && phase_ == Phase::kWatching) end_observation("command ended");
  }
  if (!options_.info.exit_code && !options_.info.signal) write_info();
  return *ended_;
}

int Follower::timeout_ms() const {
  std::optional<std::int64_t> due;
  if (phase_ == Phase::kWatching) due = watch_until_ns_;
  if (phase_ == Phase::kFinishing) due = finish_until_ns_;
  if (!due) return -1;
  const std::int64_t wait_ns = std::max<std::int64_t>(*due - clock_.now_ns(), 0);
  return static_cast<int>(std::min<std::int64_t>((wait_ns + 999'999) / 1'000'000, 60'000));
}

void Follower::check_times() {
  const std::int64_t now_ns = clock_.now_ns();
  if (phase_ == Phase::kWatching && !ended_ && watch_until_ns_ && now_ns >= *watch_until_ns_) end_observation("--for");
  if (phase_ == Phase::kFinishing && now_ns >= finish_until_ns_) {
    collector_.kill();
    collector_is_gone("the collector did not finish within 10 s");
  }
}

void Follower::take_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != SIGCHLD) take_signal(info);
  }
  reap();
}

void Follower::take_signal(const signalfd_siginfo& info) {
  const auto sender = static_cast<pid_t>(info.ssi_pid);
  const bool from_process = info.ssi_code == SI_USER || info.ssi_code == SI_TKILL;
  // A broken pipe of our own stderr, the collector waking us, and a command that signals its parent and no group.
  const bool own = sender == ::getpid() || sender == static_cast<pid_t>(collector_.pid()) || sender == command_;
  if (from_process && own) return;
  const int signal = static_cast<int>(info.ssi_signo);
  if (signal == SIGINT && ++interrupts_ >= 2) skip_report();
  if (!ended_) return relay(info);
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) skip_report();
}

void Follower::relay(const signalfd_siginfo& info) {
  const int signal = static_cast<int>(info.ssi_signo);
  // Without a witness only the terminal's own signals are known to have reached the command.
  const bool has_it = collector_lives_ ? witness_.reached_group(signal) : info.ssi_code == SI_KERNEL;
  if (has_it) return;
  if (info.ssi_code == SI_QUEUE) {
    sigval value = {};
    value.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr);
    ::sigqueue(command_, signal, value);
  } else {
    ::kill(command_, signal);
  }
}

// All children, not only ours: as PID 1 of a container the orphans of others are here too.
void Follower::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (WIFSTOPPED(status)) {
      if (pid == command_ && !ended_) stop_with_command();
    } else if (pid == command_) {
      ended_ = status;
    } else if (pid == static_cast<pid_t>(collector_.pid())) {
      collector_lives_ = false;
    } else if (pid == reporter_) {
      report_has_ended(status);
    }
  }
}

// Job control: the shell waits for us, so a command that was stopped must be seen as stopped.
void Follower::stop_with_command() {
  if (!collector_lives_ || ::getpid() == 1) return;
  collector_.witness().stopped_with_command = 1;
  ::kill(::getpid(), SIGSTOP);
  collector_.witness().stopped_with_command = 0;
}

void Follower::take_news() {
  const CollectorProcess::News news = collector_.read_news();
  if (news.steps_reached && phase_ == Phase::kWatching && !ended_) end_observation("--steps");
  if (news.summary) {
    collector_speaks_ = false;
    options_.info.collector_cpu_s = news.summary->cpu_s;
    options_.info.collector_peak_mib = news.summary->peak_mib;
    for (const auto& missing : news.summary->missing) options_.info.missing.push_back(missing);
    if (!news.summary->heard) say_why_nothing_was_heard();
    start_report();
  } else if (news.gone) {
    collector_is_gone("the collector was killed; nothing was recorded from then on");
  }
}

void Follower::collector_is_gone(const std::string& why) {
  collector_speaks_ = false;
  options_.info.missing.emplace_back("collector", why);
  if (!rings_.empty()) RingDirectory::adopt(rings_).remove();
  if (phase_ == Phase::kWatching) {
    options_.info.stopped_by = "collector ended";
    options_.info.end_ns = clock_.now_ns();
    if (!ended_) return;  // the report comes when the command ends, where people look for it
  }
  start_report();
}

void Follower::say_why_nothing_was_heard() {
  const auto about_hook = [](const auto& missing) { return missing.first == "hook"; };
  if (std::ranges::any_of(options_.info.missing, about_hook)) return;
  std::string flag;
  if (ignores_hook(options_.command, flag)) {
    options_.info.missing.emplace_back("hook", fmt::format("python {0} loads no sitecustomize; leave {0} out", flag));
  } else {
    options_.info.missing.emplace_back("hook", "no process of the command reported through it");
  }
}

void Follower::end_observation(const std::string& why) {
  if (options_.info.stopped_by.empty()) options_.info.stopped_by = why;
  if (!options_.info.end_ns) options_.info.end_ns = clock_.now_ns();
  if (options_.stop && !ended_) interrupt_training();
  if (!collector_speaks_) return start_report();
  phase_ = Phase::kFinishing;
  finish_until_ns_ = clock_.now_ns() + kFinishTimeNs;
  collector_.finish();
}

// As Ctrl-C at a terminal would: every process of the command that is in our group.
void Follower::interrupt_training() {
  ProcessTracker tracker(files_, static_cast<std::uint32_t>(command_));
  tracker.refresh();
  for (const std::uint32_t pid : tracker.pids()) {
    const auto stat = read_process_stat(files_, pid);
    if (stat && static_cast<pid_t>(stat->group) == ::getpgrp()) ::kill(static_cast<pid_t>(pid), SIGINT);
  }
}

void Follower::write_info() {
  if (ended_ && WIFEXITED(*ended_)) options_.info.exit_code = WEXITSTATUS(*ended_);
  if (ended_ && WIFSIGNALED(*ended_)) options_.info.signal = WTERMSIG(*ended_);
  const auto written = writer_.write_info(options_.info);
  if (!written && !options_.quiet) say(written.error().message());
}

// In a child: judging may take a second, may crash, and must not keep a signal from the command.
void Follower::start_report() {
  write_info();
  phase_ = Phase::kDone;
  if (skip_report_ && !options_.quiet) say("report skipped; " + make_it_with());
  if (skip_report_ || !options_.report) return;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_DUMPABLE, 0);  // if it crashes, then without a core file in the user's folder
    give_back_signals(inherited_);
    options_.report(writer_.folder());
    ::_exit(0);
  }
  if (pid < 0) return say("cannot start a process for the report; " + make_it_with());
  reporter_ = pid;
  phase_ = Phase::kReporting;
}

void Follower::skip_report() {
  skip_report_ = true;
  if (reporter_ > 0) ::kill(reporter_, SIGKILL);
}

void Follower::report_has_ended(int wait_status) {
  reporter_ = -1;
  phase_ = Phase::kDone;
  const bool fine = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
  if (fine || options_.quiet) return;
  say((skip_report_ ? "report skipped; " : "the report could not be made here; ") + make_it_with());
}

std::string Follower::make_it_with() const {
  return "make it with: fullbore report " + writer_.folder();
}

}  // namespace fullbore::observe
