#include "cli/ceilings_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/cache_folder.h"
#include "observe/samplers/gpu_sampler.h"

namespace fullbore::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kGpus = "/proc/driver/nvidia/gpus";
constexpr std::array kRates = {"pinned_h2d_gb_per_s", "pageable_h2d_gb_per_s", "pinned_d2h_gb_per_s"};

std::string first_line(const base::Expected<std::string>& text) {
  return text ? text->substr(0, text->find('\n')) : "";
}

// The rest of the line that begins with `key`, without the spaces before it.
std::string line_of(const std::string& text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return "";
  const std::size_t begin = std::min(text.find_first_not_of(" \t", at + key.size()), text.size());
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

std::string uuid_of(const base::FileReader& files, const std::string& pci_bus_id) {
  const auto text = files.read(fmt::format("{}/{}/information", kGpus, pci_bus_id));
  return text ? line_of(*text, "GPU UUID:") : "";
}

// All that a rate depends on.
json key_of(const base::FileReader& files, const std::string& pci_bus_id) {
  std::string host = first_line(files.read("/etc/machine-id"));
  if (host.empty()) host = first_line(files.read("/proc/sys/kernel/hostname"));
  return {{"host", host},
          {"driver", first_line(files.read("/proc/driver/nvidia/version"))},
          {"pci_bus_id", pci_bus_id},
          {"uuid", uuid_of(files, pci_bus_id)}};
}

bool has_key(const json& entry, const json& key) {
  if (!entry.is_object()) return false;
  for (const auto& [name, value] : key.items()) {
    const auto it = entry.find(name);
    if (it == entry.end() || *it != value) return false;
  }
  return true;
}

// The entries of the file; none if it is not there or not ours.
json entries_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const json whole = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) return json::array();
  const auto entries = whole.find("gpus");
  return entries != whole.end() && entries->is_array() ? *entries : json::array();
}

std::map<std::string, double> rates_of(const json& entry) {
  std::map<std::string, double> rates;
  for (const char* rate : kRates) {
    const auto it = entry.find(rate);
    if (it != entry.end() && it->is_number()) rates[rate] = it->get<double>();
  }
  return rates;
}

base::Expected<void> replace(const fs::path& path, const std::string& text) {
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  const fs::path beside = fmt::format("{}.{}.new", path.string(), ::getpid());
  std::ofstream out(beside, std::ios::binary);
  out << text;
  out.close();
  const int wrong = out ? 0 : errno;
  if (wrong == 0) fs::rename(beside, path, code);
  if (wrong == 0 && !code) return {};
  std::error_code ignored;
  fs::remove(beside, ignored);
  return std::unexpected(base::Error::system(wrong != 0 ? wrong : code.value(), "cannot write " + path.string()));
}

}  // namespace

std::string ceilings_path() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/ceilings.json";
}

base::Expected<void> keep_ceilings(const std::string& path, const std::vector<KeptCeilings>& measured,
                                   const base::FileReader& files) {
  json kept = json::array();
  std::vector<json> keys;
  for (const KeptCeilings& one : measured) keys.push_back(key_of(files, one.pci_bus_id));
  for (const json& entry : entries_in(path)) {
    if (std::ranges::none_of(keys, [&](const json& key) { return has_key(entry, key); })) kept.push_back(entry);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    json entry = keys[i];
    entry["name"] = measured[i].name;
    entry["measured_utc"] = measured[i].measured_utc;
    for (const auto& [rate, gb_per_s] : measured[i].rates) entry[rate] = gb_per_s;
    kept.push_back(std::move(entry));
  }
  const json whole = {{"schema", "fullbore.ceilings/1"}, {"gpus", kept}};
  return replace(path, whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::map<std::string, double> known_ceilings(const std::string& path, const base::FileReader& files,
                                             const char* visible) {
  const auto slots = files.list(kGpus);
  if (path.empty() || !slots) return {};
  std::vector<gpu::GpuInfo> gpus(slots->size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].pci_bus_id = (*slots)[i];
    gpus[i].uuid = uuid_of(files, (*slots)[i]);
  }
  const std::string wanted = visible == nullptr ? "" : visible;
  const json entries = entries_in(path);
  for (const std::size_t index : observe::visible_devices(gpus, visible == nullptr ? nullptr : &wanted)) {
    const json key = key_of(files, gpus[index].pci_bus_id);
    for (const json& entry : entries) {
      if (has_key(entry, key)) return rates_of(entry);
    }
  }
  return {};
}

}  // namespace fullbore::cli
