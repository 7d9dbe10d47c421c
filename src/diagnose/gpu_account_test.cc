#include "diagnose/gpu_account.h"

#include <gtest/gtest.h>

namespace fullbore::diagnose {
namespace {

double& idle(GpuEvidence& device, Idle why) {
  return device.idle_ns[static_cast<std::size_t>(why)];
}

// Ten steps of 100 ns, all of it seen.
GpuEvidence device(double compute_ns, double launch_ns) {
  GpuEvidence out;
  out.windows = 1;
  out.iterations = 10;
  out.seen_ns = 1000;
  out.compute_ns = compute_ns;
  idle(out, Idle::kLaunch) = launch_ns;
  return out;
}

double sum(const DeviceBody& body) {
  return body.compute + body.collective + body.copy + body.host_sync + body.launch + body.device_gap;
}

TEST(DeviceSplit, OfTheWaitWhatKernelsCoveredIsHidden) {
  GpuEvidence seen = device(600, 0);
  idle(seen, Idle::kInputWait) = 400;
  seen.input_wait_ns = 500;
  seen.hidden_wait_ns = 100;
  const DeviceSplit split = split_of(seen, {50, 0});
  EXPECT_DOUBLE_EQ(split.hidden, 0.2);
  EXPECT_DOUBLE_EQ(split.body.compute, 1);
}

TEST(DeviceSplit, WithoutWaitsForTheDeviceBeingLateIsLaunching) {
  GpuEvidence seen = device(400, 600);
  seen.busy_body_ns = 1000;
  const DeviceSplit split = split_of(seen, {100, 0});
  EXPECT_DOUBLE_EQ(split.body.launch, 0.6);
  EXPECT_DOUBLE_EQ(split.body.host_sync, 0);
  EXPECT_DOUBLE_EQ(sum(split.body), 1);
}

// The thread works 300 and the device 500: launched ahead, nothing of the 450 would remain.
TEST(DeviceSplit, BeingLateIsOwedToTheWaitsWhereTheThreadIsFasterThanTheDevice) {
  GpuEvidence seen = device(500, 450);
  idle(seen, Idle::kHostSync) = 50;
  seen.device_wait_ns = 550;
  seen.busy_body_ns = 300;
  const DeviceSplit split = split_of(seen, {100, 0});
  EXPECT_DOUBLE_EQ(split.body.host_sync, 0.5);
  EXPECT_DOUBLE_EQ(split.body.launch, 0);
}

// The thread works 800 and the device 300: launched ahead, 500 would remain of 650.
TEST(DeviceSplit, BeingLateIsLaunchingWhereTheThreadIsSlowerThanTheDevice) {
  GpuEvidence seen = device(300, 650);
  idle(seen, Idle::kHostSync) = 50;
  seen.device_wait_ns = 200;
  seen.busy_body_ns = 800;
  const DeviceSplit split = split_of(seen, {100, 0});
  EXPECT_DOUBLE_EQ(split.body.launch, 0.5);
  EXPECT_DOUBLE_EQ(split.body.host_sync, 0.2);
}

// Traced, a step takes 150: 50 more than a plain one, all of it launching.
TEST(DeviceSplit, WhatTracingAddsIsTakenOffTheLaunching) {
  GpuEvidence seen = device(700, 800);
  seen.seen_ns = seen.busy_body_ns = 1500;
  const DeviceSplit split = split_of(seen, {100, 0});
  EXPECT_DOUBLE_EQ(split.body.compute, 0.7);
  EXPECT_DOUBLE_EQ(split.body.launch, 0.3);
}

// The tracer makes the thread as slow as the device, so that nothing is left to wait for; line timing saw 20 of a plain
// step. The thread then works 80 and the device 70: 10 of the 30 would remain.
TEST(DeviceSplit, WaitsThatOnlyLineTimingSawCount) {
  GpuEvidence seen = device(700, 800);
  seen.seen_ns = seen.busy_body_ns = 1500;
  seen.device_waits = 10;
  const DeviceSplit split = split_of(seen, {100, 0.2});
  EXPECT_NEAR(split.body.launch, 0.1, 1e-9);
  EXPECT_NEAR(split.body.host_sync, 0.2, 1e-9);
  seen.device_waits = 1;
  EXPECT_NEAR(split_of(seen, {100, 0.2}).body.host_sync, 0, 1e-9) << "a read now and then";
}

TEST(DeviceAccount, SumsToTheStepAndKeepsWhatTheHostSaw) {
  Accounted accounted;
  accounted.iterations = 10;
  accounted.total_ns = 1e9;
  accounted.claimed_ns[static_cast<std::size_t>(Claim::kInputWait)] = 4e8;
  accounted.claimed_ns[static_cast<std::size_t>(Claim::kCheckpoint)] = 1e8;
  accounted.claimed_ns[static_cast<std::size_t>(Claim::kBlockingRead)] = 1e8;
  accounted.body_ns = 4e8;
  GpuEvidence seen = device(500, 100);
  idle(seen, Idle::kCopy) = 100;
  idle(seen, Idle::kDeviceGap) = 50;
  seen.collective_ns = 50;
  seen.input_wait_ns = 400;
  seen.hidden_wait_ns = 100;
  const Account account = to_device_account(accounted, true, split_of(seen, {100, 0}));
  EXPECT_EQ(account.tier, "kernels_no_launch");
  double share = 0;
  for (const auto& [id, part] : account.parts) share += part.share;
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_DOUBLE_EQ(account.parts.at("input_wait").share, 0.3);
  EXPECT_DOUBLE_EQ(account.parts.at("checkpoint").share, 0.1);
  EXPECT_DOUBLE_EQ(account.parts.at("input_wait").ms, 30);
  EXPECT_FALSE(account.parts.contains("model"));
  EXPECT_NEAR(account.parts.at("gpu_compute").share, 0.1 + 0.5 * (450.0 * 500 / 550) / 700, 1e-9)
      << "hidden behind the wait, and in the body";
}

TEST(DeviceAccount, WithoutAKnownWaitAllOfTheStepIsTheBody) {
  Accounted accounted;
  accounted.iterations = 10;
  accounted.total_ns = accounted.body_ns = 1e9;
  const Account account = to_device_account(accounted, false, split_of(device(750, 250), {100, 0}));
  EXPECT_FALSE(account.parts.contains("input_wait"));
  EXPECT_DOUBLE_EQ(account.parts.at("gpu_compute").share, 0.75);
  EXPECT_DOUBLE_EQ(account.parts.at("launch").share, 0.25);
  EXPECT_DOUBLE_EQ(account.parts.at("unknown").share, 0);
}

}  // namespace
}  // namespace fullbore::diagnose
