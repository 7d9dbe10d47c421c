// The device reads many times what the samples have: small records out of a mapped file, with the kernel reading ahead
// around each; or a format that must be read in large chunks.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Faults that had to read, about as many as readahead windows of 128 KiB: the bytes came through a mapping.
constexpr double kMappedBytesPerFault = 1 << 20;

bool mapped(const MakerTotals& totals) {
  return totals.major_faults.value_or(0) > 0 && *totals.read_bytes / *totals.major_faults <= kMappedBytesPerFault &&
         totals.read_chars.value_or(0) < 0.5 * *totals.read_bytes;
}

std::string change(bool is_mapped) {
  const std::string advice =
      is_mapped ? "tell the kernel not to read ahead around each access: mapping.madvise(mmap.MADV_RANDOM) on the "
                  "mmap object (array._mmap.madvise(mmap.MADV_RANDOM) for a numpy.memmap)"
                : "tell the kernel that reads are random: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)";
  return advice + "; or store together what is read together, and read whole pieces in order";
}

}  // namespace

std::optional<Cause> read_amplification(const Situation& situation) {
  if (!waits_for_storage(situation) || !reads_amplified(situation)) return std::nullopt;
  if (slow_maker(situation) != nullptr) return std::nullopt;

  const MakerTotals& totals = situation.makers.totals;
  const double times = *amplification(situation);
  const double device_kb = *totals.read_bytes / totals.samples / 1e3;
  Cause cause = make_cause("read_amplification", situation.wait_share(), situation);
  cause.stage = "read";
  cause.gain = bound_without(cause.share);
  cause.change.sample_blocked = 1 / times;
  cause.change.words = "with reads of what samples have";
  const ProfiledLine* line = situation.stage_line("read");
  if (line == nullptr && !situation.profile.dataset.lines.empty()) line = &situation.profile.dataset.lines.front();
  if (line != nullptr) cause.where = cause.fix.where = line->where;
  cause.summary = fmt::format(
      "The training loop waits {} of each step for reads of which most is thrown away{}: a sample has {:.1f} kB and "
      "the "
      "device reads {:.0f} kB for it, {:.0f} times as much; without that training would be {}.",
      percent(cause.share), in_place(line ? std::optional(line->where) : std::nullopt), device_kb / times, device_kb,
      times, kFasterHere);
  add_evidence(cause, "bytes from the device, per byte of a sample", times, "", "/proc/PID/io");
  add_evidence(cause, "read from the device, per sample", device_kb, "kB", "/proc/PID/io");
  add_evidence(cause, "page faults that had to read, per sample",
               totals.major_faults ? std::optional(*totals.major_faults / totals.samples) : std::nullopt, "",
               "/proc/PID/stat");
  add_evidence(cause, "making samples: blocked", situation.makers.blocked_share(), "share", "/proc/PID/schedstat");
  cause.fix.text = change(mapped(totals));
  cause.fix.risk = "none for results; reading in order needs the samples to be shuffled when they are stored";
  cause.why_not.push_back("more workers: each of them would read as much again for nothing");
  return cause;
}

}  // namespace fullbore::diagnose
