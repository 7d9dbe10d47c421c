#include "hook_abi/record_abi.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "wire/ring.h"
#include "wire/testing/needed_libraries.h"

namespace fullbore::hook_abi {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// A ring file as the collector sees it.
struct MappedRing {
  explicit MappedRing(const std::filesystem::path& path) {
    bytes = std::filesystem::file_size(path);
    FILE* file = fopen(path.c_str(), "r+");
    if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
    map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    fclose(file);
  }
  MappedRing(const MappedRing&) = delete;
  ~MappedRing() { munmap(map, bytes); }
  wire::RingHeader& header() const { return *static_cast<wire::RingHeader*>(map); }
  wire::RingReader reader() const {
    return {&header(), static_cast<unsigned char*>(map) + wire::kRingDataOffset, header().capacity};
  }
  void* map;
  std::uintmax_t bytes;
};

class RecordAbiTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "fullbore-abi-XXXXXX").string();
    directory_ = mkdtemp(name.data());
    ASSERT_EQ(fullbore_record_open(directory_.c_str(), 16384, 3), 0);
  }
  void TearDown() override {
    fullbore_record_close_thread();
    std::filesystem::remove_all(directory_);
  }
  std::vector<std::filesystem::path> rings() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) found.push_back(entry.path());
    return found;
  }
  static int write_step(std::int64_t begin_ns) {
    const struct {
      wire::RecordHeader header;
      wire::StepRecord step;
    } record = {{wire::Kind::kStep, sizeof record, 0}, {begin_ns, begin_ns + 5, 1, 0}};
    return fullbore_record_write(&record, sizeof record, 1);
  }
  std::filesystem::path directory_;
};

