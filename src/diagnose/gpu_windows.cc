// See gpu_windows.h.
#include "diagnose/gpu_windows.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace fullbore::diagnose {
namespace {

// A wait of the host belongs to a copy if it ends so soon after it: a return from the driver takes 10-30 us.
constexpr std::int64_t kReturn_ns = 200'000;

// At least this many copies of at most so many bytes. Below 64 KiB a copy takes as long as its launch.
constexpr std::size_t kCopiesOfRow = 8;
constexpr std::int64_t kSmallCopyBytes = 64 * 1024;
// Between two copies of a row: a call of .to() takes 10 to 20 us, more where the interpreter is busy.
constexpr std::int64_t kRowPause_ns = 200'000;

void tell_waits_for_copies(GpuWindow& window) {
  std::ranges::sort(window.copies, {}, [](const GpuCopy& copy) { return copy.record->begin_ns; });
  std::ranges::sort(window.waits, {}, [](const GpuWait& wait) { return wait.record->end_ns; });
  for (GpuCopy& copy : window.copies) {
    const std::int64_t end_ns = copy.record->end_ns;
    auto wait = std::ranges::lower_bound(window.waits, end_ns, {}, [](const GpuWait& w) { return w.record->end_ns; });
    for (; wait != window.waits.end() && wait->record->end_ns < end_ns + kReturn_ns; ++wait) {
      if (wait->record->begin_ns < end_ns) copy.waited_for = wait->for_copy = true;
    }
  }
}

std::vector<CopyRow> rows_of_small_copies(const GpuWindow& window) {
  std::vector<CopyRow> rows;
  CopyRow row;
  const auto end_row = [&] {
    if (row.count >= kCopiesOfRow) rows.push_back(row);
    row = {};
  };
  for (const GpuCopy& copy : window.copies) {
    if (!copy.single() || copy.record->bytes > kSmallCopyBytes) continue;
    if (row.count > 0 && copy.record->begin_ns - row.end_ns > kRowPause_ns) end_row();
    if (row.count == 0) row.begin_ns = copy.record->begin_ns;
    row.end_ns = std::max(row.end_ns, copy.record->end_ns);
    ++row.count;
    row.bytes += static_cast<double>(copy.record->bytes);
  }
  end_row();
  return rows;
}

// What belongs to a window: a record is told to the last one that began before it, so that work which was launched in
// a window and ran after its end is in it.
class Sorter {
 public:
  explicit Sorter(std::vector<const wire::TraceWindowRecord*> records) {
    std::ranges::sort(records, {}, &wire::TraceWindowRecord::begin_ns);
    for (const auto* record : records) {
      begins_.push_back(record->begin_ns);
      windows.emplace_back().begin_ns = record->begin_ns;
      windows.back().end_ns = record->end_ns;
      lossless.push_back(record->dropped == 0);
    }
    kernels.resize(windows.size());
    collectives.resize(windows.size());
  }

  std::optional<std::size_t> of(std::int64_t time_ns) const {
    const auto after = std::ranges::upper_bound(begins_, time_ns);
    if (after == begins_.begin()) return std::nullopt;
    return static_cast<std::size_t>(after - begins_.begin() - 1);
  }

  std::vector<GpuWindow> windows;
  std::vector<bool> lossless;
  std::vector<std::vector<Span>> kernels, collectives;

 private:
  std::vector<std::int64_t> begins_;
};

// NCCL's kernels, by name: "ncclDevKernel_AllReduce...", "ncclKernel_...".
class Collectives {
 public:
  explicit Collectives(const record::Run& run) : run_(run) {}
  bool contain(wire::NameId name) {
    const auto [known, added] = known_.try_emplace(name, false);
    if (added) known->second = run_.name(name).contains("nccl");
    return known->second;
  }

 private:
  const record::Run& run_;
  std::unordered_map<wire::NameId, bool> known_;
};

}  // namespace

std::vector<GpuWindow> gpu_windows(const record::Run& run, const record::RankRecords& rank, std::uint32_t pid,
                                   std::int64_t begin_ns, std::int64_t end_ns) {
  std::vector<const wire::TraceWindowRecord*> records;
  for (const auto& window : rank.trace_windows) {
    if (window.pid == pid) records.push_back(&window.record);
  }
  Sorter sorter(std::move(records));
  Collectives collectives(run);
  for (const auto& kernel : rank.kernels) {
    const auto window = kernel.pid == pid ? sorter.of(kernel.record.begin_ns) : std::nullopt;
    if (!window) continue;
    sorter.windows[*window].kernels_ns.push_back(kernel.record.begin_ns);
    auto& spans = collectives.contain(kernel.record.name) ? sorter.collectives : sorter.kernels;
    spans[*window].emplace_back(kernel.record.begin_ns, kernel.record.end_ns);
  }
  for (const auto& copy : rank.copies) {
    if (copy.pid != pid || copy.record.kind != wire::CopyKind::kHostToDevice) continue;
    if (const auto window = sorter.of(copy.record.begin_ns)) sorter.windows[*window].copies.push_back({&copy.record});
  }
  for (const auto& wait : rank.syncs) {
    if (wait.pid != pid || wait.record.kind == wire::SyncKind::kStreamWaitsForEvent) continue;
    if (const auto window = sorter.of(wait.record.begin_ns)) sorter.windows[*window].waits.push_back({&wait.record});
  }
  std::vector<GpuWindow> out;
  for (std::size_t i = 0; i < sorter.windows.size(); ++i) {
    GpuWindow& window = sorter.windows[i];
    if (!sorter.lossless[i] || window.begin_ns < begin_ns || window.end_ns > end_ns || window.kernels_ns.empty())
      continue;
    window.compute = merged(std::move(sorter.kernels[i]));
    window.collective = merged(std::move(sorter.collectives[i]));
    tell_waits_for_copies(window);
    window.rows = rows_of_small_copies(window);
    std::ranges::sort(window.kernels_ns);
    window.known_from_ns = window.kernels_ns.front();
    window.known_until_ns = window.end_ns;
    for (const GpuCopy& copy : window.copies) {
      if (!copy.single()) window.known_until_ns = std::min(window.known_until_ns, copy.record->begin_ns);
    }
    out.push_back(std::move(window));
  }
  return out;
}

}  // namespace fullbore::diagnose
