#include "observe/signals.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

namespace fullbore::observe {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// A witness whose process does not exist: nothing is ever pending, only the page speaks.
class SignalWitnessTest : public ::testing::Test {
 protected:
  void collector_takes(int signal) {
    page_->seen[static_cast<std::size_t>(signal)].last_ns = clock_.now_ns();
    ++page_->seen[static_cast<std::size_t>(signal)].count;
  }

  std::unique_ptr<WitnessPage> page_ = std::make_unique<WitnessPage>();
  base::MonotonicClock clock_;
  base::InMemoryFiles files_{{}};
  SignalWitness witness_{*page_, 77, files_, clock_};
};

TEST_F(SignalWitnessTest, BelievesWhatTheCollectorTook) {
  collector_takes(SIGINT);
  EXPECT_TRUE(witness_.reached_group(SIGINT));
}

TEST_F(SignalWitnessTest, TakesASignalNobodyElseGotForADirectedOne) {
  EXPECT_FALSE(witness_.reached_group(SIGTERM));
}

TEST_F(SignalWitnessTest, DoesNotMixSignals) {
  collector_takes(SIGINT);
  EXPECT_FALSE(witness_.reached_group(SIGTERM));
}

TEST_F(SignalWitnessTest, BelievesASignalThatStillWaitsForTheCollector) {
  files_.set("/proc/77/status", "Name:\tfullbore\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000004000\n");
  EXPECT_TRUE(witness_.reached_group(SIGTERM));
}

TEST_F(SignalWitnessTest, DoesNotExcuseADirectedSignalByAnOldCount) {
  page_->seen[SIGUSR1].last_ns = clock_.now_ns() - 5 * kSecond;
  page_->seen[SIGUSR1].count = 1;
  EXPECT_FALSE(witness_.reached_group(SIGUSR1));
}

TEST_F(SignalWitnessTest, CountsEachGroupSignalOnce) {
  page_->seen[SIGUSR1].last_ns = clock_.now_ns() - kSecond;
  page_->seen[SIGUSR1].count = 1;
  EXPECT_TRUE(witness_.reached_group(SIGUSR1));
  EXPECT_FALSE(witness_.reached_group(SIGUSR1));
}

TEST(PendingSignals, JoinsThreadAndProcess) {
  EXPECT_EQ(pending_signals("x\nSigPnd:\t0000000000000002\nShdPnd:\t8000000000000000\n"), 0x8000000000000002ull);
  EXPECT_EQ(pending_signals("Name:\tx\n"), 0u);
}

TEST(WitnessRecorder, CountsASignalThatReachedThisProcess) {
  sigset_t set = relayed_signals(), before;
  ::sigprocmask(SIG_BLOCK, &set, &before);
  auto page = std::make_unique<WitnessPage>();
  const base::MonotonicClock clock;
  WitnessRecorder recorder(*page, clock);
  ::kill(::getpid(), SIGUSR2);
  recorder.take();
  EXPECT_EQ(page->seen[SIGUSR2].count, 1u);
  EXPECT_EQ(page->taking, 0u);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST(RelayedSignals, LeaveFaultsAndChildrenAlone) {
  const sigset_t set = relayed_signals();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGCONT, SIGALRM, SIGWINCH, SIGTSTP, SIGABRT}) {
    EXPECT_TRUE(::sigismember(&set, signal)) << signal;
  }
  for (const int signal : {SIGCHLD, SIGSEGV, SIGKILL}) EXPECT_FALSE(::sigismember(&set, signal)) << signal;
}

// Wait status of a child that ends like `wait_status`.
int status_of_ending_like(int wait_status) {
  const pid_t pid = ::fork();
  if (pid == 0) end_like(wait_status);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

TEST(EndLike, KeepsTheExitCode) {
  EXPECT_EQ(WEXITSTATUS(status_of_ending_like(77 << 8)), 77);
}

TEST(EndLike, DiesByTheSameSignalWithoutACore) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL, SIGSEGV, SIGABRT}) {
    const int status = status_of_ending_like(signal);
    ASSERT_TRUE(WIFSIGNALED(status)) << signal;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_FALSE(WCOREDUMP(status));
  }
}

TEST(EndLike, DiesOfASignalThatWasIgnored) {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  EXPECT_EQ(WTERMSIG(status_of_ending_like(SIGHUP)), SIGHUP);
  ::signal(SIGHUP, before);
}

}  // namespace
}  // namespace fullbore::observe
