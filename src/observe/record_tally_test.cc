#include "observe/record_tally.h"

#include <gmock/gmock.h>

#include "observe/record_bytes.h"

namespace fullbore::observe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

wire::NextRecord next(std::uint32_t loader, std::uint32_t flags = 0) {
  wire::NextRecord record = {};
  record.loader = loader;
  record.flags = flags;
  return record;
}

TEST(RecordTally, CountsBatchesOfTheBusiestLoader) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 3; ++i) append_record(bytes, next(1));
  for (int i = 0; i < 2; ++i) append_record(bytes, next(2));
  append_record(bytes, next(1, wire::kStop));
  append_record(bytes, next(1, wire::kError));
  RecordTally tally;
  tally.add(7, bytes);
  EXPECT_EQ(tally.steps(), 3u);
}

TEST(RecordTally, DoesNotAddUpRanks) {
  std::vector<std::byte> bytes;
  append_record(bytes, wire::StepRecord{});
  append_record(bytes, wire::StepRecord{});
  RecordTally tally;
  tally.add(7, bytes);
  tally.add(8, bytes);
  EXPECT_EQ(tally.steps(), 2u);
}

TEST(RecordTally, CountsUserSteps) {
  std::vector<std::byte> bytes;
  append_record(bytes, wire::UserStepRecord{});
  RecordTally tally;
  tally.add(7, bytes);
  EXPECT_EQ(tally.steps(), 1u);
}

TEST(RecordTally, RemembersTrainersNotWorkers) {
  std::vector<std::byte> trainer, worker;
  wire::ProcessRecord process = {};
  process.role = wire::Role::kTrainer;
  append_record(trainer, process);
  process.role = wire::Role::kWorker;
  append_record(worker, process);
  RecordTally tally;
  tally.add(7, trainer);
  tally.add(7, trainer);
  tally.add(8, worker);
  EXPECT_THAT(tally.trainers(), ElementsAre(7));
}

TEST(RecordTally, NamesADataPathInEitherOrder) {
  std::vector<std::byte> bytes;
  const wire::NameId first = append_name(bytes, "/data/a.jpg");
  append_record(bytes, wire::DataPathRecord{1, first});
  append_record(bytes, wire::DataPathRecord{2, wire::name_id("/data/b.jpg", 11)});
  RecordTally tally;
  tally.add(7, bytes);
  EXPECT_THAT(tally.data_paths(), ElementsAre("/data/a.jpg"));
  bytes.clear();
  append_name(bytes, "/data/b.jpg");
  tally.add(7, bytes);
  EXPECT_THAT(tally.data_paths(), ElementsAre("/data/a.jpg", "/data/b.jpg"));
}

TEST(RecordTally, StopsAtARecordWhoseSizeMakesNoSense) {
  std::vector<std::byte> bytes;
  append_record(bytes, wire::StepRecord{});
  wire::RecordHeader broken = {wire::Kind::kStep, 12345, 0};
  bytes.resize(bytes.size() + sizeof broken);
  std::memcpy(bytes.data() + bytes.size() - sizeof broken, &broken, sizeof broken);
  RecordTally tally;
  tally.add(7, bytes);
  EXPECT_EQ(tally.steps(), 1u);
  EXPECT_THAT(tally.trainers(), IsEmpty());
}

}  // namespace
}  // namespace fullbore::observe
