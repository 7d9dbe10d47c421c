// The whole library against a fake libcupti: each test is a child process that loads both, as the driver would, and the
// rings that it leaves behind are read as the collector reads them.
#include "inject/inject.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "inject/testing/fake_cupti.h"
#include "inject/window_plan.h"
#include "wire/gpu_records.h"
#include "wire/ring.h"
#include "wire/testing/needed_libraries.h"

namespace fullbore::inject {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

constexpr std::uint8_t kPageable = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
constexpr std::uint8_t kPinned = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;

// What a child sees of the two libraries.
struct Loaded {
  FakeCupti* cupti = nullptr;
  int (*initialize)() = nullptr;
  void (*allow)() = nullptr;
  void (*pause)() = nullptr;
  void (*resume)() = nullptr;
  void (*stop)() = nullptr;

  explicit Loaded(bool with_cupti = true) {
    if (with_cupti) {
      void* fake = dlopen(FULLBORE_FAKE_CUPTI, RTLD_NOW);
      cupti = reinterpret_cast<GetFakeCupti>(dlsym(fake, "fullbore_fake_cupti"))();
    }
    void* library = dlopen(FULLBORE_INJECT_LIB, RTLD_NOW);
    take(library, initialize, "InitializeInjection");
    take(library, allow, "fullbore_trace_allow");
    take(library, pause, "fullbore_trace_pause");
    take(library, resume, "fullbore_trace_resume");
    take(library, stop, "fullbore_trace_stop");
    allow();  // before the driver comes, as the hook does when torch is imported
  }
  template <typename T>
  static void take(void* library, T& function, const char* name) {
    function = reinterpret_cast<T>(dlsym(library, name));
  }
  // False after five seconds.
  bool eventually(const std::function<bool()>& holds) const {
    for (int i = 0; i < 1000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  bool window_opens() const {
    return eventually([this] { return cupti->is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); });
  }
  bool window_closes() const {
    return eventually([this] { return !cupti->is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); });
  }
  // The program goes on calling CUDA.
  bool window_is_over() const {
    return window_closes() && eventually([this] {
             cupti->leave_call();
             return !cupti->is_attached();
           });
  }
  // Initialises, and runs `body` in a window. Ends the child with 3 or 4 if there is none or it has no end.
  void in_window(const std::function<void()>& body) const {
    initialize();
    another_window(body);
  }
  void another_window(const std::function<void()>& body) const {
    if (!window_opens()) std::exit(3);
    body();
    if (!window_is_over()) std::exit(4);
  }
};

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

class InjectTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "fullbore-inject-XXXXXX").string();
    directory_ = mkdtemp(name.data());
    setenv("FULLBORE_RINGS", directory_.c_str(), 1);
    setenv("FULLBORE_RING_BYTES", "1048576", 1);
    unsetenv("KINETO_USE_DAEMON");
  }
  void TearDown() override {
    unsetenv("FULLBORE_RINGS");
    std::filesystem::remove_all(directory_);
  }

  // Wait status of a child that runs `body`; then its records are in `records_`.
  int in_child(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
      body();
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    read_rings();
    return status;
  }

  void read_rings() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      ++rings_;
      std::ifstream file(entry.path(), std::ios::binary);
      std::string bytes((std::istreambuf_iterator<char>(file)), {});
      auto* header = reinterpret_cast<wire::RingHeader*>(bytes.data());
      wire::RingReader reader(header, reinterpret_cast<unsigned char*>(bytes.data()) + wire::kRingDataOffset,
                              header->capacity);
      std::string out(header->capacity, '\0');
      out.resize(reader.read(out.data(), out.size()));
      closed_ = reader.closed();
      for (std::size_t at = 0; at < out.size();) {
        wire::RecordHeader record;
        std::memcpy(&record, out.data() + at, sizeof record);
        payloads_.emplace(record.kind, out.substr(at + sizeof record, record.size - sizeof record));
        at += record.size;
      }
    }
  }
  template <typename T>
  std::vector<T> all() const {
    std::vector<T> found;
    const auto [first, last] = payloads_.equal_range(wire::KindOf<T>::value);
    for (auto it = first; it != last; ++it) {
      std::memcpy(&found.emplace_back(), it->second.data(), sizeof(T));
    }
    return found;
  }
  std::string text(wire::NameId id) const {
    const auto [first, last] = payloads_.equal_range(wire::Kind::kName);
    for (auto it = first; it != last; ++it) {
      wire::NameRecord name;
      std::memcpy(&name, it->second.data(), sizeof name);
      if (name.id == id) return it->second.substr(sizeof name, name.length);
    }
    return "";
  }
  std::vector<std::string> missing() const {
    std::vector<std::string> found;
    for (const auto& record : all<wire::MissingRecord>()) {
      found.push_back(text(record.signal) + ": " + text(record.why));
    }
    return found;
  }

  std::filesystem::path directory_;
  std::multimap<wire::Kind, std::string> payloads_;
  int rings_ = 0;
  bool closed_ = false;
};

