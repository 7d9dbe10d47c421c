#include "observe/samplers/block_devices.h"

#include <algorithm>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

// LVM on LUKS on RAID on partitions is four; deeper ones do not exist outside of loops.
constexpr int kMostLevels = 8;

std::string class_path(const std::string& device) {
  return "/sys/class/block/" + device;
}

bool is_partition(const base::FileReader& files, const std::string& device) {
  return files.read(class_path(device) + "/partition").has_value();
}

void collect(const base::FileReader& files, const std::string& device, int level, std::vector<std::string>& found) {
  const std::string disk = whole_disk(files, device);
  if (std::ranges::count(found, disk) == 0) found.push_back(disk);
  if (level == kMostLevels) return;
  const auto members = files.list(class_path(disk) + "/slaves");
  if (!members) return;
  for (const std::string& member : *members) collect(files, member, level + 1, found);
}

}  // namespace

std::optional<std::string> device_name(const base::FileReader& files, std::string_view numbers) {
  const auto target = files.read_link("/sys/dev/block/" + std::string(numbers));
  if (!target) return std::nullopt;
  return std::string(last_component(*target));
}

std::string whole_disk(const base::FileReader& files, const std::string& device) {
  if (!is_partition(files, device)) return device;
  const auto target = files.read_link(class_path(device));  // ".../block/vda/vda1"
  if (!target) return device;
  const std::string_view folder = std::string_view(*target).substr(0, target->rfind('/'));
  return std::string(last_component(folder));
}

bool is_physical_disk(const base::FileReader& files, const std::string& device) {
  const auto target = files.read_link(class_path(device));
  // NVMe disks with several paths lie under /devices/virtual/nvme-subsystem and are real.
  return target && !target->contains("/virtual/block/") && !is_partition(files, device);
}

std::vector<std::string> disks_below(const base::FileReader& files, const std::string& device) {
  std::vector<std::string> found;
  collect(files, device, 0, found);
  return found;
}

}  // namespace fullbore::observe
