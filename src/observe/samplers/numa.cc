#include "observe/samplers/numa.h"

#include <algorithm>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

constexpr const char* kNodes = "/sys/devices/system/node";
// "node12" -> 12
std::optional<int> node_number(std::string_view name) {
  constexpr std::string_view kName = "node";
  return name.starts_with(kName) ? number<int>(name.substr(kName.size())) : std::nullopt;
}

}  // namespace

void NumaSampler::start(Readings& out) {
  started_ = true;
  std::map<int, std::string> lists;
  for (const std::string& name : files_.list(kNodes).value_or(std::vector<std::string>())) {
    const auto node = node_number(name);
    if (!node) continue;
    const auto text = files_.read(std::string(kNodes) + "/" + name + "/cpulist");
    // A node without cores is memory only.
    if (text && cpu_list(*text)) lists[*node] = std::string(trimmed(*text));
  }
  if (lists.size() < 2) return;
  for (const auto& [node, list] : lists) {
    const auto cores = *cpu_list(list);
    for (const int core : cores) node_of_[core] = node;
    out.gauge("numa.cores", std::to_string(node) + "/" + list, "cores", static_cast<double>(cores.size()));
  }
}

void NumaSampler::look(const TaskStat& stat, const std::string& label, Readings& out) {
  const auto node = stat.core ? node_of_.find(*stat.core) : node_of_.end();
  if (node == node_of_.end()) return;
  const std::string full = label + "/" + std::to_string(node->second);
  out.counter("numa.looks", full, "looks", ++looks_[full]);
}

void NumaSampler::look_at_mask(std::uint32_t pid, Readings& out) {
  const auto status = files_.read(proc_path(pid, "status"));
  const auto allowed = status ? allowed_cpus(*status) : std::nullopt;
  if (!allowed || !node_of_.contains(allowed->front())) return;
  const int first = node_of_.at(allowed->front());
  const bool one_node = std::ranges::all_of(*allowed, [&](int core) {
    const auto node = node_of_.find(core);
    return node != node_of_.end() && node->second == first;
  });
  out.gauge("numa.bound_to", std::to_string(pid), "node", one_node ? first : -1);
}

void NumaSampler::sample(const ProcessTree& tree, std::int64_t, Readings& out) {
  if (!started_) start(out);
  if (node_of_.empty()) return;
  for (const std::uint32_t pid : tree.pids) {
    const auto text = files_.read(proc_path(pid, "stat"));
    const auto stat = text ? parse_task_stat(*text) : std::nullopt;
    if (!stat) continue;  // it has ended
    if (std::ranges::find(tree.trainers, pid) != tree.trainers.end()) {
      look(*stat, "trainer/" + std::to_string(pid), out);
      look_at_mask(pid, out);
    } else if (std::ranges::find(tree.trainers, stat->parent) != tree.trainers.end()) {
      look(*stat, "children/" + std::to_string(stat->parent), out);
    }
  }
}

}  // namespace fullbore::observe
