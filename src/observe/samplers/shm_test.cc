#include "observe/samplers/shm.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "observe/samplers/denying_files.h"
#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::HasSubstr;
using testing::Optional;

base::Expected<FileSpace> no_space(const std::string& path) {
  return std::unexpected(base::Error::system(ENOENT, "cannot read the free space of " + path));
}

TEST(ShmTest, ReportsSharedMemoryAsTheCommandSeesIt) {
  const base::InMemoryFiles files(Texts{});
  RecordedReadings out;
  ShmSampler sampler(files, [](const std::string& path) -> base::Expected<FileSpace> {
    return path == "/proc/7/root/dev/shm" ? FileSpace{64 << 20, 60 << 20} : FileSpace{1, 1};
  });
  sampler.sample({7, {7}, {}, {}}, 0, out);
  EXPECT_THAT(out.value("shm.size_bytes"), Optional(64.0 * (1 << 20)));
  EXPECT_THAT(out.value("shm.free_bytes"), Optional(60.0 * (1 << 20)));
}

TEST(ShmTest, WithoutSharedMemoryThatIsNamed) {
  RecordedReadings out;
  ShmSampler(base::InMemoryFiles(Texts{}), no_space).sample({7, {7}, {}, {}}, 0, out);
  EXPECT_FALSE(out.value("shm.free_bytes"));
  EXPECT_THAT(out.why("shm"), HasSubstr("/dev/shm"));
}

TEST(ShmTest, CountsOpenFilesOfTheRootAndTheTrainers) {
  const base::InMemoryFiles files(
      Texts{{"/proc/7/limits", "Max open files            1024                 4096                 files     \n"},
            {"/proc/9/limits", "Max open files            unlimited            unlimited            files     \n"}},
      {{"/proc/7/fd/0", "/dev/null"}, {"/proc/7/fd/1", "/dev/null"}, {"/proc/9/fd/0", "/dev/null"}});
  RecordedReadings out;
  ShmSampler(files, no_space).sample({7, {7, 8, 9}, {9}, {}}, 0, out);
  EXPECT_THAT(out.value("files.open", "7"), Optional(2.0));
  EXPECT_THAT(out.value("files.limit", "7"), Optional(1024.0));
  EXPECT_THAT(out.value("files.open", "9"), Optional(1.0));
  EXPECT_FALSE(out.value("files.limit", "9"));
  EXPECT_FALSE(out.value("files.open", "8"));
}

TEST(ShmTest, AnotherUsersDescriptorsAreMissing) {
  RecordedReadings out;
  ShmSampler(DenyingFiles({}, {"/proc/7/fd"}), no_space).sample({7, {7}, {}, {}}, 0, out);
  EXPECT_THAT(out.why("files"), HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace fullbore::observe
