#include "observe/samplers/mounts.h"

#include <gmock/gmock.h>

namespace fullbore::observe {
namespace {

constexpr const char* kMountinfo =
    "27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard\n"
    "28 27 0:40 /sub /data\\040set ro - nfs4 server:/export ro,vers=4.2\n"
    "29 27 254:1 / /mnt rw - xfs /dev/vdb rw\n"
    "30 27 0:41 / /mnt rw - tmpfs none\n"
    "malformed\n31 27 0:1 / - \n";

TEST(MountsTest, ReadsLinesWithAnyNumberOfTags) {
  const auto mounts = parse_mounts(kMountinfo);
  ASSERT_EQ(mounts.size(), 4u);
  EXPECT_EQ(mounts[0].device, "254:0");
  EXPECT_EQ(mounts[0].type, "ext4");
  EXPECT_EQ(mounts[0].super_options, "rw,discard");
  EXPECT_EQ(mounts[1].root, "/sub");
  EXPECT_EQ(mounts[1].point, "/data set");
  EXPECT_EQ(mounts[1].options, "ro");
  EXPECT_EQ(mounts[1].source, "server:/export");
}

TEST(MountsTest, TheLongestAndLatestMountHoldsAPath) {
  const auto mounts = parse_mounts(kMountinfo);
  EXPECT_EQ(mount_of(mounts, "/data set/a.jpg")->type, "nfs4");
  EXPECT_EQ(mount_of(mounts, "/data set")->type, "nfs4");
  EXPECT_EQ(mount_of(mounts, "/data sets/a.jpg")->type, "ext4");
  EXPECT_EQ(mount_of(mounts, "/mnt/a")->type, "tmpfs");
}

TEST(MountsTest, ARelativePathLiesNowhere) {
  EXPECT_EQ(mount_of(parse_mounts(kMountinfo), "a.jpg"), nullptr);
  EXPECT_EQ(mount_of({}, "/a.jpg"), nullptr);
}

}  // namespace
}  // namespace fullbore::observe
