#include "observe/samplers/process_limits.h"

#include <array>
#include <string>

#include "observe/samplers/kernel_text.h"
#include "observe/samplers/task_stat.h"

namespace fullbore::observe {
namespace {

struct Limit {
  const char* line;
  const char* name;
  const char* unit;
};

constexpr std::array<Limit, 4> kLimits = {{
    {"Max open files", "open_files", "files"},
    {"Max locked memory", "locked_memory_bytes", "bytes"},
    {"Max address space", "address_space_bytes", "bytes"},
    {"Max processes", "processes", "processes"},
}};

}  // namespace

std::optional<SoftLimit> soft_limit(std::string_view limits, std::string_view name) {
  for (const std::string_view line : lines(limits)) {
    if (!line.starts_with(name)) continue;
    const auto columns = fields(line.substr(name.size()), 1);
    if (columns.empty()) return std::nullopt;
    if (columns[0] == "unlimited") return SoftLimit{};
    const auto value = number(columns[0]);
    return value ? std::optional(SoftLimit{value}) : std::nullopt;
  }
  return std::nullopt;
}

void ProcessLimitsSampler::sample(const ProcessTree& tree, std::int64_t, Readings& out) {
  if (done_) return;
  done_ = true;
  const auto text = files_.read(proc_path(tree.root_pid, "limits"));
  if (!text) return out.missing("limit", text.error().message());
  for (const Limit& known : kLimits) {
    const std::string metric = std::string("limit.") + known.name;
    const auto limit = soft_limit(*text, known.line);
    if (!limit) {
      out.missing(metric, proc_path(tree.root_pid, "limits") + " has no number " + known.line);
    } else if (limit->value) {
      out.gauge(metric, "", known.unit, static_cast<double>(*limit->value));
    } else {
      out.gauge("limit.unlimited", known.name, "bool", 1);
    }
  }
  const auto stat_text = files_.read(proc_path(tree.root_pid, "stat"));
  if (const auto stat = stat_text ? parse_task_stat(*stat_text) : std::nullopt) {
    out.gauge("limit.nice", "", "nice", stat->nice);
  }
}

}  // namespace fullbore::observe