TEST_F(InjectTest, RecordsEveryCopyOfAWindowWithItsMemoryAndMonotonicTimes) {
  const std::int64_t before = now_ns();
  const int status = in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->copy(kPageable, 1 << 20, at, at + 80'000);
      loaded.cupti->copy(kPinned, 1 << 21, at + 100'000, at + 140'000);
    });
  });
  EXPECT_EQ(status, 0);
  const auto copies = all<wire::CopyRecord>();
  ASSERT_THAT(copies, SizeIs(2));
  EXPECT_EQ(copies[0].source, wire::MemoryKind::kPageable);
  EXPECT_EQ(copies[0].kind, wire::CopyKind::kHostToDevice);
  EXPECT_EQ(copies[0].bytes, 1 << 20);
  EXPECT_EQ(copies[0].end_ns - copies[0].begin_ns, 80'000);
  EXPECT_EQ(copies[1].source, wire::MemoryKind::kPinned);
  EXPECT_GT(copies[0].begin_ns, before);
  EXPECT_LT(copies[0].begin_ns, now_ns());
  EXPECT_TRUE(closed_);
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(InjectTest, AStepOfTheDevicesClockBetweenWindowsIsFollowed) {
  in_child([] {
    const Loaded loaded;
    const auto copy = [&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->copy(kPinned, 64, at, at + 1000);
    };
    loaded.in_window(copy);
    loaded.cupti->set_clock_offset(2'000'000'000'000'000);
    loaded.another_window(copy);
  });
  const auto copies = all<wire::CopyRecord>();
  ASSERT_THAT(copies, SizeIs(2));
  for (const auto& copy : copies) EXPECT_LT(std::abs(now_ns() - copy.begin_ns), 10'000'000'000);
  const auto pairs = all<wire::ClockPairRecord>();
  EXPECT_GE(pairs.size(), 4u);
  for (const auto& pair : pairs) EXPECT_LT(pair.residual_ns, 1'000'000);
}

TEST_F(InjectTest, KernelsAndTheirLaunchCallsAreRecordedInWindowsOnly) {
  in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->launch_call(7, at, at + 3000);
      loaded.cupti->kernel("_Z4gemmv", 7, at + 5000, at + 9000);
    });
    loaded.cupti->kernel("_Z5laterv", 8, loaded.cupti->now(), loaded.cupti->now() + 9000);
  });
  const auto kernels = all<wire::KernelRecord>();
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(text(kernels[0].name), "_Z4gemmv");
  const auto calls = all<wire::LaunchCallRecord>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].correlation, kernels[0].correlation);
  EXPECT_EQ(calls[0].kind, wire::CallKind::kKernel);
  EXPECT_LE(calls[0].begin_ns, kernels[0].begin_ns);
  const auto windows = all<wire::TraceWindowRecord>();
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(windows[0].kernels, 1u);
  EXPECT_EQ(windows[0].dropped, 0u);
  EXPECT_GE(windows[0].cost_ns, 4000);
  EXPECT_EQ(text(windows[0].tier), "kernels");
}

