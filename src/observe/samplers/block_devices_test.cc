#include "observe/samplers/block_devices.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::ElementsAre;
using testing::Optional;

// LVM on RAID on partitions of two disks.
const base::InMemoryFiles kFiles(
    Texts{{"/sys/class/block/nvme0n1p2/partition", "2\n"},
          {"/sys/class/block/sdb1/partition", "1\n"},
          {"/sys/class/block/dm-0/slaves/md127/size", "1\n"},
          {"/sys/class/block/md127/slaves/nvme0n1p2/size", "1\n"},
          {"/sys/class/block/md127/slaves/sdb1/size", "1\n"}},
    {{"/sys/dev/block/259:2", "../../devices/pci0000:00/nvme/nvme0/nvme0n1/nvme0n1p2"},
     {"/sys/class/block/nvme0n1p2", "../../devices/pci0000:00/nvme/nvme0/nvme0n1/nvme0n1p2"},
     {"/sys/class/block/nvme0n1", "../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1"},
     {"/sys/class/block/sdb1", "../../devices/pci0000:00/ata1/block/sdb/sdb1"},
     {"/sys/class/block/sdb", "../../devices/pci0000:00/ata1/block/sdb"},
     {"/sys/class/block/dm-0", "../../devices/virtual/block/dm-0"},
     {"/sys/class/block/loop0", "../../devices/virtual/block/loop0"}});

TEST(BlockDevicesTest, ANumberNamesADevice) {
  EXPECT_THAT(device_name(kFiles, "259:2"), Optional(std::string("nvme0n1p2")));
  EXPECT_FALSE(device_name(kFiles, "0:45"));
}

TEST(BlockDevicesTest, APartitionBelongsToItsDisk) {
  EXPECT_EQ(whole_disk(kFiles, "nvme0n1p2"), "nvme0n1");
  EXPECT_EQ(whole_disk(kFiles, "sdb"), "sdb");
}

TEST(BlockDevicesTest, AVolumeIsFollowedByTheDisksItIsMadeOf) {
  EXPECT_THAT(disks_below(kFiles, "dm-0"), ElementsAre("dm-0", "md127", "nvme0n1", "sdb"));
  EXPECT_THAT(disks_below(kFiles, "sdb1"), ElementsAre("sdb"));
}

TEST(BlockDevicesTest, OnlyRealDisksCountForTheHost) {
  EXPECT_TRUE(is_physical_disk(kFiles, "sdb"));
  EXPECT_TRUE(is_physical_disk(kFiles, "nvme0n1"));
  for (const char* device : {"sdb1", "dm-0", "loop0", "unknown"})
    EXPECT_FALSE(is_physical_disk(kFiles, device)) << device;
}

TEST(BlockDevicesTest, AVolumeThatContainsItselfEnds) {
  const base::InMemoryFiles files(Texts{{"/sys/class/block/dm-0/slaves/dm-0/size", "1\n"}});
  EXPECT_THAT(disks_below(files, "dm-0"), ElementsAre("dm-0"));
}

}  // namespace
}  // namespace fullbore::observe
