#include "observe/collector.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "observe/record_bytes.h"

namespace fullbore::observe {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::uint64_t kCapacity = 4096;

// A ring of this process, as the hook would make it.
class Producer {
 public:
  Producer(const std::string& folder, std::uint64_t start_ticks) {
    const std::string path = folder + "/1-1-x.ring";
    base::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(wire::kRingDataOffset + kCapacity)), 0);
    mapping_ = ::mmap(nullptr, wire::kRingDataOffset + kCapacity, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    header_ = new (mapping_) wire::RingHeader{};
    header_->version = wire::kVersion;
    header_->pid = static_cast<std::uint32_t>(::getpid());
    header_->tid = header_->pid;
    header_->rank = 2;
    header_->process_start_ticks = start_ticks;
    header_->capacity = kCapacity;
    header_->magic = wire::kRingMagic;
  }
  ~Producer() { ::munmap(mapping_, wire::kRingDataOffset + kCapacity); }

  bool write(const std::vector<std::byte>& records) {
    unsigned char* data = static_cast<unsigned char*>(mapping_) + wire::kRingDataOffset;
    return wire::RingWriter(header_, data).write(records.data(), records.size());
  }
  wire::RingHeader& header() { return *header_; }

 private:
  void* mapping_;
  wire::RingHeader* header_;
};

class CountingSampler final : public Sampler {
 public:
  CountingSampler(int& calls, std::vector<std::uint32_t>& pids) : calls_(calls), pids_(pids) {}
  std::string_view name() const override { return "counting"; }
  void sample(const ProcessTree& tree, std::int64_t, Readings& out) override {
    pids_ = tree.pids;
    out.gauge("calls", "", "1", ++calls_);
    out.missing("gpu", "none here");
  }

 private:
  int& calls_;
  std::vector<std::uint32_t>& pids_;
};

class CollectorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "collector_test." + std::to_string(::getpid());
    rings_ = folder_ + "/rings";
    fs::create_directories(rings_);
    writer_.emplace(record::RunWriter::create({.folder = folder_ + "/run"}, clock_).value());
    ASSERT_TRUE(writer_->write_info({}));
  }
  void TearDown() override { fs::remove_all(folder_); }

  Collector make_collector() {
    std::vector<std::unique_ptr<Sampler>> samplers;
    samplers.push_back(std::make_unique<CountingSampler>(calls_, pids_));
    const auto self = static_cast<std::uint32_t>(::getpid());
    return Collector({rings_, self}, *writer_, std::move(samplers), files_, clock_);
  }
  std::uint64_t own_start() { return read_process_stat(files_, static_cast<std::uint32_t>(::getpid()))->start_ticks; }
  record::Run read_back() { return record::read_run(folder_ + "/run").value(); }
  std::vector<std::byte> one_step(std::int64_t begin_ns) {
    std::vector<std::byte> bytes;
    append_record(bytes, wire::StepRecord{begin_ns, begin_ns + 1, 1, 0});
    return bytes;
  }

  std::string folder_, rings_;
  base::FakeClock clock_{1'000'000'000};
  base::RealFiles files_;
  std::optional<record::RunWriter> writer_;
  int calls_ = 0;
  std::vector<std::uint32_t> pids_;
};

TEST_F(CollectorTest, BringsRecordsOfARingToTheirRank) {
  Producer producer(rings_, own_start());
  Collector collector = make_collector();
  ASSERT_TRUE(producer.write(one_step(5)));
  collector.tick();
  ASSERT_TRUE(producer.write(one_step(6)));
  collector.finish();
  EXPECT_EQ(collector.steps(), 2u);
  EXPECT_TRUE(collector.heard());
  const record::Run run = read_back();
  ASSERT_THAT(run.ranks, SizeIs(1));
  EXPECT_EQ(run.ranks[0].rank, 2);
  ASSERT_THAT(run.ranks[0].steps, SizeIs(2));
  EXPECT_EQ(run.ranks[0].steps[1].record.begin_ns, 6);
  EXPECT_EQ(run.ranks[0].steps[0].pid, static_cast<std::uint32_t>(::getpid()));
}

TEST_F(CollectorTest, StopsProducersAndUnlinksTheirRingsAtTheEnd) {
  Producer producer(rings_, own_start());
  Collector collector = make_collector();
  collector.tick();
  collector.finish();
  EXPECT_EQ(producer.header().stop, 1u);
  EXPECT_TRUE(fs::is_empty(rings_));
}

TEST_F(CollectorTest, CountsWhatAFullRingLost) {
  Producer producer(rings_, own_start());
  Collector collector = make_collector();
  producer.header().dropped = 3;
  collector.tick();
  producer.header().dropped = 7;
  collector.tick();
  collector.finish();
  EXPECT_EQ(read_back().ranks.at(0).dropped, 7u);
}

TEST_F(CollectorTest, DrainsTheRingOfADeadProcessBeforeUnlinkingIt) {
  Producer producer(rings_, own_start() + 1);  // the pid was reused: its first owner is dead
  Collector collector = make_collector();
  ASSERT_TRUE(producer.write(one_step(5)));
  collector.tick();
  EXPECT_TRUE(fs::is_empty(rings_));
  collector.finish();
  EXPECT_THAT(read_back().ranks.at(0).steps, SizeIs(1));
}

TEST_F(CollectorTest, NamesAFileThatIsNoRingOnce) {
  std::ofstream(rings_ + "/bad.ring") << std::string(8192, 'x');
  Collector collector = make_collector();
  collector.tick();
  collector.tick();
  const auto missing = collector.missing();
  EXPECT_THAT(missing, Contains(Pair("ring bad.ring", ::testing::HasSubstr("not a ring"))));
  EXPECT_THAT(missing, SizeIs(2));  // and the sampler's
}

TEST_F(CollectorTest, CallsASamplerByItsPeriodWithTheTree) {
  Collector collector = make_collector();
  for (int round = 0; round < 10; ++round) {
    collector.tick();
    clock_.advance_ns(Collector::kPeriodNs);
  }
  EXPECT_EQ(calls_, 5);  // 500 ms at its 100 ms
  EXPECT_EQ(pids_.at(0), static_cast<std::uint32_t>(::getpid()));
  collector.finish();
  const record::Run run = read_back();
  const record::Series* series = run.find("calls");
  ASSERT_NE(series, nullptr);
  EXPECT_GE(series->value.size(), 5u);
}

TEST_F(CollectorTest, AsksNoSamplerAboutACommandThatHasEnded) {
  std::vector<std::unique_ptr<Sampler>> samplers;
  samplers.push_back(std::make_unique<CountingSampler>(calls_, pids_));
  const std::uint32_t nobody = 1u << 22;  // above the largest pid
  Collector collector({"", nobody}, *writer_, std::move(samplers), files_, clock_);
  collector.tick();
  collector.finish();
  EXPECT_EQ(calls_, 0);
  EXPECT_THAT(collector.missing(), IsEmpty());
}

TEST_F(CollectorTest, WorksWithoutRings) {
  rings_.clear();
  Collector collector = make_collector();
  collector.tick();
  collector.finish();
  EXPECT_FALSE(collector.heard());
  EXPECT_THAT(read_back().ranks, IsEmpty());
}

}  // namespace
}  // namespace fullbore::observe