TEST_F(InjectTest, BetweenWindowsCuptiIsOutOfTheProcess) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.in_window([] {});
    if (loaded.cupti->finalized() != 1 || loaded.cupti->finalized_outside_calls() != 0) std::exit(5);
    if (loaded.cupti->subscriptions_held() != 0) std::exit(6);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(InjectTest, CuptiStaysWhileNoThreadLeavesACall) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.initialize();
    if (!loaded.window_opens() || !loaded.window_closes()) std::exit(3);
    if (!loaded.eventually([&] { return loaded.cupti->subscriptions_held() == 1; })) std::exit(4);
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    if (loaded.cupti->finalized() != 0 || loaded.cupti->is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY)) std::exit(5);
    loaded.cupti->leave_call();
    if (loaded.cupti->finalized() != 1) std::exit(6);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(InjectTest, WhatRunsOnAfterAWindowIsWaitedFor) {
  in_child([] {
    const Loaded loaded;
    loaded.initialize();
    if (!loaded.window_opens()) std::exit(3);
    loaded.cupti->hold_buffer(true);
    loaded.cupti->kernel("k", 1, 1000, 2000);
    if (!loaded.window_closes()) std::exit(4);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (loaded.cupti->subscriptions_held() != 0) std::exit(5);
    loaded.cupti->end_kernel("k", 3000, 4000);
    loaded.cupti->hold_buffer(false);
    if (!loaded.window_is_over()) std::exit(6);
  });
  EXPECT_THAT(all<wire::KernelRecord>(), SizeIs(2));
}

TEST_F(InjectTest, AKernelWithoutEndIsGivenUp) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      loaded.cupti->hold_buffer(true);
      loaded.cupti->kernel("k", 1, 1000, 0);
    });
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  ASSERT_THAT(all<wire::TraceWindowRecord>(), SizeIs(1));
  EXPECT_EQ(all<wire::TraceWindowRecord>()[0].dropped, 1u);
}

TEST_F(InjectTest, AWindowThatFillsEndsEarlyAndSoonTheNextOneIsFarOff) {
  in_child([] {
    const Loaded loaded;
    loaded.initialize();
    for (int window = 0; window < 4; ++window) {
      loaded.another_window([&] {
        const std::uint64_t at = loaded.cupti->now();
        for (std::uint32_t i = 0; i < 10'000; ++i) loaded.cupti->kernel("k", i, at + i, at + i + 1);
      });
    }
  });
  const auto windows = all<wire::TraceWindowRecord>();
  ASSERT_THAT(windows, SizeIs(2)) << "the third is put off by more than the five seconds that are waited";
  EXPECT_GE(windows[0].kernels, 4000u);
  EXPECT_LT(windows[0].end_ns - windows[0].begin_ns, WindowPlan::kWindow_ns);
}

TEST_F(InjectTest, WhatTheDriverSaysItsTracingCostIsReportedAndCounted) {
  in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, at, at + 400'000'000);
      loaded.cupti->overhead(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, at, at + 900'000'000);
    });
  });
  const auto overheads = all<wire::TraceOverheadRecord>();
  ASSERT_THAT(overheads, SizeIs(2));
  EXPECT_EQ(overheads[1].kind, 6u);
  EXPECT_EQ(overheads[1].busy_ns, 900'000'000);
  ASSERT_THAT(all<wire::TraceWindowRecord>(), SizeIs(1));
  EXPECT_GE(all<wire::TraceWindowRecord>()[0].cost_ns, 400'000'000);
  EXPECT_LT(all<wire::TraceWindowRecord>()[0].cost_ns, 900'000'000) << "a full launch queue is not our doing";
}

TEST_F(InjectTest, RecordsOfUnknownKindsAndCutBuffersLeaveTheRestWhole) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->cut_next_buffer(sizeof(CUpti_ActivityMemcpy6) - 4);
      loaded.cupti->copy(kPinned, 1, at, at + 1);
      loaded.cupti->record_of_unknown_kind();
      loaded.cupti->copy(kPinned, 2, at, at + 1);
      loaded.cupti->copy(kPinned, 3, at, at + 1);
    });
  });
  EXPECT_EQ(status, 0);
  const auto copies = all<wire::CopyRecord>();
  ASSERT_THAT(copies, SizeIs(2));
  EXPECT_EQ(copies[1].bytes, 2);
}

TEST_F(InjectTest, ThousandsOfCopiesAreSummedByKind) {
  in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      for (std::uint64_t i = 0; i < 5000; ++i) loaded.cupti->copy(kPageable, 100, at + 10 * i, at + 10 * i + 4);
    });
  });
  const auto copies = all<wire::CopyRecord>();
  EXPECT_LT(copies.size(), 2000u);
  std::uint64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t busy_ns = 0;
  for (const auto& copy : copies) {
    count += copy.count;
    bytes += copy.bytes;
    busy_ns += copy.busy_ns;
  }
  EXPECT_EQ(count, 5000u);
  EXPECT_EQ(bytes, 500'000);
  EXPECT_EQ(busy_ns, 20'000);
}

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
