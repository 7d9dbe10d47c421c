#include "record/run_info.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace fullbore::record {
namespace {

using nlohmann::json;

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

template <typename T>
std::optional<T> optional_of(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return std::nullopt;
  return it->get<T>();
}

RunInfo from_json(const json& object) {
  RunInfo info;
  info.fullbore_version = object.value("fullbore_version", "");
  info.command = object.value("command", std::vector<std::string>{});
  info.working_directory = object.value("working_directory", "");
  info.host = object.value("host", "");
  info.started_utc = object.value("started_utc", "");
  info.start_ns = object.value("start_ns", std::int64_t{0});
  info.end_ns = optional_of<std::int64_t>(object, "end_ns");
  info.exit_code = optional_of<int>(object, "exit_code");
  info.signal = optional_of<int>(object, "signal");
  info.stopped_by = object.value("stopped_by", "");
  info.fix = object.value("fix", "");
  info.environment = object.value("environment", std::map<std::string, std::string>{});
  info.ceilings = object.value("ceilings", std::map<std::string, double>{});
  info.collector_cpu_s = optional_of<double>(object, "collector_cpu_s");
  info.collector_peak_mib = optional_of<double>(object, "collector_peak_mib");
  for (const auto& item : object.value("missing", json::array())) {
    info.missing.emplace_back(item.value("signal", ""), item.value("why", ""));
  }
  return info;
}

}  // namespace

std::string to_json(const RunInfo& info) {
  json missing = json::array();
  for (const auto& [signal, why] : info.missing) missing.push_back({{"signal", signal}, {"why", why}});
  const json object = {{"format", kFolderFormat},
                       {"fullbore_version", info.fullbore_version},
                       {"command", info.command},
                       {"working_directory", info.working_directory},
                       {"host", info.host},
                       {"started_utc", info.started_utc},
                       {"start_ns", info.start_ns},
                       {"end_ns", or_null(info.end_ns)},
                       {"exit_code", or_null(info.exit_code)},
                       {"signal", or_null(info.signal)},
                       {"stopped_by", info.stopped_by},
                       {"fix", info.fix},
                       {"environment", info.environment},
                       {"ceilings", info.ceilings},
                       {"collector_cpu_s", or_null(info.collector_cpu_s)},
                       {"collector_peak_mib", or_null(info.collector_peak_mib)},
                       {"missing", missing}};
  // A command line may hold any bytes; what is not UTF-8 is replaced, never refused.
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

base::Expected<RunInfo> parse_run_info(std::string_view text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return base::fail("run.json is not JSON");
  const auto format = object.find("format");
  if (format == object.end() || !format->is_number_integer()) return base::fail("run.json has no format number");
  if (format->get<int>() > kFolderFormat) {
    return base::fail(
        fmt::format("run folder format {} was written by Fullbore {}; this one reads up to format {}: update it",
                    format->get<int>(), object.value("fullbore_version", "?"), kFolderFormat));
  }
  try {
    return from_json(object);
  } catch (const json::exception& wrong_type) {
    return base::fail(fmt::format("run.json is damaged: {}", wrong_type.what()));
  }
}

}  // namespace fullbore::record
