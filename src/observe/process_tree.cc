#include "observe/process_tree.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

namespace fullbore::observe {
namespace {

template <typename T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Words separated by blanks or newlines.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \n", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

}  // namespace

std::optional<ProcessStat> read_process_stat(const base::FileReader& files, std::uint32_t pid) {
  const auto text = files.read(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  // The name in parentheses may hold blanks and parentheses itself; fields count from the last one.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const auto fields = words(std::string_view(*text).substr(name_end + 1));
  ProcessStat stat;
  if (fields.size() < 20 || fields[0].size() != 1) return std::nullopt;
  stat.state = fields[0][0];
  if (!parse(fields[1], stat.parent_pid) || !parse(fields[2], stat.group) || !parse(fields[19], stat.start_ticks)) {
    return std::nullopt;
  }
  return stat;
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
    for (const std::string_view word : words(*children)) {
      std::uint32_t child = 0;
      if (!parse(word, child) || start_ticks_.contains(child)) continue;
      add(child);
      if (start_ticks_.contains(child)) found.push_back(child);
    }
  }
  return true;
}

void ProcessTracker::add_children_by_scan() {
  const auto entries = files_.list("/proc");
  if (!entries) return;
  std::map<std::uint32_t, ProcessStat> all;
  for (const std::string& entry : *entries) {
    std::uint32_t pid = 0;
    if (!parse(std::string_view(entry), pid)) continue;
    if (const auto stat = read_process_stat(files_, pid)) all[pid] = *stat;
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
