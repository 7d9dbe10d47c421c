#include "feed/image/thread_tuner.h"

#include <gtest/gtest.h>

namespace fullbore::image {
namespace {

// A caller that takes a batch every `step_ms`, each of which is `work_ms` of work for one thread; it waits where the
// threads are too few.
struct Caller {
  void take(ThreadTuner& tuner, int batches, double step_ms, double work_ms) {
    for (int i = 0; i < batches; ++i) {
      const double wait_ms = std::max(0.0, work_ms / tuner.threads() - step_ms);
      tuner.handed_out(work_ms, now_ns, wait_ms);
      now_ns += static_cast<std::int64_t>((step_ms + wait_ms) * 1e6);
    }
  }
  std::int64_t now_ns = 1;
};

TEST(ThreadTuner, ItComesDownToWhatTheCallerNeedsAndSomeMore) {
  ThreadTuner tuner(14);
  Caller caller;
  caller.take(tuner, ThreadTuner::kSettling, 10, 40);
  EXPECT_EQ(tuner.threads(), 6);  // 4 would just do
  EXPECT_TRUE(tuner.settled());
}

TEST(ThreadTuner, AllThreadsWorkForACallerThatWaits) {
  ThreadTuner tuner(14);
  Caller caller;
  caller.take(tuner, 400, 1, 40);
  EXPECT_EQ(tuner.threads(), 14);
}

TEST(ThreadTuner, OnceSettledItStays) {
  ThreadTuner tuner(14);
  Caller caller;
  caller.take(tuner, ThreadTuner::kSettling, 10, 40);
  caller.take(tuner, 500, 10, 20);  // later epochs cost less
  EXPECT_EQ(tuner.threads(), 6);
}

TEST(ThreadTuner, ACallerThatWasSlowAtFirstDoesNotStarveLater) {
  ThreadTuner tuner(14);
  Caller caller;
  caller.take(tuner, ThreadTuner::kSettling, 100, 40);
  EXPECT_EQ(tuner.threads(), 1);
  caller.take(tuner, 300, 10, 40);
  EXPECT_GE(tuner.threads(), 4);
  EXPECT_LE(tuner.threads(), 6);
}

TEST(ThreadTuner, WhatLiesBetweenTwoPassesIsNoSlownessOfTheCaller) {
  ThreadTuner tuner(14);
  Caller caller;
  for (int pass = 0; pass < 4; ++pass) {
    tuner.begin_pass();
    caller.take(tuner, 50, 10, 40);
    caller.now_ns += 60'000'000'000;  // a minute of validation
  }
  EXPECT_EQ(tuner.threads(), 6);
}

TEST(ThreadTuner, OneThreadIsTheLeast) {
  ThreadTuner tuner(4);
  Caller caller;
  caller.take(tuner, 400, 1000, 0);
  EXPECT_EQ(tuner.threads(), 1);
}

}  // namespace
}  // namespace fullbore::image
