// What the system tells of the command where no step is known: all there is for programs that are not Python, or that
// the hook was kept out of.
#include <fmt/format.h>

#include <algorithm>

#include "report/sections.h"
#include "report/words.h"

namespace fullbore::report {
namespace {

using namespace diagnose;

constexpr std::size_t kLabel = 16;

class SystemRows {
 public:
  SystemRows(Page& page, const Diagnosis& d) : page_(page), d_(d) {}

  std::optional<double> value(std::string_view metric) const { return system_value(d_, metric); }

  // A row of the parts that were measured; no row if none was.
  void row(std::string_view label, std::vector<std::string> parts) const {
    std::erase(parts, "");
    if (parts.empty()) return;
    page_.prose("  " + page_.left(label, kLabel), kLabel + 2, fmt::format("{}", fmt::join(parts, ", ")));
  }

  std::string part(std::string_view metric, std::string_view unit, std::string_view words) const {
    const auto found = value(metric);
    return found ? fmt::format("{} {}", with_unit(*found, unit), words) : "";
  }

 private:
  Page& page_;
  const Diagnosis& d_;
};

std::string cores_used(const SystemRows& rows) {
  const auto used = rows.value("cpu.tree_cores");
  const auto usable = rows.value("cpu.usable_cores");
  if (!used) return "";
  return usable ? fmt::format("{:.2f} of {} in use by the command", *used, number(*usable))
                : fmt::format("{:.2f} in use by the command", *used);
}

std::string cores_of(const SystemRows& rows, std::string_view metric, std::string_view words) {
  const auto found = rows.value(metric);
  return found ? fmt::format("{:.2f} {}", *found, words) : "";
}

}  // namespace

void write_system(Page& page, const Diagnosis& d) {
  if (d.steps.count > 0 || std::ranges::none_of(d.system, [](const auto& metric) { return metric.second.has_value(); }))
    return;
  page.heading("System", "the command as a whole, no step being known");
  const SystemRows rows(page, d);
  rows.row("cores", {cores_used(rows), cores_of(rows, "cpu.neighbour_cores", "by others"),
                     cores_of(rows, "cpu.free_cores", "free")});
  rows.row("", {cores_of(rows, "cpu.runnable_without_core", "threads wanted one and had none"),
                rows.part("cpu.throttled_share", "share", "of the quota's periods stopped")});
  rows.row("read", {rows.part("tree.requested_mb_per_s", "MB/s", "asked for"),
                    rows.part("tree.read_mb_per_s", "MB/s", "of it from storage")});
  rows.row("disk", {rows.part("disk.busy_share", "share", "busy"), rows.part("disk.read_mb_per_s", "MB/s", "read")});
  rows.row("memory", {rows.part("tree.rss_mib", "MiB", "held by the command"),
                      rows.part("memory.available_mib", "MiB", "available on the machine")});
  rows.row("stalls", {rows.part("pressure.cpu_some_share", "share", "of the time for a core"),
                      rows.part("pressure.io_some_share", "share", "for storage"),
                      rows.part("pressure.memory_some_share", "share", "for memory (of the whole machine)")});
}

}  // namespace fullbore::report
