#include "observe/samplers/memory.h"

#include <array>
#include <string>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

struct Line {
  const char* key;
  const char* metric;
  const char* unit;
  double factor;
};

constexpr std::array<Line, 7> kMeminfo = {{
    {"MemTotal:", "memory.total_bytes", "bytes", 1024},
    {"MemAvailable:", "memory.available_bytes", "bytes", 1024},
    {"Cached:", "memory.cached_bytes", "bytes", 1024},
    {"Dirty:", "memory.dirty_bytes", "bytes", 1024},
    {"Committed_AS:", "memory.committed_bytes", "bytes", 1024},
    {"SwapTotal:", "memory.swap_total_bytes", "bytes", 1024},
    {"SwapFree:", "memory.swap_free_bytes", "bytes", 1024},
}};

constexpr std::array<Line, 4> kVmstat = {{
    {"pswpin", "memory.swap_in_bytes", "bytes", kPageBytes},
    {"pswpout", "memory.swap_out_bytes", "bytes", kPageBytes},
    {"pgmajfault", "memory.major_faults", "faults", 1},
    {"workingset_refault_file", "memory.refault_file", "pages", 1},
}};

// Calls `report(line, value)` for each line of the table that the file has; names the others.
template <std::size_t N, typename Report>
void read_table(const base::FileReader& files, std::string_view path, const std::array<Line, N>& table, Readings& out,
                Report report) {
  const auto text = files.read(path);
  if (!text) return out.missing("memory", text.error().message());
  for (const Line& line : table) {
    if (const auto value = value_of(*text, line.key)) {
      report(line, static_cast<double>(*value) * line.factor);
    } else {
      out.missing(line.metric, std::string(path) + " has no number " + line.key);
    }
  }
}

}  // namespace

void MemorySampler::sample(const ProcessTree&, std::int64_t, Readings& out) {
  read_table(files_, "/proc/meminfo", kMeminfo, out,
             [&](const Line& line, double value) { out.gauge(line.metric, "", line.unit, value); });
  read_table(files_, "/proc/vmstat", kVmstat, out,
             [&](const Line& line, double value) { out.counter(line.metric, "", line.unit, value); });
}

}  // namespace fullbore::observe
