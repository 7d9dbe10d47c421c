// Where the tracer stays out, steps aside and comes back, and how it ends: against a fake libcupti.
#include "inject/inject.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "inject/testing/traced_child.h"
#include "wire/testing/needed_libraries.h"

namespace fullbore::inject {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

TEST_F(InjectTest, ItIsInertWithoutAnObservation) {
  unsetenv("FULLBORE_RINGS");
  const int status = in_child([] {
    const Loaded loaded;
    if (loaded.initialize() != 1) std::exit(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    if (loaded.cupti->is_attached()) std::exit(4);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(rings_, 0);
}

TEST_F(InjectTest, AProcessWithoutCuptiSaysSo) {
  EXPECT_EQ(in_child([] { Loaded(false).initialize(); }), 0);
  EXPECT_THAT(missing(), ElementsAre(HasSubstr("gpu.trace: the process has no libcupti")));
}

TEST_F(InjectTest, ACuptiThatCannotBeTakenOutSafelyIsLeftAlone) {
  for (const std::uint32_t version : {23u, 130300u}) {
    in_child([version] {
      const Loaded loaded;
      loaded.cupti->set_version(version);
      loaded.initialize();
    });
  }
  EXPECT_THAT(missing(), IsSupersetOf({HasSubstr("older than CUDA 12.6"), HasSubstr("newer than CUDA 13.2")}));
  EXPECT_THAT(missing(), Each(HasSubstr("gpu.trace")));
}

TEST_F(InjectTest, NothingIsTracedWhereNobodySeesGraphsComing) {
  const int status = in_child([] {
    void* fake = dlopen(FULLBORE_FAKE_CUPTI, RTLD_NOW);
    FakeCupti* cupti = reinterpret_cast<GetFakeCupti>(dlsym(fake, "fullbore_fake_cupti"))();
    int (*initialize)() = nullptr;
    Loaded::take(dlopen(FULLBORE_INJECT_LIB, RTLD_NOW), initialize, "InitializeInjection");
    initialize();
    std::this_thread::sleep_for(std::chrono::milliseconds(5000));
    if (cupti->is_attached()) std::exit(3);
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(missing(), ElementsAre("gpu.trace: nothing in this process sees CUDA graphs coming"));
}

TEST_F(InjectTest, AWindowWithoutLaunchCallsSaysSo) {
  in_child([] {
    const Loaded loaded;
    loaded.in_window([&] { loaded.cupti->kernel("k", 1, 1000, 2000); });
  });
  EXPECT_THAT(missing(), ElementsAre(HasSubstr("gpu.launch_calls")));
  ASSERT_THAT(all<wire::TraceWindowRecord>(), SizeIs(1));
  EXPECT_EQ(text(all<wire::TraceWindowRecord>()[0].tier), "kernels_no_launch");
}

TEST_F(InjectTest, AShareOfNothingTurnsTracingOff) {
  setenv("FULLBORE_TRACE_SHARE", "0", 1);
  in_child([] { Loaded().initialize(); });
  unsetenv("FULLBORE_TRACE_SHARE");
  EXPECT_THAT(missing(), ElementsAre(HasSubstr("FULLBORE_TRACE_SHARE is 0")));
}

TEST_F(InjectTest, ACuptiThatAnswersEveryCallWithAnErrorIsReported) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.cupti->answer(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
    loaded.initialize();
    loaded.pause();
    loaded.resume();
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(missing(), ElementsAre(HasSubstr("CUPTI_ERROR_OF_A_TEST (41)")));
}

TEST_F(InjectTest, StepsAsideForAnotherToolAndNamesIt) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.cupti->answer_subscription(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "Nsight Systems");
    loaded.initialize();
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    if (loaded.cupti->is_attached()) std::exit(3);
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(missing(), ElementsAre(HasSubstr("another tool traces this process: Nsight Systems")));
}

TEST_F(InjectTest, LeavesTracingToKinetosDaemon) {
  setenv("KINETO_USE_DAEMON", "1", 1);
  in_child([] {
    const Loaded loaded;
    loaded.initialize();
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    if (loaded.cupti->is_attached()) std::exit(3);
  });
  unsetenv("KINETO_USE_DAEMON");
  EXPECT_THAT(missing(), ElementsAre(HasSubstr("KINETO_USE_DAEMON")));
}

TEST_F(InjectTest, HoldsNoSubscriptionInAWindow) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      if (loaded.cupti->subscriptions_held() != 0) std::exit(5);
    });
  });
  EXPECT_EQ(status, 0);
}

