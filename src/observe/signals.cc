#include "observe/signals.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace fullbore::observe {
namespace {

constexpr std::int64_t kLongestWaitNs = 10'000'000;
constexpr std::int64_t kTakingWaitNs = 100'000'000;
// Two of the same kind in quick succession may be one for us and two for the witness, or the reverse.
constexpr std::int64_t kSameBurstNs = 20'000'000;
// A count that the launcher never met (merged with another) must not excuse a signal much later.
constexpr std::int64_t kForgottenNs = 2'000'000'000;

void pause_ns(long ns) {
  const timespec time = {0, ns};
  ::nanosleep(&time, nullptr);
}

}  // namespace

sigset_t relayed_signals() {
  sigset_t set;
  ::sigfillset(&set);
  for (const int own : {SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) {
    ::sigdelset(&set, own);
  }
  return set;
}

WitnessRecorder::WitnessRecorder(WitnessPage& page, const base::Clock& clock) : page_(page), clock_(clock) {
  const sigset_t set = relayed_signals();
  fd_.reset(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

void WitnessRecorder::take() {
  page_.taking = 1;
  signalfd_siginfo info;
  while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo >= static_cast<std::uint32_t>(kSignals)) continue;
    WitnessPage::Seen& seen = page_.seen[info.ssi_signo];
    seen.last_ns = clock_.now_ns();
    ++seen.count;
  }
  page_.taking = 0;
}

bool SignalWitness::reached_group(int signal) {
  const auto number = static_cast<std::size_t>(signal);
  const std::int64_t start = clock_.now_ns();
  bool reached = false;
  for (;;) {
    const std::int64_t waited = clock_.now_ns() - start;
    // `taking` is read before `taken`: once it is down, what was taken has been counted.
    const bool taking = page_.taking != 0 && waited < kTakingWaitNs;
    if (taken(signal)) {
      reached = true;
      break;
    }
    const bool is_pending = pending(signal);
    reached = reached || is_pending;
    // Pending is proof enough; staying until it is counted keeps the count from excusing the next one.
    if (!taking && waited >= (reached ? 5 * kLongestWaitNs : kLongestWaitNs)) break;
    pause_ns(200'000);
  }
  accounted_[number] = page_.seen[number].count;
  return reached;
}

bool SignalWitness::taken(int signal) const {
  const WitnessPage::Seen& seen = page_.seen[static_cast<std::size_t>(signal)];
  if (seen.count == 0) return false;
  const std::int64_t age = clock_.now_ns() - seen.last_ns;
  const bool is_new = seen.count != accounted_[static_cast<std::size_t>(signal)];
  return age < kSameBurstNs || (is_new && age < kForgottenNs);
}

bool SignalWitness::pending(int signal) const {
  const auto status = files_.read("/proc/" + std::to_string(pid_) + "/status");
  return status && (pending_signals(*status) >> (signal - 1) & 1) != 0;
}

std::uint64_t pending_signals(std::string_view status) {
  std::uint64_t bits = 0;
  for (const std::string_view label : {"\nSigPnd:\t", "\nShdPnd:\t"}) {
    const std::size_t at = status.find(label);
    if (at == std::string_view::npos) continue;
    bits |= std::strtoull(std::string(status.substr(at + label.size(), 16)).c_str(), nullptr, 16);
  }
  return bits;
}

void end_like(int wait_status) {
  if (WIFEXITED(wait_status)) ::_exit(WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);  // a core_pattern that is a pipe ignores the limit
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);
}

}  // namespace fullbore::observe
