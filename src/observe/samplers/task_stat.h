// /proc/PID/stat and /proc/PID/task/TID/stat as a struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fullbore::observe {

// Times in clock ticks (kTicksPerSecond). The children_ fields count children that were waited for, and theirs.
struct TaskStat {
  std::string name;
  char state = '?';
  std::uint32_t parent = 0;
  std::uint64_t minor_faults = 0;  // pages that needed no disk
  std::uint64_t major_faults = 0;
  std::uint64_t children_major_faults = 0;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t children_user_ticks = 0;
  std::uint64_t children_system_ticks = 0;
  int nice = 0;
  std::uint32_t threads = 0;
  std::uint64_t start_ticks = 0;  // with the pid it names a process: pids are used again
  std::uint64_t resident_pages = 0;
  std::optional<int> core;  // on which it ran last; nothing where the text ends before
};

// Nothing if any of these fields but the last is missing or no number.
std::optional<TaskStat> parse_task_stat(std::string_view text);

}  // namespace fullbore::observe
