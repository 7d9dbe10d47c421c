#include "observe/samplers/task_stat.h"

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

// Numbers of proc(5); the first two, pid and name, are taken off before.
constexpr std::size_t kState = 3, kParent = 4, kMinorFaults = 10, kMajorFaults = 12, kChildrenMajorFaults = 13,
                      kUser = 14, kSystem = 15, kChildrenUser = 16, kChildrenSystem = 17, kNice = 19, kThreads = 20,
                      kStart = 22, kResident = 24, kCore = 39;

template <typename T>
bool take(const std::vector<std::string_view>& rest, std::size_t field, T& into) {
  const auto value = number<T>(rest[field - kState]);
  if (value) into = *value;
  return value.has_value();
}

}  // namespace

std::optional<TaskStat> parse_task_stat(std::string_view text) {
  // A name may hold anything, blanks and parentheses too: it ends at the last one.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const auto rest = fields(text.substr(close + 1), kCore - kState + 1);
  if (rest.size() < kResident - kState + 1 || rest[0].size() != 1) return std::nullopt;
  TaskStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  stat.state = rest[0][0];
  const bool whole =
      take(rest, kParent, stat.parent) && take(rest, kMinorFaults, stat.minor_faults) &&
      take(rest, kMajorFaults, stat.major_faults) && take(rest, kChildrenMajorFaults, stat.children_major_faults) &&
      take(rest, kUser, stat.user_ticks) && take(rest, kSystem, stat.system_ticks) &&
      take(rest, kChildrenUser, stat.children_user_ticks) && take(rest, kChildrenSystem, stat.children_system_ticks) &&
      take(rest, kNice, stat.nice) && take(rest, kThreads, stat.threads) && take(rest, kStart, stat.start_ticks) &&
      take(rest, kResident, stat.resident_pages);
  if (!whole) return std::nullopt;
  if (rest.size() > kCore - kState) stat.core = number<int>(rest[kCore - kState]);
  return stat;
}

}  // namespace fullbore::observe
