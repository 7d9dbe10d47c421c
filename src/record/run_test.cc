// Writer and reader of a run folder held against each other.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "record/run.h"
#include "record/run_writer.h"

namespace fullbore::record {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

template <typename T>
std::vector<std::byte> record_of(const T& payload) {
  const wire::RecordHeader header{wire::KindOf<T>::value, sizeof header + sizeof payload, 0};
  std::vector<std::byte> bytes(header.size);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &payload, sizeof payload);
  return bytes;
}

std::vector<std::byte> name_record(std::string_view text) {
  const std::size_t padded = (text.size() + 7) / 8 * 8;
  const wire::NameRecord name{wire::name_id(text.data(), text.size()), static_cast<std::uint32_t>(text.size()), 0};
  const wire::RecordHeader header{wire::Kind::kName, static_cast<std::uint16_t>(sizeof header + sizeof name + padded),
                                  0};
  std::vector<std::byte> bytes(header.size);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &name, sizeof name);
  std::memcpy(bytes.data() + sizeof header + sizeof name, text.data(), text.size());
  return bytes;
}

wire::StepRecord step_at(std::int64_t begin_ns) {
  return {begin_ns, begin_ns + 10, 1, 0};
}

class RunTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "fullbore-run-XXXXXX").string();
    root_ = mkdtemp(name.data());
    folder_ = (root_ / "runs" / "r").string();
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  RunWriter writer(std::uint64_t budget = 2'000'000) { return RunWriter::create({folder_, budget}, clock_).value(); }

  std::filesystem::path root_;
  std::string folder_;
  base::FakeClock clock_{kSecond};
};

TEST_F(RunTest, RecordsComeBackByRankAndInOrderOfTime) {
  RunWriter run = writer();
  ASSERT_TRUE(run.write_info({}));
  run.append(1, 70, 71, record_of(step_at(300)));
  run.append(1, 70, 72, record_of(step_at(200)));
  run.append(wire::kUnknown32, 60, 60, record_of(step_at(100)));
  run.flush(true);
  const auto back = read_run(folder_).value();
  ASSERT_THAT(back.ranks, SizeIs(2));
  EXPECT_EQ(back.ranks[0].steps[0].record.begin_ns, 100);
  EXPECT_EQ(back.ranks[1].rank, 1);
  EXPECT_EQ(back.ranks[1].steps[0].record.begin_ns, 200);
  EXPECT_EQ(back.ranks[1].steps[0].tid, 72u);
  EXPECT_THAT(back.damage, IsEmpty());
}

TEST_F(RunTest, RecordsOfTheGpuComeBackEachInItsList) {
  RunWriter run = writer();
  ASSERT_TRUE(run.write_info({}));
  wire::CopyRecord copy{};
  copy.bytes = 4096;
  copy.source = wire::MemoryKind::kPageable;
  wire::TraceWindowRecord window{};
  window.kernels = 2;
  run.append(0, 70, 75, record_of(copy));
  for (const std::int64_t begin_ns : {300, 200}) {
    wire::KernelRecord kernel{};
    kernel.begin_ns = begin_ns;
    run.append(0, 70, 75, record_of(kernel));
  }
  run.append(0, 70, 75, record_of(window));
  run.append(0, 70, 75, record_of(wire::SyncRecord{}));
  run.append(0, 70, 75, record_of(wire::LaunchCallRecord{}));
  run.append(0, 70, 75, record_of(wire::ClockPairRecord{}));
  run.append(0, 70, 75, record_of(wire::TraceOverheadRecord{}));
  run.append(0, 70, 75, record_of(wire::GpuDeviceRecord{}));
  run.flush(true);
  const auto back = read_run(folder_).value();
  const RankRecords& rank = back.ranks.at(0);
  ASSERT_THAT(rank.copies, SizeIs(1));
  EXPECT_EQ(rank.copies[0].record.source, wire::MemoryKind::kPageable);
  ASSERT_THAT(rank.kernels, SizeIs(2));
  EXPECT_EQ(rank.kernels[0].record.begin_ns, 200);
  EXPECT_EQ(rank.trace_windows.at(0).record.kernels, 2u);
  EXPECT_THAT(rank.syncs, SizeIs(1));
  EXPECT_THAT(rank.launch_calls, SizeIs(1));
  EXPECT_THAT(rank.clock_pairs, SizeIs(1));
  EXPECT_THAT(rank.trace_overheads, SizeIs(1));
  EXPECT_THAT(rank.gpu_devices, SizeIs(1));
}

