#include "diagnose/causes/device_counters.h"

#include <algorithm>

namespace fullbore::diagnose {

std::string device_bus(const Situation& situation) {
  for (const auto& device : situation.trainer->rank->gpu_devices) {
    if (device.pid == situation.trainer->pid) return std::string(situation.run->name(device.record.pci_bus_id));
  }
  return "";
}

std::optional<double> device_mean(const Situation& situation, const char* metric) {
  return mean_in(situation.run->find(metric, device_bus(situation)), situation.iterations.whole_begin_ns,
                 situation.iterations.whole_end_ns);
}

std::optional<double> device_highest(const Situation& situation, const char* metric) {
  const record::Series* series = situation.run->find(metric, device_bus(situation));
  if (series == nullptr || series->value.empty()) return std::nullopt;
  return std::ranges::max(series->value);
}

std::optional<double> device_rate(const Situation& situation, const char* metric) {
  return rate_in(situation.run->find(metric, device_bus(situation)), situation.iterations.whole_begin_ns,
                 situation.iterations.whole_end_ns);
}

}  // namespace fullbore::diagnose
