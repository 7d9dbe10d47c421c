#include "observe/samplers/data_mounts.h"

#include <algorithm>
#include <optional>

#include "observe/samplers/block_devices.h"
#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

// As the kernel does (MAXSYMLINKS).
constexpr int kMostLinks = 40;

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

}  // namespace

bool DataMounts::update(const std::vector<std::string>& paths, std::uint32_t pid) {
  bool any = false;
  for (const std::string& path : paths) {
    if (std::ranges::count(seen_, path) > 0) continue;
    seen_.push_back(path);
    place(path, pid);
    any = true;
  }
  return any;
}

void DataMounts::place(const std::string& path, std::uint32_t pid) {
  auto mountinfo = files_.read(proc_path(pid, "mountinfo"));
  if (!mountinfo) mountinfo = files_.read(proc_path(0, "mountinfo"));  // it has ended: ours are most likely the same
  if (!mountinfo) {
    why_ = mountinfo.error().message();
    return;
  }
  const std::vector<Mount> all = parse_mounts(*mountinfo);
  const Mount* mount = mount_of(all, resolved(path, pid));
  if (mount == nullptr) {
    why_ = "no mount holds " + path;
    return;
  }
  const auto known = std::ranges::find_if(
      mounts_, [&](const DataMount& m) { return m.mount.point == mount->point && m.mount.device == mount->device; });
  if (known != mounts_.end()) {
    ++known->paths;
  } else {
    mounts_.push_back({*mount, disks_of(*mount), 1});
  }
}

// Follows symbolic links in any component: a data folder in the home directory often is one.
std::string DataMounts::resolved(const std::string& path, std::uint32_t pid) const {
  const std::string root = proc_path(pid, "root");
  std::string rest = path, done;
  int links = 0;
  while (!rest.empty()) {
    const std::size_t begin = rest.find_first_not_of('/');
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string name = rest.substr(begin, end - begin);
    rest = rest.substr(end);
    if (name == ".") continue;
    if (name == "..") {
      done = parent_of(done);
      continue;
    }
    const std::string here = done + "/" + name;
    auto target = files_.read_link(root + here);
    if (!target) target = files_.read_link(here);
    if (!target || ++links > kMostLinks) {
      done = here;
      continue;
    }
    if (target->starts_with('/')) done.clear();
    rest = *target + rest;
  }
  return done.empty() ? "/" : done;
}

std::vector<std::string> DataMounts::disks_of(const Mount& mount) const {
  auto device = device_name(files_, mount.device);
  // btrfs and others have a number of their own; the source names a device then.
  if (!device && mount.source.starts_with("/dev/")) {
    const auto target = files_.read_link(mount.source);  // "/dev/mapper/data" -> "../dm-0"
    device = std::string(last_component(target ? *target : mount.source));
    if (!files_.read("/sys/class/block/" + *device + "/dev")) device.reset();
  }
  if (!device) return {};
  return disks_below(files_, *device);
}

}  // namespace fullbore::observe
