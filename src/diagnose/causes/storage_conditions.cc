// Thresholds of storage and memory in one place; docs/causes.md explains them.
#include "diagnose/causes/storage_conditions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "diagnose/causes/conditions.h"

namespace fullbore::diagnose {
namespace {

constexpr double kFromDevice = 0.5;
// Open and read together: less, and something else in the sample is what blocks.
constexpr double kFileShare = 0.5;
constexpr double kManyFiles = 4;  // per sample: then their number is the trouble, wherever they lie
// Between noise of the first pass that goes on reading ahead, and a set of which most is read again.
constexpr double kWarm = 0.2;
constexpr double kCold = 0.5;
// A cache that holds two thirds of the set still leaves a third of it to be read again in every pass.
constexpr double kThrashing = 0.3;
constexpr double kBusyMakers = 0.8;
constexpr double kFewestBatches = 5;   // of a pass, to be compared with another
constexpr double kRefaultShare = 0.1;  // of what is read: proof that it had been in memory
// A page of 4 KiB for a record of 1 KiB is the least that any device reads; below that nothing is wasted.
constexpr double kAmplified = 4;
constexpr double kOthersShare = 0.5;
constexpr double kDeviceBusy = 0.8;
constexpr double kDeviceQueue = 1.5;
// Readahead asks for 128 KiB at a time: smaller ones on average are single pages and small files.
constexpr double kSmallRequest = 128 * 1024;
// An SSD or a local virtual disk answers in a tenth of that; a spinning disk or a network volume takes more.
constexpr double kSlowRequestMs = 2;
constexpr double kLimitReached = 0.8;
constexpr double kSwapInBytesPerS = 10e6;  // 2,500 pages a second at 40 us or more are 10 % of a core
constexpr double kMemoryPressure = 0.1;
constexpr double kMemoryFull = 0.9;
constexpr double kMostlyAnon = 0.6;

double ratio(std::optional<double> part, std::optional<double> whole) {
  return part && whole && *whole > 0 ? *part / *whole : 0;
}

bool comparable(const Situation& situation) {
  if (situation.passes.size() < 2) return false;
  const Pass later = later_passes(situation.passes);
  return static_cast<double>(situation.passes.front().batches) >= kFewestBatches &&
         static_cast<double>(later.batches) >= kFewestBatches && situation.passes.front().read_bytes > 0 &&
         situation.passes.front().read_bytes >= kCold * situation.passes.front().read_chars;
}

double later_against_first(const Situation& situation) {
  return later_passes(situation.passes).bytes_per_batch() / situation.passes.front().bytes_per_batch();
}

// Requests of this job are not counted by the kernel; of pages, the smallest that there are, they are so many.
double most_own_requests(const Resources& resources) {
  return resources.tree_read_bytes_per_s.value_or(1e18) / 4096;
}

// The device gives no more: by its limit, or by a queue that is never empty.
bool device_full(const Resources& resources) {
  if (ratio(resources.device_read_bytes_per_s, resources.device_limit_bytes_per_s) >= kLimitReached) return true;
  return resources.device_busy.value_or(0) >= kDeviceBusy && resources.device_queue.value_or(0) >= kDeviceQueue;
}

bool waits_for_device(const Situation& situation) {
  return blocked_mostly(situation) && reads_from_device(situation) && !warmed_up(situation);
}

// Bytes of a sample: as asked for, or as handed over where it was mapped into memory.
std::optional<double> sample_bytes(const Situation& situation) {
  const MakerTotals& totals = situation.makers.totals;
  if (totals.samples <= 0 || totals.batches == 0) return std::nullopt;
  const double batch = totals.samples / static_cast<double>(totals.batches);
  std::optional<double> bytes;
  if (totals.read_chars) bytes = *totals.read_chars / totals.samples;
  if (situation.loader.batch_mb) bytes = std::max(bytes.value_or(0), *situation.loader.batch_mb * 1e6 / batch);
  return bytes;
}

}  // namespace

bool reads_from_device(const Situation& situation) {
  const MakerTotals& totals = situation.makers.totals;
  return totals.read_bytes && *totals.read_bytes > 0 &&
         *totals.read_bytes >= kFromDevice * totals.read_chars.value_or(*totals.read_bytes);
}

bool waits_for_storage(const Situation& situation) {
  if (!waits(situation)) return false;
  if (waits_for_making(situation)) return true;
  // A worker that faults while it holds the interpreter's lock keeps its own feeder thread from handing over the batch
  // before: seen as hand-over, while it is the next batch that is being read.
  return blocked_mostly(situation) && situation.makers.busy.value_or(0) >= kBusyMakers;
}

bool memory_short(const Situation& situation) {
  const Resources& memory = situation.resources;
  const bool full = memory.memory_limit ? ratio(memory.memory_used, memory.memory_limit) >= kMemoryFull &&
                                              ratio(memory.memory_anon, memory.memory_limit) >= kMostlyAnon
                                        : memory.memory_available &&
                                              ratio(memory.memory_available, memory.memory_total) <= 1 - kMemoryFull;
  // Full alone is no fault: a cache may fill what is there. Pressure is time lost; swapping says the same where the
  // kernel does not count it.
  if (memory.memory_pressure) return full && *memory.memory_pressure >= kMemoryPressure;
  return full && memory.swap_in_bytes_per_s.value_or(0) >= kSwapInBytesPerS;
}

bool network_reads(const Situation& situation) {
  if (!blocked_mostly(situation) || memory_short(situation)) return false;
  if (!remote_library(situation).empty()) return true;
  if (!is_network_mount(situation.resources.mount_type)) return false;
  const PlaceProfile& samples = situation.profile.dataset;
  if (opens_dominate(situation) && samples.opens_per_window >= kManyFiles) return false;
  return !samples.measured() || samples.share(wire::Stage::kOpen) + samples.share(wire::Stage::kRead) >= kFileShare;
}

bool set_thrashes(const Situation& situation) {
  if (!waits_for_device(situation) || !comparable(situation) || network_reads(situation) || memory_short(situation))
    return false;
  const Resources& resources = situation.resources;
  if (later_against_first(situation) < kThrashing) return false;
  const auto set = set_bytes(situation);
  if (!set || !resources.cache_room || *set <= *resources.cache_room) return false;
  // What no memory of this machine would hold is a matter of storage, not of memory.
  if (resources.memory_total && *set > *resources.memory_total) return false;
  return !resources.refault_bytes_per_s ||
         ratio(resources.refault_bytes_per_s, resources.tree_read_bytes_per_s) >= kRefaultShare;
}

bool reads_amplified(const Situation& situation) {
  return waits_for_device(situation) && !network_reads(situation) && !memory_short(situation) &&
         amplification(situation).value_or(0) >= kAmplified;
}

bool neighbour_reads(const Situation& situation) {
  const Resources& resources = situation.resources;
  if (!waits_for_device(situation) || network_reads(situation) || memory_short(situation)) return false;
  if (at_request_limit(situation) || !device_full(resources)) return false;
  if (!resources.device_read_bytes_per_s || !resources.tree_read_bytes_per_s) return false;
  const double all = *resources.device_read_bytes_per_s + resources.device_write_bytes_per_s.value_or(0);
  // A limit holds for the group alone: what others outside of it move is not in the way.
  const double shared = std::min(all, resources.device_limit_bytes_per_s.value_or(all));
  return *resources.tree_read_bytes_per_s <= (1 - kOthersShare) * shared;
}

bool at_request_limit(const Situation& situation) {
  const Resources& resources = situation.resources;
  if (ratio(resources.device_reads_per_s, resources.device_limit_reads_per_s) < kLimitReached) return false;
  return most_own_requests(resources) >= (1 - kOthersShare) * *resources.device_limit_reads_per_s;
}

bool requests_limited(const Situation& situation) {
  if (!waits_for_device(situation) || opens_dominate(situation) || network_reads(situation)) return false;
  if (memory_short(situation) || set_thrashes(situation) || reads_amplified(situation) || neighbour_reads(situation))
    return false;
  if (at_request_limit(situation)) return true;
  const auto bytes = request_bytes(situation);
  return bytes && *bytes <= kSmallRequest && situation.resources.device_read_ms.value_or(0) >= kSlowRequestMs;
}

bool warmed_up(const Situation& situation) {
  return comparable(situation) && later_against_first(situation) <= kWarm;
}

bool storage_exhausted(const Situation& situation) {
  return memory_short(situation) || set_thrashes(situation) || reads_amplified(situation) ||
         neighbour_reads(situation) || (requests_limited(situation) && at_request_limit(situation)) ||
         storage_limited(situation);
}

bool storage_explains(const Situation& situation) {
  return network_reads(situation) || requests_limited(situation) || storage_exhausted(situation);
}

bool is_network_mount(const std::string& type) {
  // As the kernel names them in mountinfo; "fuseblk" is a local disk behind a program.
  static constexpr std::array<std::string_view, 20> kTypes = {
      "nfs", "nfs4", "cifs",     "smb3",   "smbfs", "lustre",   "ceph",  "glusterfs", "gpfs",  "beegfs",
      "afs", "9p",   "virtiofs", "wekafs", "panfs", "orangefs", "pvfs2", "fuse",      "davfs", "daos"};
  return type.starts_with("fuse.") || std::ranges::find(kTypes, type) != kTypes.end();
}

std::string remote_library(const Situation& situation) {
  static constexpr std::array<std::string_view, 18> kLibraries = {
      "requests",      "urllib",     "urllib3", "http",   "httpx",   "aiohttp",
      "boto3",         "botocore",   "s3fs",    "fsspec", "gcsfs",   "google.cloud.storage",
      "azure.storage", "smart_open", "socket",  "ssl",    "_socket", "_ssl"};
  const PlaceProfile& samples = situation.profile.dataset;
  const ProfiledLine* line = situation.stage_line("read");
  if (line == nullptr || samples.share(wire::Stage::kRead) < kFileShare) return "";
  for (const std::string_view library : kLibraries) {
    if (line->callee == library || line->callee.starts_with(std::string(library) + ".")) return std::string(library);
  }
  return "";
}

std::optional<double> set_bytes(const Situation& situation) {
  const MakerTotals& totals = situation.makers.totals;
  if (!situation.loader.dataset_length || totals.samples <= 0) return std::nullopt;
  const double read = std::max(totals.read_chars.value_or(0), totals.read_bytes.value_or(0));
  if (read <= 0) return std::nullopt;
  return read / totals.samples * static_cast<double>(*situation.loader.dataset_length);
}

std::optional<double> amplification(const Situation& situation) {
  const MakerTotals& totals = situation.makers.totals;
  const auto bytes = sample_bytes(situation);
  if (!bytes || *bytes <= 0 || !totals.read_bytes) return std::nullopt;
  return *totals.read_bytes / totals.samples / *bytes;
}

std::optional<double> request_bytes(const Situation& situation) {
  const Resources& resources = situation.resources;
  if (!resources.device_read_bytes_per_s || resources.device_reads_per_s.value_or(0) <= 0) return std::nullopt;
  return *resources.device_read_bytes_per_s / *resources.device_reads_per_s;
}

}  // namespace fullbore::diagnose
