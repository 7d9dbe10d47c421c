#include "observe/samplers/pressure.h"

#include <cerrno>
#include <string>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

std::optional<double> total_of(std::string_view line) {
  constexpr std::string_view kTotal = "total=";
  const std::size_t at = line.find(kTotal);
  if (at == std::string_view::npos) return std::nullopt;
  const auto microseconds = number(trimmed(line.substr(at + kTotal.size())));
  return microseconds ? std::optional(static_cast<double>(*microseconds) / 1e6) : std::nullopt;
}

std::string reason(const base::Error& error) {
  if (error.error_number() == ENOENT) return "this kernel has no pressure stall information (CONFIG_PSI is off)";
  if (error.error_number() == EOPNOTSUPP)
    return "pressure stall information is off: the kernel was booted without psi=1";
  return error.message();
}

}  // namespace

Stalls parse_stalls(std::string_view text) {
  Stalls stalls;
  for (const std::string_view line : lines(text)) {
    if (line.starts_with("some ")) stalls.some_s = total_of(line);
    if (line.starts_with("full ")) stalls.full_s = total_of(line);
  }
  return stalls;
}

void PressureSampler::sample(const ProcessTree&, std::int64_t, Readings& out) {
  for (const char* resource : {"cpu", "io", "memory"}) {
    const std::string path = std::string("/proc/pressure/") + resource;
    const auto text = files_.read(path);
    if (!text) {
      out.missing("pressure", reason(text.error()));
      continue;
    }
    const Stalls stalls = parse_stalls(*text);
    if (!stalls.some_s) out.missing("pressure", path + " has no line \"some ... total=N\"");
    if (stalls.some_s) out.counter("pressure.some_s", resource, "s", *stalls.some_s);
    // "full" is not defined for the CPU of a whole host; kernels print zeros there.
    if (stalls.full_s && std::string_view(resource) != "cpu")
      out.counter("pressure.full_s", resource, "s", *stalls.full_s);
  }
}

}  // namespace fullbore::observe