TEST_F(InjectTest, APauseInAWindowTakesCuptiOutAtOnce) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.initialize();
    if (!loaded.window_opens()) std::exit(3);
    const std::uint64_t at = loaded.cupti->now();
    loaded.cupti->copy(kPinned, 1, at, at + 1);
    loaded.pause();
    if (loaded.cupti->is_attached() || loaded.cupti->subscriptions_held() != 0) std::exit(4);
    if (loaded.cupti->buffers_out() != 0 || loaded.cupti->pool_limit() != 250) std::exit(5);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  EXPECT_THAT(all<wire::CopyRecord>(), SizeIs(1));
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(InjectTest, AfterTorchProfilerWindowsGoOnAndCuptiStays) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.initialize();
    loaded.pause();
    // torch.profiler keeps its subscription.
    loaded.cupti->answer_subscription(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "");
    loaded.resume();
    if (!loaded.window_opens()) std::exit(3);
    const std::uint64_t at = loaded.cupti->now();
    loaded.cupti->copy(kPinned, 2, at, at + 1);
    if (!loaded.window_closes()) std::exit(4);
    loaded.eventually([&] { return loaded.cupti->pool_limit() == 250; });
    for (int i = 0; i < 20; ++i) loaded.cupti->leave_call();
    if (loaded.cupti->finalized() != 0 || loaded.cupti->buffers_out() != 0) std::exit(5);
    if (!loaded.window_opens()) std::exit(6);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  const auto copies = all<wire::CopyRecord>();
  ASSERT_THAT(copies, SizeIs(1));
  EXPECT_EQ(copies[0].bytes, 2);
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(InjectTest, APauseFromBeforeTheDriverCameIsKept) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.pause();
    loaded.initialize();
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
    if (loaded.cupti->is_attached()) std::exit(3);
    loaded.resume();
    if (!loaded.window_opens()) std::exit(4);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(InjectTest, AForkedChildLeavesCuptiAndTheRingAlone) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.initialize();
    if (!loaded.window_opens() || !loaded.window_closes()) std::exit(3);
    if (!loaded.eventually([&] { return loaded.cupti->subscriptions_held() == 1; })) std::exit(4);
    const pid_t child = fork();
    if (child == 0) {
      loaded.cupti->leave_call();
      loaded.pause();
      loaded.resume();
      std::exit(loaded.cupti->finalized() == 0 ? 7 : 8);  // runs atexit
    }
    int child_status = 0;
    waitpid(child, &child_status, 0);
    if (WEXITSTATUS(child_status) != 7) std::exit(5);
    if (!loaded.window_is_over()) std::exit(6);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  EXPECT_EQ(rings_, 1);
}

TEST_F(InjectTest, AnEndInsideAWindowKeepsWhatIsComplete) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.initialize();
    if (!loaded.window_opens()) std::exit(3);
    const std::uint64_t at = loaded.cupti->now();
    loaded.cupti->copy(kPinned, 1, at, at + 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(all<wire::CopyRecord>(), SizeIs(1));
  EXPECT_THAT(all<wire::TraceWindowRecord>(), SizeIs(1));
  EXPECT_TRUE(closed_);
}

TEST_F(InjectTest, WhatWasFlushedSurvivesEndsThatRunNothing) {
  const std::map<std::string, std::function<void()>> ends = {
      {"_exit", [] { _exit(0); }}, {"abort", [] { std::abort(); }}, {"SIGTERM", [] { raise(SIGTERM); }}};
  for (const auto& [name, end] : ends) {
    payloads_.clear();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
    const int status = in_child([&end] {
      const Loaded loaded;
      loaded.in_window([&] {
        const std::uint64_t at = loaded.cupti->now();
        loaded.cupti->copy(kPinned, 1, at, at + 1);
      });
      end();
    });
    EXPECT_EQ(WIFSIGNALED(status), name != "_exit") << name;
    EXPECT_THAT(all<wire::CopyRecord>(), SizeIs(1)) << name;
  }
}

TEST_F(InjectTest, TheEndOfTheObservationEndsTracing) {
  const int status = in_child([this] {
    const Loaded loaded;
    loaded.initialize();
    if (!loaded.eventually([this] { return !std::filesystem::is_empty(directory_); })) std::exit(3);
    const auto path = std::filesystem::directory_iterator(directory_)->path();
    FILE* file = fopen(path.c_str(), "r+");
    void* map = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (!loaded.window_opens()) std::exit(4);
    static_cast<wire::RingHeader*>(map)->stop.store(1);
    if (!loaded.window_closes()) std::exit(5);
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    if (loaded.cupti->is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY)) std::exit(6);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(InjectTest, ItsThreadTakesNoSignalOfTheProgram) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.initialize();
    const auto blocked = [] {
      for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(task.path() / "status");
        const std::string text((std::istreambuf_iterator<char>(file)), {});
        if (text.find("fullbore-gpu") != std::string::npos)
          return std::stoull(text.substr(text.find("SigBlk:") + 8), nullptr, 16);
      }
      return 0ull;
    };
    if (!loaded.eventually([&] { return (blocked() >> (SIGTERM - 1) & blocked() >> (SIGINT - 1) & 1) != 0; }))
      std::exit(3);
  });
  EXPECT_EQ(status, 0);
}

// It is loaded into any process that uses CUDA.
TEST(InjectLibraryTest, NeedsLibcAlone) {
  EXPECT_THAT(wire::testing::needed_libraries(FULLBORE_INJECT_LIB), ElementsAre("libc.so.6"));
}

}  // namespace
}  // namespace fullbore::inject
