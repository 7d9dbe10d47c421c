#include "observe/environment.h"

#include <gmock/gmock.h>

namespace fullbore::observe {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Pair;

const HookEnvironment kHook = {"/dev/shm/rings", "/lib/record.so", "/hook", 4096, "", ""};

TEST(CommandEnvironment, IsUntouchedWithoutRings) {
  const std::vector<std::string> inherited = {"A=1", "PYTHONPATH=/mine"};
  EXPECT_EQ(command_environment(inherited, {}), inherited);
}

TEST(CommandEnvironment, PrependsTheHookToTheUsersPath) {
  EXPECT_THAT(command_environment({"PYTHONPATH=/mine:/yours"}, kHook), Contains("PYTHONPATH=/hook:/mine:/yours"));
}

TEST(CommandEnvironment, NeverAddsTheWorkingDirectoryToThePath) {
  EXPECT_THAT(command_environment({"PYTHONPATH="}, kHook), Contains("PYTHONPATH=/hook"));
  EXPECT_THAT(command_environment({}, kHook), Contains("PYTHONPATH=/hook"));
}

TEST(CommandEnvironment, KeepsTheOrderOfWhatIsThere) {
  EXPECT_THAT(command_environment({"FULLBORE_RINGS=/old", "HOME=/root"}, kHook),
              ElementsAre("FULLBORE_RINGS=/dev/shm/rings", "HOME=/root", "FULLBORE_RECORD_LIB=/lib/record.so",
                          "FULLBORE_HOOK=/hook", "FULLBORE_RING_BYTES=4096", "PYTHONPATH=/hook"));
}

TEST(CommandEnvironment, NamesTheFixOnlyWhenThereIsOne) {
  HookEnvironment hook = kHook;
  hook.fix_file = "/dev/shm/rings/fix.json";
  EXPECT_THAT(command_environment({}, hook), Contains("FULLBORE_FIX=/dev/shm/rings/fix.json"));
}

TEST(CommandEnvironment, DropsTheFixOfAnObservationThatHasEnded) {
  EXPECT_THAT(command_environment({"FULLBORE_FIX=/gone"}, kHook), Not(Contains("FULLBORE_FIX=/gone")));
}

TEST(CommandEnvironment, AsksTheDriverToLoadTheTracer) {
  HookEnvironment hook = kHook;
  hook.inject_library = "/lib/inject.so";
  EXPECT_THAT(command_environment({"CUDA_INJECTION64_PATH="}, hook), Contains("CUDA_INJECTION64_PATH=/lib/inject.so"));
  EXPECT_THAT(command_environment({}, kHook), Not(Contains(testing::HasSubstr("CUDA_INJECTION64_PATH"))));
}

TEST(CommandEnvironment, LeavesAnInjectionOfSomebodyElseInPlace) {
  HookEnvironment hook = kHook;
  hook.inject_library = "/lib/inject.so";
  const auto environment = command_environment({"CUDA_INJECTION64_PATH=/opt/nsys.so"}, hook);
  EXPECT_THAT(environment, Contains("CUDA_INJECTION64_PATH=/opt/nsys.so"));
  EXPECT_THAT(environment, Not(Contains("CUDA_INJECTION64_PATH=/lib/inject.so")));
}

TEST(RecordedEnvironment, HoldsTheDocumentedNamesAndNothingElse) {
  EXPECT_THAT(recorded_environment({"RANK=3", "AWS_SECRET_ACCESS_KEY=x", "PYTHONPATH=/secret", "RANKX=1"}),
              ElementsAre(Pair("PYTHONPATH", "set"), Pair("RANK", "3")));
}

}  // namespace
}  // namespace fullbore::observe
