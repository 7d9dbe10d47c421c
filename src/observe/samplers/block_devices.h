// From a device number to the disks below it: partitions, device mapper volumes and RAID sets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_reader.h"

namespace fullbore::observe {

// Name of device "254:0" as /proc/diskstats prints it.
std::optional<std::string> device_name(const base::FileReader& files, std::string_view numbers);

// The whole disk of a partition, every other device itself.
std::string whole_disk(const base::FileReader& files, const std::string& device);

// A disk that counts once when host-wide I/O is summed: no partition, no volume above others, no loop, ram or zram.
bool is_physical_disk(const base::FileReader& files, const std::string& device);

// The device (whole disk, or the volume), then for a volume each disk it is made of.
std::vector<std::string> disks_below(const base::FileReader& files, const std::string& device);

}  // namespace fullbore::observe
