#include "observe/samplers/disk.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "observe/samplers/block_devices.h"
#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

// Columns of /proc/diskstats behind the name (Documentation/admin-guide/iostats.rst).
enum Column {
  kReads,
  kReadsMerged,
  kReadSectors,
  kReadMs,
  kWrites,
  kWritesMerged,
  kWriteSectors,
  kWriteMs,
  kInFlight,
  kBusyMs,
  kQueueMs,
  kColumns
};
using Columns = std::array<double, kColumns>;

struct Line {
  std::string_view device;
  Columns columns{};
};

std::optional<Line> parse_line(std::string_view text) {
  const auto parts = fields(text, 3 + kColumns);
  if (parts.size() < 3 + kColumns) return std::nullopt;
  Line line{parts[2], {}};
  for (std::size_t i = 0; i < kColumns; ++i) {
    const auto value = number(parts[3 + i]);
    if (!value) return std::nullopt;
    line.columns[i] = static_cast<double>(*value);
  }
  return line;
}

void report_transfers(Readings& out, std::string_view label, const Columns& c) {
  out.counter("disk.reads", label, "requests", c[kReads]);
  out.counter("disk.read_bytes", label, "bytes", c[kReadSectors] * kSectorBytes);
  out.counter("disk.read_s", label, "s", c[kReadMs] / 1e3);
  out.counter("disk.writes", label, "requests", c[kWrites]);
  out.counter("disk.write_bytes", label, "bytes", c[kWriteSectors] * kSectorBytes);
  out.counter("disk.write_s", label, "s", c[kWriteMs] / 1e3);
}

void report_disk(Readings& out, std::string_view label, const Columns& c) {
  report_transfers(out, label, c);
  out.gauge("disk.in_flight", label, "requests", c[kInFlight]);
  out.counter("disk.busy_s", label, "s", c[kBusyMs] / 1e3);
  out.counter("disk.queue_s", label, "s", c[kQueueMs] / 1e3);
}

}  // namespace

bool DiskSampler::is_physical(std::string_view device) {
  const auto [it, is_new] = physical_.try_emplace(std::string(device), false);
  if (is_new) it->second = is_physical_disk(files_, it->first);
  return it->second;
}

void DiskSampler::report_mounts(Readings& out) {
  std::map<std::pair<std::string, std::string>, int> paths;  // by metric and label: two mounts may share options
  disks_.clear();
  for (const DataMount& data : data_.mounts()) {
    paths[{"mount.type", data.mount.type}] += data.paths;
    paths[{"mount.options", data.mount.options}] += data.paths;
    paths[{"mount.point", data.mount.point}] += data.paths;
    if (data.disks.empty()) {
      out.missing("disk", "data lies on " + data.mount.type + " (" + data.mount.source + " at " + data.mount.point +
                              "), which has no block device here");
      continue;
    }
    paths[{"mount.device", data.disks.front()}] += data.paths;
    for (const std::string& disk : data.disks) {
      if (std::ranges::count(disks_, disk) == 0) disks_.push_back(disk);
    }
  }
  for (const auto& [key, count] : paths) out.gauge(key.first, key.second, "paths", count);
  if (!data_.why().empty()) out.missing("mount", data_.why());
}

void DiskSampler::report_rotational(Readings& out) {
  for (const std::string& disk : disks_) {
    const auto text = files_.read("/sys/class/block/" + disk + "/queue/rotational");
    const auto value = text ? number(trimmed(*text)) : std::nullopt;
    if (value) out.gauge("disk.rotational", disk, "bool", static_cast<double>(*value));
  }
}

void DiskSampler::sample(const ProcessTree& tree, std::int64_t, Readings& out) {
  if (data_.update(tree.data_paths, tree.root_pid)) {
    report_mounts(out);
    report_rotational(out);
  }
  const auto text = files_.read("/proc/diskstats");
  if (!text) return out.missing("disk", text.error().message());
  Columns host{};
  bool any = false;
  for (const std::string_view row : lines(*text)) {
    const auto line = parse_line(row);
    if (!line) continue;
    if (std::ranges::count(disks_, line->device) > 0) report_disk(out, line->device, line->columns);
    if (!is_physical(line->device)) continue;
    any = true;
    for (std::size_t i = 0; i < kColumns; ++i) host[i] += line->columns[i];
  }
  if (any) return report_transfers(out, "host", host);
  out.missing("disk", "/proc/diskstats and /sys/class/block name no physical disk");
}

}  // namespace fullbore::observe
