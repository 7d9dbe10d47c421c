#include "observe/samplers/interpreter_lock.h"

#include <gtest/gtest.h>

#include <map>

#include "observe/samplers/denying_files.h"

namespace fullbore::observe {
namespace {

constexpr const char* kMaps =
    "5599d8648000-5599d8649000 rw-p 00003000 fe:00 26723   /usr/bin/python3.11\n"
    "5599dea12000-5599deb20000 rw-p 00000000 00:00 0       [heap]\n"
    "7fe99ed5b000-7fe99ed5c000 rw-p 00007000 fe:00 29781   /usr/lib/python3.11/lib-dynload/select.so\n"
    "7fe9a0044000-7fe9a0178000 rw-p 00443000 fe:00 26933   /usr/lib/libpython3.11.so.1.0\n"
    "7fe9a0178000-7fe9a01ba000 rw-p 00000000 00:00 0 \n";

std::optional<bool> waits(const std::string& syscall, const char* maps = kMaps) {
  const base::InMemoryFiles files(
      std::map<std::string, std::string>{{"/proc/7/maps", maps}, {"/proc/7/task/8/syscall", syscall}});
  return InterpreterLock(files).waits(7, "8");
}

TEST(InterpreterLock, IsWaitedForAtAFutexInTheInterpretersData) {
  EXPECT_EQ(waits("202 0x7fe9a014e74c 0x189 0x0 0x0 0x0 0xffffffff 0x7ffc093634e0 0x7fe99faa3f16\n"), true);
  EXPECT_EQ(waits("202 0x7fe9a0178010 0x189 0x0 0x0 0x0 0xffffffff 0x0 0x0\n"), true);  // in its zeroed part
}

TEST(InterpreterLock, IsNotALockOfTheProgram) {
  EXPECT_EQ(waits("202 0x5599dea12340 0x189 0x0 0x0 0x0 0xffffffff 0x0 0x0\n"), false);
}

TEST(InterpreterLock, IsNotWaitedForByAThreadThatRunsOrReads) {
  EXPECT_EQ(waits("running\n"), false);
  EXPECT_EQ(waits("0 0x7fe9a014e74c 0x189 0x0 0x0 0x0 0x0 0x0 0x0\n"), false);
}

TEST(InterpreterLock, IsNotKnownOfAnotherProgramOrAThreadThatEnded) {
  EXPECT_EQ(waits("running\n", "7fe9a0044000-7fe9a0178000 rw-p 0 fe:00 2 /usr/bin/perl\n"), std::nullopt);
  const base::InMemoryFiles files(std::map<std::string, std::string>{{"/proc/7/maps", kMaps}});
  EXPECT_EQ(InterpreterLock(files).waits(7, "8"), std::nullopt);
}

}  // namespace
}  // namespace fullbore::observe
