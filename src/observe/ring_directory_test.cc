#include "observe/ring_directory.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fullbore::observe {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = 1u << 20;

// Tests that need a tmpfs use a folder of their own below /dev/shm.
class RingDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = "/dev/shm/ring_directory_test.XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) GTEST_SKIP() << "/dev/shm cannot be written";
    parent_ = path;
  }
  void TearDown() override {
    if (!parent_.empty()) fs::remove_all(parent_);
  }
  // A folder as a launcher leaves it that was killed.
  fs::path leave_behind(const std::string& owner) {
    const fs::path path = parent_ + "/fullbore-rings-old";
    fs::create_directory(path);
    std::ofstream(path / "owner") << owner;
    std::ofstream(path / "1-1-x.ring") << "ring";
    return path;
  }
  std::string space() { return *base::RealFiles().read_link("/proc/self/ns/pid"); }

  std::string parent_;
  base::RealFiles files_;
};

TEST(ChooseRingBytes, TakesOneMebibyteWhereThereIsRoom) {
  EXPECT_EQ(choose_ring_bytes(24'000 * kMiB), kMiB);
}

TEST(ChooseRingBytes, TakesAnEighthOfASmallShmForThirtyTwoRings) {
  EXPECT_EQ(choose_ring_bytes(64 * kMiB), kMiB / 4);
  EXPECT_LE(32 * choose_ring_bytes(10 * kMiB), 10 * kMiB / 8);
}

TEST(ChooseRingBytes, RefusesWhenEvenTheSmallestDoNotFit) {
  EXPECT_EQ(choose_ring_bytes(kMiB), 0u);
}

TEST(RingParents, TrustsOnlyAnAbsoluteRuntimeFolder) {
  EXPECT_THAT(ring_parents("/run/user/7"), ::testing::ElementsAre("/dev/shm", "/run/user/7", "/run", "/tmp"));
  EXPECT_THAT(ring_parents("here"), ::testing::ElementsAre("/dev/shm", "/run", "/tmp"));
}

TEST_F(RingDirectoryTest, IsPrivateAndGoneAfterwards) {
  std::string path;
  {
    auto directory = RingDirectory::create({parent_}, files_);
    ASSERT_TRUE(directory) << directory.error().message();
    path = directory->path();
    struct stat status = {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u);
    std::ofstream(path + "/1-1-x.ring") << "ring";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(RingDirectoryTest, NeverUsesADiskNorALink) {
  fs::create_directory_symlink("/dev/shm", parent_ + "/link");
  const auto directory = RingDirectory::create({"/proc", parent_ + "/link", parent_ + "/none"}, files_);
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().message(), HasSubstr("/proc: not a tmpfs"));
  EXPECT_THAT(directory.error().message(), HasSubstr("/none: No such file"));
}

TEST_F(RingDirectoryTest, RemovesWhatADeadLauncherLeft) {
  const fs::path path = leave_behind("4194304 17 " + space());
  remove_stale_ring_directories({parent_}, files_);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(RingDirectoryTest, KeepsTheFolderOfALiveLauncher) {
  auto directory = RingDirectory::create({parent_}, files_);
  ASSERT_TRUE(directory);
  remove_stale_ring_directories({parent_}, files_);
  EXPECT_TRUE(fs::exists(directory->path()));
}

TEST_F(RingDirectoryTest, KeepsTheFolderOfAnotherContainer) {
  const fs::path path = leave_behind("4194304 17 pid:[1]");
  remove_stale_ring_directories({parent_}, files_);
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(RingDirectoryTest, NeverFollowsALinkWhenCleaning) {
  const fs::path target = parent_ + "/precious";
  fs::create_directory(target);
  std::ofstream(target / "owner") << "4194304 17 " + space();
  fs::create_directory_symlink(target, parent_ + "/fullbore-rings-link");
  remove_stale_ring_directories({parent_}, files_);
  EXPECT_TRUE(fs::exists(target / "owner"));
}

}  // namespace
}  // namespace fullbore::observe