TEST_F(RunTest, SeriesGetTheirNamesAndOnlyTheirChanges) {
  RunWriter run = writer();
  ASSERT_TRUE(run.write_info({}));
  const std::string metric = "cpu.tree.busy";
  run.append_system(name_record(metric));
  run.append_system(
      record_of(wire::SeriesRecord{2, wire::SeriesKind::kCounter, wire::name_id(metric.data(), metric.size()), 0, 0}));
  struct {
    wire::RecordHeader header{wire::Kind::kReadings, sizeof(*this), 0};
    wire::ReadingsRecord readings{500, 1, 0};
    wire::Reading reading{2, 0, 1.5};
  } record;
  run.append_system(std::as_bytes(std::span(&record, 1)));
  run.flush(true);
  const auto back = read_run(folder_).value();
  const Series* series = back.find(metric);
  ASSERT_NE(series, nullptr);
  EXPECT_EQ(series->kind, wire::SeriesKind::kCounter);
  EXPECT_EQ(series->time_ns.at(0), 500);
  EXPECT_EQ(series->value.at(0), 1.5);
  EXPECT_EQ(back.find("cpu.host.busy"), nullptr);
}

TEST_F(RunTest, FoldersAndFilesAreForTheirOwnerAlone) {
  RunWriter run = writer();
  ASSERT_TRUE(run.write_info({}));
  run.append(0, 1, 1, record_of(step_at(1)));
  run.flush(true);
  for (const std::string path : {"", "/rank-0", "/run.json", "/rank-0/records.fbr"}) {
    struct stat status{};
    ASSERT_EQ(stat((folder_ + path).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 077, 0u) << path;
  }
}

TEST_F(RunTest, NeverReusesAFolder) {
  writer();
  const auto again = RunWriter::create({folder_, 1000}, clock_);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message(), HasSubstr("--out DIR chooses another"));
}

TEST_F(RunTest, ARunCutShortIsReadUpToThereAndSaysSo) {
  RunWriter run = writer();
  ASSERT_TRUE(run.write_info({}));
  run.append(0, 1, 1, record_of(step_at(1)));
  run.flush(true);
  run.append(0, 1, 1, record_of(step_at(2)));
  run.flush(true);
  const std::string file = folder_ + "/rank-0/records.fbr";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  const auto back = read_run(folder_).value();
  EXPECT_THAT(back.ranks.at(0).steps, SizeIs(1));
  ASSERT_THAT(back.damage, SizeIs(1));
  EXPECT_THAT(back.damage[0], HasSubstr("rank-0/records.fbr: cut short at byte"));
}

TEST_F(RunTest, OverBudgetDetailsAreLeftOutAndCountedStepsAreNot) {
  RunWriter run = writer(/*budget=*/50);
  ASSERT_TRUE(run.write_info({}));
  run.append(0, 1, 1, record_of(step_at(1)));
  run.flush(true);  // spends the minute's budget
  run.append(0, 1, 1, record_of(wire::ProfileRecord{}));
  run.append(0, 1, 1, record_of(step_at(2)));
  run.flush(true);
  const auto back = read_run(folder_).value();
  EXPECT_THAT(back.ranks.at(0).steps, SizeIs(2));
  EXPECT_THAT(back.ranks[0].profile, IsEmpty());
  EXPECT_EQ(back.ranks[0].thinned.at(wire::Kind::kProfile), 1u);
}

TEST_F(RunTest, ADamagedRecordFromARingHarmsNothingElse) {
  RunWriter run = writer();
  ASSERT_TRUE(run.write_info({}));
  std::vector<std::byte> records = record_of(step_at(1));
  const wire::RecordHeader nonsense{wire::Kind::kStep, 5, 0};
  const auto bad = std::as_bytes(std::span(&nonsense, 1));
  records.insert(records.end(), bad.begin(), bad.end());
  run.append(0, 1, 1, records);
  run.append(0, 1, 1, record_of(step_at(2)));
  run.flush(true);
  EXPECT_THAT(read_run(folder_).value().ranks.at(0).steps, SizeIs(2));
}

TEST_F(RunTest, ReadsRecordsThatGrewAtTheirEnd) {
  RunWriter run = writer();
  ASSERT_TRUE(run.write_info({}));
  std::vector<std::byte> record = record_of(step_at(9));
  record.resize(record.size() + 8);
  auto* header = reinterpret_cast<wire::RecordHeader*>(record.data());
  header->size = static_cast<std::uint16_t>(record.size());
  run.append(0, 1, 1, record);
  run.flush(true);
  EXPECT_EQ(read_run(folder_).value().ranks.at(0).steps.at(0).record.begin_ns, 9);
}

TEST_F(RunTest, SaysThatAFolderIsNoRun) {
  const auto run = read_run(root_.string());
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message(), HasSubstr("is not a run folder"));
}

}  // namespace
}  // namespace fullbore::record
