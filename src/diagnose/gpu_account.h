// The account of a step on the device: what the host's account gives to the loop body and to the wait for input,
// divided by what the device did meanwhile in the trace windows.
#pragma once

#include <optional>

#include "diagnose/account.h"
#include "diagnose/gpu_evidence.h"

namespace fullbore::diagnose {

// Shares of the loop body (of the step without waits for input and pauses); they sum to 1.
struct DeviceBody {
  double compute = 0;
  double collective = 0;  // only a collective ran
  double copy = 0;        // nothing ran, and a copy to the device was on its way
  double host_sync = 0;   // nothing ran, because the thread had waited for the device before it launched more
  double launch = 0;      // nothing ran, the thread was busy
  double device_gap = 0;  // nothing ran between two kernels of a queue
};

struct DeviceSplit {
  double hidden = 0;  // share of the wait for input in which a kernel ran: it costs nothing
  DeviceBody body;
};

// How the loop body is without a tracer in the way: `ns` of a steady step, and the share of it that the thread stands
// still in reads of values from the device as line timing has it; 0 where lines were not timed.
struct PlainBody {
  double ns = 0;
  double reading = 0;
};

// Kernels and copies take as long as they do, but launching is slower while it is traced (about 4 us per kernel): what
// a traced body is longer than a plain one is taken off the time in which the thread was late.
//
// After a wait for the device the queue is empty and the thread has to launch ahead of it again. How much of being late
// is owed to the waits follows from what would be without them: the thread's own work and the device's then overlap,
// and only what of the first is longer than the second remains.
DeviceSplit split_of(const GpuEvidence& device, const PlainBody& plain);

// As to_account(), with the parts of the device.
Account to_device_account(const Accounted& accounted, bool wait_known, const DeviceSplit& split);

}  // namespace fullbore::diagnose
