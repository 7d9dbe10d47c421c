// Turns the vendor's activity records into ours. A library fills its newest struct, so each kind is read by the prefix
// that all versions share, and what does not lie wholly inside the buffer is left alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/clock_map.h"
#include "inject/cupti_api.h"
#include "inject/output.h"

namespace fullbore::inject {

// Used by the tracer's thread alone; what it is given outlives it.
class ActivityParser {
 public:
  // Copies told apart per second; the rest is summed by kind, so a loop of tiny copies cannot fill the run folder. Two
  // steps of 1,000 tiny copies are seen one by one.
  static constexpr std::uint32_t kSingleCopiesPerSecond = 4000;

  struct Counts {
    std::uint32_t kernels = 0;
    std::uint32_t calls = 0;
    std::uint32_t waits = 0;
    std::uint32_t copies = 0;  // told apart
    std::uint32_t lost = 0;    // without times, or cut off by the end of a buffer
    std::int64_t cost_ns = 0;  // CUPTI's own overhead as it accounts for it
  };

  constexpr ActivityParser(const CuptiApi& api, const DriverApi& driver, const ClockMap& clock, Output& output)
      : api_(api), driver_(driver), clock_(clock), output_(output) {}

  // Of the libcupti that writes the records (cuptiGetVersion).
  void set_version(std::uint32_t version) { version_ = version; }
  void parse(std::uint8_t* buffer, std::size_t valid);
  // Since the last call.
  Counts take_counts();
  // Writes what was summed; call once a second.
  void end_of_second();
  void put_overheads();

 private:
  struct Sum {
    bool used = false;
    wire::CopyRecord copy = {};
  };
  struct Overhead {
    std::int64_t busy_ns = 0;
    std::uint32_t count = 0;
  };
  static constexpr std::size_t kSums = 16;
  static constexpr std::size_t kOverheads = 16;

  void record(const CUpti_Activity* activity, std::size_t room);
  void copy(const CUpti_ActivityMemcpy& copy);
  void kernel(const CUpti_ActivityKernel3& kernel);
  void sync(const CUpti_ActivitySynchronization& sync);
  void call(const CUpti_ActivityAPI& call);
  void overhead(const CUpti_ActivityOverhead& overhead);
  void add_to_sum(const wire::CopyRecord& copy);
  void introduce(std::uint32_t device);

  const CuptiApi& api_;
  const DriverApi& driver_;
  const ClockMap& clock_;
  Output& output_;
  Counts counts_;
  std::uint32_t version_ = 0;
  std::uint32_t copies_this_second_ = 0;
  std::uint64_t devices_known_ = 0;
  Sum sums_[kSums];
  Overhead overheads_[kOverheads];
};

}  // namespace fullbore::inject
