#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::RunBuilder;
using testing::simulate_into;

Diagnosis after(std::string_view text, int error_number, std::int32_t worker) {
  RunBuilder builder;
  simulate_into(builder, {.workers = 2});
  builder.gauge("files.open", 990, "100");
  builder.gauge("files.limit", 1024, "100");
  builder.rank().failures.push_back(
      {{1, builder.name("builtins.OSError"), builder.name(text), error_number, worker}, 100, 100});
  return diagnose(builder.take());
}

TEST(FdLimit, IsNamedWhenTheTrainerCannotReceive) {
  for (const Diagnosis& diagnosis : {after("Too many open files", EMFILE, wire::kUnknown32),
                                     after("received 0 items of ancdata", wire::kUnknown32, wire::kUnknown32)}) {
    EXPECT_EQ(diagnosis.verdict.cause, "fd_limit");
    EXPECT_EQ(diagnosis.verdict.stage, "handoff");
    EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("of 1024 that it may have"));
    EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("batch.clone()"));
  }
}

TEST(FdLimit, NamesTheWorkerWhoseDatasetKeepsFilesOpen) {
  const Diagnosis diagnosis = after("Too many open files", EMFILE, 1);
  EXPECT_EQ(diagnosis.verdict.stage, "open");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("worker 1 had no file descriptor left"));
}

TEST(FdLimit, IsNotNamedForOtherErrorsNorForManyOpenFiles) {
  EXPECT_NE(after("no such file", ENOENT, 1).verdict.cause, "fd_limit");
}

}  // namespace
}  // namespace fullbore::diagnose
