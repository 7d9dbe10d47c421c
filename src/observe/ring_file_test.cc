#include "observe/ring_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/unique_fd.h"

namespace fullbore::observe {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kCapacity = 4096;

// A folder with one ring in it, as a watched process would make it.
class RingFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/ring_file_test.XXXXXX";
    ASSERT_NE(::mkdtemp(path), nullptr);
    folder_ = path;
    directory_ = base::UniqueFd(::open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC));
    base::UniqueFd fd(::openat(directory_.get(), "1-2-x.ring", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::ftruncate(fd.get(), wire::kRingDataOffset + kCapacity), 0);
    mapping_ = ::mmap(nullptr, wire::kRingDataOffset + kCapacity, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    ASSERT_NE(mapping_, MAP_FAILED);
    header_ = new (mapping_) wire::RingHeader{};
    header_->magic = wire::kRingMagic;
    header_->version = wire::kVersion;
    header_->pid = 1;
    header_->tid = 2;
    header_->rank = 3;
    header_->capacity = kCapacity;
  }
  void TearDown() override {
    ::munmap(mapping_, wire::kRingDataOffset + kCapacity);
    std::filesystem::remove_all(folder_);
  }

  unsigned char* data() { return static_cast<unsigned char*>(mapping_) + wire::kRingDataOffset; }
  auto open() { return RingFile::open(directory_.get(), "1-2-x.ring"); }

  std::string folder_;
  base::UniqueFd directory_;
  void* mapping_ = nullptr;
  wire::RingHeader* header_ = nullptr;
};

TEST_F(RingFileTest, GivesWhatTheProducerWroteOnce) {
  auto ring = open();
  ASSERT_TRUE(ring && *ring);
  EXPECT_EQ((*ring)->rank(), 3);
  wire::RingWriter writer(header_, data());
  ASSERT_TRUE(writer.write("16 bytes of data", 16));
  std::vector<std::byte> buffer;
  const auto bytes = (*ring)->drain(buffer);
  ASSERT_EQ(bytes.size(), 16u);
  EXPECT_EQ(std::memcmp(bytes.data(), "16 bytes of data", 16), 0);
  EXPECT_TRUE((*ring)->drain(buffer).empty());
}

TEST_F(RingFileTest, WaitsForAHeaderThatIsNotWrittenYet) {
  header_->magic = 0;
  auto ring = open();
  ASSERT_TRUE(ring);
  EXPECT_FALSE(*ring);
}

TEST_F(RingFileTest, RefusesAnotherVersion) {
  header_->version = 99;
  ASSERT_FALSE(open());
  EXPECT_THAT(open().error().message(), HasSubstr("version 99"));
}

TEST_F(RingFileTest, RefusesACapacityBeyondTheFile) {
  header_->capacity = 2 * kCapacity;
  EXPECT_FALSE(open());
}

TEST_F(RingFileTest, RefusesACapacityThatIsNoPowerOfTwo) {
  header_->capacity = 4000;
  EXPECT_FALSE(open());
  header_->capacity = 0;
  EXPECT_FALSE(open());
}

TEST_F(RingFileTest, RefusesForeignMagicAndMissingPid) {
  header_->pid = 0;
  EXPECT_FALSE(open());
  header_->pid = 1;
  header_->magic = 1;
  EXPECT_FALSE(open());
}

TEST_F(RingFileTest, NeverFollowsALink) {
  std::filesystem::create_symlink(folder_ + "/1-2-x.ring", folder_ + "/link.ring");
  EXPECT_FALSE(RingFile::open(directory_.get(), "link.ring"));
}

TEST_F(RingFileTest, YieldsNothingForAHeadThatMakesNoSense) {
  auto ring = open();
  ASSERT_TRUE(ring && *ring);
  header_->head = kCapacity * 5;
  std::vector<std::byte> buffer;
  EXPECT_TRUE((*ring)->drain(buffer).empty());
}

TEST_F(RingFileTest, TellsTheProducerToStop) {
  auto ring = open();
  ASSERT_TRUE(ring && *ring);
  (*ring)->stop();
  EXPECT_TRUE(wire::RingWriter(header_, data()).stopped());
}

}  // namespace
}  // namespace fullbore::observe