TEST_F(RecordAbiTest, PutsARecordIntoARingOfThisThread) {
  EXPECT_EQ(write_step(100), 1);
  ASSERT_THAT(rings(), SizeIs(1));
  const MappedRing ring(rings()[0]);
  EXPECT_EQ(ring.header().magic, wire::kRingMagic);
  EXPECT_EQ(ring.header().pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(ring.header().rank, 3);
  EXPECT_NE(ring.header().process_start_ticks, 0u);
  unsigned char out[16384];
  EXPECT_EQ(ring.reader().read(out, sizeof out), sizeof(wire::RecordHeader) + sizeof(wire::StepRecord));
}

TEST_F(RecordAbiTest, GivesEachThreadItsOwnRingAndClosesItAtItsEnd) {
  write_step(1);
  std::jthread([] { write_step(2); }).join();
  ASSERT_THAT(rings(), SizeIs(2));
  int closed = 0;
  for (const auto& path : rings()) closed += MappedRing(path).reader().closed() ? 1 : 0;
  EXPECT_EQ(closed, 1);
}

TEST_F(RecordAbiTest, OpenedAgainItWritesToTheNewDirectory) {
  write_step(1);
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directory(directory_);
  ASSERT_EQ(fullbore_record_open(directory_.c_str(), 16384, 3), 0);
  EXPECT_EQ(write_step(2), 1);
  EXPECT_THAT(rings(), SizeIs(1));
}

TEST_F(RecordAbiTest, AForkedChildNeverWritesIntoItsParentsRing) {
  write_step(1);
  const MappedRing parents(rings()[0]);
  const std::uint64_t before = parents.header().head.load();
  const pid_t child = fork();
  if (child == 0) _exit(write_step(2) == 1 && write_step(3) == 1 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(parents.header().head.load(), before);
  EXPECT_THAT(rings(), SizeIs(2));
}

TEST_F(RecordAbiTest, CountsWhatAFullRingDropsAndNeverWaits) {
  int stored = 0;
  for (int i = 0; i < 1000; ++i) stored += write_step(i);
  const MappedRing ring(rings()[0]);
  EXPECT_LT(stored, 1000);
  EXPECT_EQ(ring.reader().dropped(), static_cast<std::uint64_t>(1000 - stored));
}

TEST_F(RecordAbiTest, SaysSoWhenTheObservationHasEnded) {
  write_step(1);
  MappedRing(rings()[0]).reader().stop();
  EXPECT_EQ(write_step(2), 2);
}

TEST_F(RecordAbiTest, HashesNamesAsTheReaderDoesAndWritesThemOnce) {
  EXPECT_EQ(fullbore_record_name("train.py", 8), wire::name_id("train.py", 8));
  EXPECT_EQ(fullbore_record_name("", 0), 0u);
  const std::string longest(2UL * wire::kMaxNameLength, 'x');
  EXPECT_EQ(fullbore_record_name(longest.data(), static_cast<uint32_t>(longest.size())),
            wire::name_id(longest.data(), wire::kMaxNameLength));
}

TEST_F(RecordAbiTest, IsSilentlyOffWhenThereIsNoRoomForARing) {
  EXPECT_EQ(fullbore_record_open((directory_ / "gone").c_str(), 16384, 0), ENOENT);
  fullbore_record_close_thread();
  EXPECT_EQ(write_step(1), 0);
  EXPECT_EQ(fullbore_record_error(), ENOENT);
}

TEST_F(RecordAbiTest, MeasuresTheCallingThread) {
  fullbore_thread_usage before{};
  fullbore_thread_usage after{};
  fullbore_thread_usage_now(&before, 1);
  std::ifstream("/proc/self/maps").ignore(1 << 20);
  volatile double x = 1;
  for (int i = 0; i < 2'000'000; ++i) x = x * 1.0000001;
  fullbore_thread_usage_now(&after, 1);
  EXPECT_GT(after.cpu_ns, before.cpu_ns);
  EXPECT_GE(after.runq_ns, before.runq_ns);
  EXPECT_GT(after.read_chars, before.read_chars);
  fullbore_thread_usage_now(&after, 0);
  EXPECT_EQ(after.read_chars, wire::kUnknown);
}

TEST_F(RecordAbiTest, LeavesTheNumbersOfTheProgramsFilesAlone) {
  const int before = dup(0);
  close(before);
  fullbore_thread_usage usage{};
  fullbore_thread_usage_now(&usage, 1);
  const int after = dup(0);
  close(after);
  EXPECT_EQ(after, before);
}

TEST_F(RecordAbiTest, MeasuresOnAfterTheProgramClosedOrReplacedOurFiles) {
  std::jthread([] {
    fullbore_thread_usage usage{};
    fullbore_thread_usage_now(&usage, 1);
    for (int fd = 512; fd < 1024; ++fd) close(fd);
    const int foreign = open("/proc/version", O_RDONLY);
    std::vector<int> replaced;
    for (int fd = 896; fd < 900; ++fd) replaced.push_back(dup2(foreign, fd));
    fullbore_thread_usage_now(&usage, 1);
    EXPECT_GT(usage.read_chars, 0);
    EXPECT_NE(usage.runq_ns, wire::kUnknown);
    for (const int fd : replaced) EXPECT_EQ(close(fd), 0) << "a file of the program was closed";
    close(foreign);
  });
}

TEST_F(RecordAbiTest, AForkedChildMeasuresItselfAndNotItsParent) {
  fullbore_thread_usage parents{};
  std::ifstream("/proc/self/maps").ignore(1 << 20);
  fullbore_thread_usage_now(&parents, 1);
  const pid_t child = fork();
  if (child == 0) {
    fullbore_thread_usage own{};
    fullbore_thread_usage_now(&own, 1);
    _exit(own.read_chars < parents.read_chars ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(RecordAbiTest, KnowsTheSizeOfEveryKindThatAHookWrites) {
  EXPECT_EQ(fullbore_record_size(static_cast<uint32_t>(wire::Kind::kNext)), 8 + sizeof(wire::NextRecord));
  EXPECT_EQ(fullbore_record_size(static_cast<uint32_t>(wire::Kind::kReadings)), 0u);
  EXPECT_EQ(fullbore_record_size(99), 0u);
}

// The library is loaded into any Python 3.8+.
TEST(RecordLibraryTest, NeedsLibcAlone) {
  EXPECT_THAT(wire::testing::needed_libraries(FULLBORE_RECORD_LIB), ElementsAre("libc.so.6"));
}

}  // namespace
}  // namespace fullbore::hook_abi
