#include "cli/ceilings_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file_reader.h"
#include "cli/ceilings_cache.h"

namespace fullbore::cli {
namespace {

base::Expected<std::vector<gpu::DeviceCeilings>> measure() {
  const auto cuda = gpu::load_cuda();
  if (!cuda) return std::unexpected(cuda.error());
  return gpu::measure_all_ceilings(**cuda);
}

std::map<std::string, double> by_name(const gpu::Ceilings& rates) {
  return {{"pinned_h2d_gb_per_s", rates.pinned_h2d_gb_per_s},
          {"pageable_h2d_gb_per_s", rates.pageable_h2d_gb_per_s},
          {"pinned_d2h_gb_per_s", rates.pinned_d2h_gb_per_s}};
}

// Where they are kept, "" if they could not be; that is told.
std::string keep(const std::vector<gpu::DeviceCeilings>& devices) {
  const std::string path = ceilings_path();
  if (path.empty()) {
    fmt::print(stderr, "fullbore: not kept for later runs: neither XDG_CACHE_HOME nor HOME is set\n");
    return "";
  }
  const std::string now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  std::vector<KeptCeilings> measured;
  for (const auto& [pci_bus_id, name, rates] : devices) measured.push_back({pci_bus_id, name, now, by_name(rates)});
  const auto kept = keep_ceilings(path, measured, base::RealFiles());
  if (kept) return path;
  fmt::print(stderr, "fullbore: not kept for later runs: {}\n", kept.error().message());
  return "";
}

}  // namespace

std::string ceilings_text(const std::vector<gpu::DeviceCeilings>& devices) {
  std::string text = fmt::format("{:<36}{:>14}{:>14}{:>14}\n", "GB/s", "pinned H2D", "pageable H2D", "pinned D2H");
  for (const auto& [pci_bus_id, name, rates] : devices) {
    text += fmt::format("{:<36}{:>14.1f}{:>14.1f}{:>14.1f}\n", pci_bus_id + "  " + name, rates.pinned_h2d_gb_per_s,
                        rates.pageable_h2d_gb_per_s, rates.pinned_d2h_gb_per_s);
  }
  return text;
}

std::string ceilings_json(const std::vector<gpu::DeviceCeilings>& devices, const std::string& kept_in) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [pci_bus_id, name, rates] : devices) {
    list.push_back({{"pci_bus_id", pci_bus_id},
                    {"name", name},
                    {"pinned_h2d_gb_per_s", rates.pinned_h2d_gb_per_s},
                    {"pageable_h2d_gb_per_s", rates.pageable_h2d_gb_per_s},
                    {"pinned_d2h_gb_per_s", rates.pinned_d2h_gb_per_s}});
  }
  const nlohmann::ordered_json whole = {
      {"schema", "fullbore.ceilings/1"},
      {"gpus", list},
      {"kept_in", kept_in.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(kept_in)}};
  return whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int ceilings_command(const CeilingsCommandOptions& options) {
  const auto devices = measure();
  if (!devices) {
    fmt::print(stderr, "fullbore: {}\n", devices.error().message());
    return 1;
  }
  const std::string kept_in = keep(*devices);
  if (options.json) {
    fmt::print("{}", ceilings_json(*devices, kept_in));
    return 0;
  }
  fmt::print("{}", ceilings_text(*devices));
  if (!kept_in.empty()) fmt::print("kept in {} for the reports of later runs\n", kept_in);
  return 0;
}

}  // namespace fullbore::cli
