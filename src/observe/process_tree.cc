#include "observe/process_tree.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {

std::optional<ProcessStat> read_process_stat(const base::FileReader& files, std::uint32_t pid) {
  const auto text = files.read(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  // The name in parentheses may hold blanks and parentheses itself; fields count from the last one.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const auto rest = fields(std::string_view(*text).substr(name_end + 1), 20);
  if (rest.size() < 20 || rest[0].size() != 1) return std::nullopt;
  const auto parent = number<std::uint32_t>(rest[1]);
  const auto group = number<std::uint32_t>(rest[2]);
  const auto start = number(rest[19]);
  if (!parent || !group || !start) return std::nullopt;
  return ProcessStat{rest[0][0], *parent, *group, *start};
}

ProcessTracker::ProcessTracker(const base::FileReader& files, std::uint32_t root_pid)
    : files_(files), root_pid_(root_pid) {
  add(root_pid);
}

void ProcessTracker::add(std::uint32_t pid) {
  const auto stat = read_process_stat(files_, pid);
  if (stat && stat->state != 'Z' && stat->state != 'X') start_ticks_[pid] = stat->start_ticks;
}

void ProcessTracker::refresh() {
  forget_the_dead();
  std::vector<std::uint32_t> open = pids();
  while (!open.empty()) {
    const std::uint32_t pid = open.back();
    open.pop_back();
    if (!add_children_of(pid, open)) return add_children_by_scan();
  }
}

std::vector<std::uint32_t> ProcessTracker::pids() const {
  std::vector<std::uint32_t> all;
  if (start_ticks_.contains(root_pid_)) all.push_back(root_pid_);
  for (const auto& [pid, ticks] : start_ticks_) {
    if (pid != root_pid_) all.push_back(pid);
  }
  return all;
}

void ProcessTracker::forget_the_dead() {
  std::erase_if(start_ticks_, [&](const auto& known) {
    const auto stat = read_process_stat(files_, known.first);
    return !stat || stat->start_ticks != known.second || stat->state == 'Z' || stat->state == 'X';
  });
}

// False if this kernel does not list children (CONFIG_PROC_CHILDREN).
bool ProcessTracker::add_children_of(std::uint32_t pid, std::vector<std::uint32_t>& found) {
  const auto threads = files_.list(fmt::format("/proc/{}/task", pid));
  if (!threads) return true;  // ended meanwhile
  for (const std::string& thread : *threads) {
    const auto children = files_.read(fmt::format("/proc/{}/task/{}/children", pid, thread));
    if (!children) {
      if (files_.read(fmt::format("/proc/{}/task/{}/stat", pid, thread))) return false;
      continue;
    }
    for (const std::string_view word : fields(*children)) {
      const auto child = number<std::uint32_t>(word);
      if (!child || start_ticks_.contains(*child)) continue;
      add(*child);
      if (start_ticks_.contains(*child)) found.push_back(*child);
    }
  }
  return true;
}

void ProcessTracker::add_children_by_scan() {
  const auto entries = files_.list("/proc");
  if (!entries) return;
  std::map<std::uint32_t, ProcessStat> all;
  for (const std::string& entry : *entries) {
    const auto pid = number<std::uint32_t>(entry);
    if (!pid) continue;
    if (const auto stat = read_process_stat(files_, *pid)) all[*pid] = *stat;
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [pid, stat] : all) {
      if (start_ticks_.contains(pid) || !start_ticks_.contains(stat.parent_pid)) continue;
      if (stat.state == 'Z' || stat.state == 'X') continue;
      start_ticks_[pid] = stat.start_ticks;
      grew = true;
    }
  }
}

}  // namespace fullbore::observe
