#include "observe/samplers/disk.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

constexpr const char* kDiskstats =
    "   7       0 loop0 900 0 900 9 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
    " 254       0 vda 1000 99 4000 500 200 9 1600 250 3 600 900 854 0 133888 175 1077 46\n"
    " 254       1 vda1 1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
    " 254      16 vdb 10 0 80 5 2 0 16 1 0 6 6 0 0 0 0 0 0\n";

constexpr const char* kMountinfo =
    "27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw\n"
    "28 27 0:40 / /nfs ro,relatime - nfs4 server:/export rw,vers=4.2\n"
    "29 27 0:45 / /pool rw - btrfs /dev/mapper/pool rw\n"
    "30 27 254:16 / /fast rw,noatime - xfs /dev/vdb rw\n"
    "31 27 0:46 / /shared rw,relatime - tmpfs none rw\n";

base::InMemoryFiles machine(std::map<std::string, std::string> more_links = {}) {
  std::map<std::string, std::string> links = {{"/sys/dev/block/254:1", "../../devices/virtio1/block/vda/vda1"},
                                              {"/sys/dev/block/254:16", "../../devices/virtio2/block/vdb"},
                                              {"/sys/class/block/vda1", "../../devices/virtio1/block/vda/vda1"},
                                              {"/sys/class/block/vda", "../../devices/virtio1/block/vda"},
                                              {"/sys/class/block/vdb", "../../devices/virtio2/block/vdb"},
                                              {"/sys/class/block/loop0", "../../devices/virtual/block/loop0"}};
  links.merge(more_links);
  return base::InMemoryFiles(Texts{{"/proc/diskstats", kDiskstats},
                                   {"/proc/7/mountinfo", kMountinfo},
                                   {"/sys/class/block/vda1/partition", "1\n"},
                                   {"/sys/class/block/vda/queue/rotational", "1\n"}},
                             links);
}

ProcessTree tree(std::vector<std::string> paths) {
  return {7, {7}, {}, std::move(paths)};
}

TEST(DiskTest, ReportsTheWholeDiskBelowTheDataFiles) {
  const auto files = machine();
  RecordedReadings out;
  DiskSampler(files).sample(tree({"/data/a.jpg", "/data/b.jpg"}), 0, out);
  EXPECT_THAT(out.value("disk.reads", "vda"), Optional(1000.0));
  EXPECT_THAT(out.value("disk.read_bytes", "vda"), Optional(4000 * 512.0));
  EXPECT_THAT(out.value("disk.read_s", "vda"), Optional(0.5));
  EXPECT_THAT(out.value("disk.write_bytes", "vda"), Optional(1600 * 512.0));
  EXPECT_THAT(out.value("disk.in_flight", "vda"), Optional(3.0));
  EXPECT_THAT(out.value("disk.busy_s", "vda"), Optional(0.6));
  EXPECT_THAT(out.value("disk.queue_s", "vda"), Optional(0.9));
  EXPECT_THAT(out.value("disk.rotational", "vda"), Optional(1.0));
  EXPECT_THAT(out.value("mount.device", "vda"), Optional(2.0));
  EXPECT_THAT(out.value("mount.type", "ext4"), Optional(2.0));
  EXPECT_THAT(out.value("mount.options", "rw,relatime"), Optional(2.0));
  EXPECT_FALSE(out.value("disk.reads", "vdb"));
  EXPECT_THAT(out.all_missing(), IsEmpty());
}

TEST(DiskTest, TheHostIsTheSumOfItsPhysicalDisks) {
  const auto files = machine();
  RecordedReadings out;
  DiskSampler(files).sample(tree({}), 0, out);
  EXPECT_THAT(out.value("disk.reads", "host"), Optional(1010.0));
  EXPECT_THAT(out.value("disk.read_bytes", "host"), Optional(4080 * 512.0));
  EXPECT_FALSE(out.value("disk.reads", "vda"));
}

TEST(DiskTest, PathsOfMountsThatShareALabelAreAddedUp) {
  const auto files = machine();
  RecordedReadings out;
  DiskSampler sampler(files);
  sampler.sample(tree({"/a", "/b", "/fast/c", "/pool/d"}), 0, out);
  EXPECT_THAT(out.value("mount.type", "ext4"), Optional(2.0));
  EXPECT_THAT(out.value("mount.options", "rw"), Optional(1.0));
  EXPECT_THAT(out.value("mount.options", "rw,relatime"), Optional(2.0));
  EXPECT_THAT(out.value("mount.options", "rw,noatime"), Optional(1.0));
  sampler.sample(tree({"/a", "/b", "/fast/c", "/pool/d", "/shared/e"}), 1, out);
  EXPECT_THAT(out.value("mount.options", "rw,relatime"), Optional(3.0));
}

TEST(DiskTest, AFileSystemWithoutADeviceIsNamed) {
  const auto files = machine();
  RecordedReadings out;
  DiskSampler(files).sample(tree({"/nfs/train/a.jpg"}), 0, out);
  EXPECT_THAT(out.value("mount.type", "nfs4"), Optional(1.0));
  EXPECT_THAT(out.why("disk"), AllOf(HasSubstr("nfs4"), HasSubstr("server:/export at /nfs")));
  EXPECT_FALSE(out.value("mount.device", "nfs4"));
}

TEST(DiskTest, SymbolicLinksAreFollowedAsTheProcessSeesThem) {
  const auto files = machine({{"/proc/7/root/home", "/users"}, {"/proc/7/root/users/me/data", "../../fast/set"}});
  RecordedReadings out;
  DiskSampler(files).sample(tree({"/home/me/data/a.jpg"}), 0, out);
  EXPECT_THAT(out.value("mount.type", "xfs"), Optional(1.0));
  EXPECT_THAT(out.value("disk.reads", "vdb"), Optional(10.0));
}

TEST(DiskTest, LinksInACircleEnd) {
  const auto files = machine({{"/proc/7/root/a", "/b"}, {"/proc/7/root/b", "/a"}});
  RecordedReadings out;
  DiskSampler(files).sample(tree({"/a/x"}), 0, out);
  EXPECT_THAT(out.value("mount.type", "ext4"), Optional(1.0));
}

TEST(DiskTest, AVolumeIsFoundByTheSourceOfTheMount) {
  auto files = machine({{"/dev/mapper/pool", "../dm-0"}});
  files.set("/sys/class/block/dm-0/dev", "253:0\n");
  files.set("/sys/class/block/dm-0/slaves/vdb/size", "1\n");
  RecordedReadings out;
  DiskSampler(files).sample(tree({"/pool/a"}), 0, out);
  EXPECT_THAT(out.value("mount.device", "dm-0"), Optional(1.0));
  EXPECT_THAT(out.value("disk.reads", "vdb"), Optional(10.0));
}

TEST(DiskTest, GarbageIsMissingNotZero) {
  for (const char* text : {"", "254 0 vda", "254 0 vda 1 2 3 4 5 6 7 8 9 10 x\n", "\n\n"}) {
    auto files = machine();
    files.set("/proc/diskstats", text);
    files.set("/proc/7/mountinfo", text);
    RecordedReadings out;
    DiskSampler(files).sample(tree({"/data/a"}), 0, out);
    EXPECT_THAT(out.values(), IsEmpty()) << text;
    EXPECT_NE(out.why("disk"), "") << text;
    EXPECT_NE(out.why("mount"), "") << text;
  }
}

}  // namespace
}  // namespace fullbore::observe
