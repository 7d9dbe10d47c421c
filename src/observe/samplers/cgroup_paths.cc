#include "observe/samplers/cgroup_paths.h"

#include <algorithm>

#include "observe/samplers/kernel_text.h"
#include "observe/samplers/mounts.h"

namespace fullbore::observe {
namespace {

bool contains_word(std::string_view list, std::string_view word, char separator) {
  while (!list.empty()) {
    const std::size_t end = list.find(separator);
    if (trimmed(list.substr(0, end)) == word) return true;
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
  }
  return false;
}

// The path behind "N:CONTROLLERS:" in /proc/PID/cgroup; of the v2 line "0::" for an empty controller.
std::optional<std::string> group_of(std::string_view text, std::string_view controller) {
  for (const std::string_view line : lines(text)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool match = controller.empty() ? controllers.empty() : contains_word(controllers, controller, ',');
    if (match) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

// In a container the mount shows only a part of the hierarchy: what is mounted (`root`) comes off the group's path.
std::string below(const std::string& group, const std::string& root) {
  if (root == "/") return group == "/" || group.starts_with("/..") ? "" : group;
  if (group == root || !group.starts_with(root + "/")) return "";
  return group.substr(root.size());
}

Hierarchy hierarchy(int version, const Mount& mount, const std::string& group) {
  Hierarchy found{version, {}};
  for (std::string rest = below(group, mount.root); !rest.empty(); rest.resize(rest.rfind('/'))) {
    found.directories.push_back(mount.point + rest);
  }
  found.directories.push_back(mount.point);
  return found;
}

std::optional<Hierarchy> find_v1(const std::vector<Mount>& mounts, std::string_view groups,
                                 std::string_view controller) {
  const auto mount = std::ranges::find_if(
      mounts, [&](const Mount& m) { return m.type == "cgroup" && contains_word(m.super_options, controller, ','); });
  const auto group = group_of(groups, controller);
  if (mount == mounts.end() || !group) return std::nullopt;
  return hierarchy(1, *mount, *group);
}

std::optional<Hierarchy> find_v2(const std::vector<Mount>& mounts, std::string_view groups) {
  const auto mount = std::ranges::find(mounts, "cgroup2", &Mount::type);
  const auto group = group_of(groups, "");
  if (mount == mounts.end() || !group) return std::nullopt;
  return hierarchy(2, *mount, *group);
}

}  // namespace

CgroupPaths find_cgroups(const base::FileReader& files, std::uint32_t pid) {
  CgroupPaths paths;
  const auto groups = files.read(proc_path(pid, "cgroup"));
  const auto mountinfo = files.read(proc_path(0, "mountinfo"));
  if (!groups || !mountinfo) {
    paths.why = groups ? mountinfo.error().message() : groups.error().message();
    return paths;
  }
  const std::vector<Mount> mounts = parse_mounts(*mountinfo);
  paths.unified = find_v2(mounts, *groups);
  const auto controllers = paths.unified ? files.read(paths.unified->directories.back() + "/cgroup.controllers")
                                         : base::Expected<std::string>("");
  auto place = [&](std::string_view v1_name, std::string_view v2_name) -> std::optional<Hierarchy> {
    if (auto found = find_v1(mounts, *groups, v1_name)) return found;
    if (controllers && contains_word(*controllers, v2_name, ' ')) return paths.unified;
    return std::nullopt;
  };
  paths.cpu = place("cpu", "cpu");
  paths.cpuset = place("cpuset", "cpuset");
  paths.memory = place("memory", "memory");
  paths.io = place("blkio", "io");
  paths.why = "the controller is neither mounted (v1) nor enabled (v2) where this process can see it";
  return paths;
}

}  // namespace fullbore::observe
