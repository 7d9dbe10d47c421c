#include "diagnose/replay/shared_server.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "diagnose/replay/random.h"

namespace fullbore::diagnose::replay {
namespace {

TEST(SharedServer, LetsAsManyJobsRunAtFullSpeedAsItHasCores) {
  SharedServer cores(2, 1);
  cores.add(0, 1, 10);
  cores.add(0, 2, 4);
  EXPECT_DOUBLE_EQ(cores.next_end(), 4);
  EXPECT_EQ(cores.take(), 2);
  EXPECT_DOUBLE_EQ(cores.next_end(), 10);
}

TEST(SharedServer, SharesCoresEvenlyAmongMoreJobs) {
  SharedServer cores(2, 1);
  for (int job = 0; job < 4; ++job) cores.add(0, job, 10);
  EXPECT_DOUBLE_EQ(cores.next_end(), 20);
  for (int job = 0; job < 4; ++job) cores.take();
  EXPECT_DOUBLE_EQ(cores.done(), 40);
  EXPECT_EQ(cores.next_end(), std::numeric_limits<double>::infinity());
}

TEST(SharedServer, SlowsJobsWhenAnotherComes) {
  SharedServer core(1, 1);
  core.add(0, 1, 10);
  core.add(4, 2, 1);  // 6 are left of the first; until the second is done each gets half
  EXPECT_EQ(core.take(), 2);
  EXPECT_DOUBLE_EQ(core.next_end(), 6 + 5);
}

TEST(SharedServer, GivesOthersTheirPart) {
  SharedServer cores(2, 1, 1);  // somebody else keeps one core busy
  cores.add(0, 1, 10);
  EXPECT_DOUBLE_EQ(cores.next_end(), 10);
  cores.add(0, 2, 10);
  EXPECT_DOUBLE_EQ(cores.next_end(), 15);
}

TEST(SharedServer, LetsOneJobHaveAllOfADevice) {
  SharedServer device(100, 1e300);
  device.add(0, 1, 1000);
  EXPECT_DOUBLE_EQ(device.next_end(), 10);
  device.add(0, 2, 1000);
  EXPECT_DOUBLE_EQ(device.next_end(), 20);
}

// Of Poisson arrivals at a shared server a job stays S / (1 - rho) on average, whatever the sizes.
TEST(SharedServer, KeepsPoissonArrivalsAsLongAsQueueingTheorySays) {
  constexpr double kSize = 1, kGap = 1 / 0.7;
  SharedServer core(1, 1);
  std::vector<double> arrived;
  double arrival = 0, sojourn = 0;
  int left = 0;
  constexpr int kJobs = 200'000;
  while (left < kJobs) {
    if (core.next_end() < arrival) {
      const double end = core.next_end();
      sojourn += end - arrived[static_cast<std::size_t>(core.take())];
      ++left;
    } else {
      core.add(arrival, static_cast<int>(arrived.size()), kSize);
      arrived.push_back(arrival);
      arrival += -std::log(random_unit(1, 1, arrived.size())) * kGap;
    }
  }
  EXPECT_NEAR(sojourn / kJobs, kSize / (1 - 0.7), 0.1);
}

}  // namespace
}  // namespace fullbore::diagnose::replay
