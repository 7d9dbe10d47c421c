// The samplers on the kernel that runs the tests: what a fixture cannot show is that the kernel still prints like that.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "observe/samplers/all_samplers.h"
#include "observe/samplers/cgroup.h"
#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::Gt;
using testing::Optional;

// A process that spins until it is killed, or until it has used `cpu_ms` of CPU time.
class Spinner {
 public:
  explicit Spinner(int cpu_ms) : pid_(fork()) {
    if (pid_ != 0) return;
    const clock_t end = clock() + static_cast<clock_t>(cpu_ms) * (CLOCKS_PER_SEC / 1000);
    while (clock() < end) continue;
    _exit(0);
  }
  ~Spinner() {
    if (waited_) return;
    kill(pid_, SIGKILL);
    wait();
  }
  void wait() {
    waitpid(pid_, nullptr, 0);
    waited_ = true;
  }
  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

 private:
  pid_t pid_;
  bool waited_ = false;
};

// Asks `seen` every 20 ms until it says yes; false after ten seconds.
template <typename Seen>
bool eventually(Seen seen) {
  for (int i = 0; i < 500; ++i) {
    if (seen()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST(LiveTest, EverySourceOfThisMachineIsReadOrNamed) {
  const base::RealFiles files;
  const auto self = static_cast<std::uint32_t>(getpid());
  const ProcessTree tree{self, {self}, {self}, {"/proc/self/exe"}};
  RecordedReadings out;
  for (const auto& sampler : make_samplers(files)) sampler->sample(tree, 0, out);
  for (const char* metric :
       {"tree.cpu_s", "tree.rss_bytes", "tree.threads", "cpu.usable_cores", "memory.total_bytes"}) {
    EXPECT_TRUE(out.value(metric)) << metric;
  }
  EXPECT_TRUE(out.value("pressure.some_s", "cpu") || !out.why("pressure").empty());
  EXPECT_TRUE(out.value("cgroup.limited", "cpu") || !out.why("cgroup.cpu").empty());
  EXPECT_TRUE(out.value("disk.reads", "host") || !out.why("disk").empty());
  EXPECT_TRUE(out.value("tree.read_chars") || !out.why("tree.io").empty());
}

TEST(LiveTest, AnEndedChildsCpuTimeStaysInTheTree) {
  const base::RealFiles files;
  const auto self = static_cast<std::uint32_t>(getpid());
  const auto samplers = make_samplers(files);
  RecordedReadings out;
  auto tree_cpu_s = [&](std::vector<std::uint32_t> pids) {
    for (const auto& sampler : samplers) sampler->sample({self, pids, {}, {}}, 0, out);
    return out.value("tree.cpu_s").value();
  };
  const double before = tree_cpu_s({self});
  Spinner child(200);
  ASSERT_TRUE(eventually([&] { return tree_cpu_s({self, child.pid()}) >= before + 0.15; }));
  child.wait();
  const double after = tree_cpu_s({self});
  EXPECT_GE(after, before + 0.15);
  EXPECT_NEAR(tree_cpu_s({self}), after, 0.05);
}

// A cpu group of v1 or v2 with 2 % of a core, so little that a busy machine grants it and it is throttled; empty
// `directory` where none can be made.
struct SmallQuota {
  std::filesystem::path directory;

  SmallQuota() {
    const std::string name = "fullbore-test-" + std::to_string(getpid());
    std::error_code error;
    for (const char* parent : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"}) {
      const auto made = std::filesystem::path(parent) / name;
      if (!std::filesystem::create_directory(made, error)) continue;
      directory = made;
      if (write("cpu.cfs_quota_us", "2000") || write("cpu.max", "2000 100000")) return;
      std::filesystem::remove(made, error);
      directory.clear();
    }
  }
  ~SmallQuota() {
    if (!directory.empty()) rmdir(directory.c_str());
  }
  bool write(const char* file, const std::string& text) const {
    if (!std::filesystem::exists(directory / file)) return false;
    std::ofstream out(directory / file);
    out << text << std::flush;
    return out.good();
  }
};

TEST(LiveTest, ThrottlingByARealQuotaIsSeen) {
  const SmallQuota group;
  if (group.directory.empty()) GTEST_SKIP() << "no cpu control group can be made here (not root, or read-only)";
  const base::RealFiles files;
  const Spinner child(60'000);
  ASSERT_TRUE(group.write("cgroup.procs", std::to_string(child.pid())));
  RecordedReadings out;
  CgroupSampler sampler(files);
  EXPECT_TRUE(eventually([&] {
    sampler.sample({child.pid(), {child.pid()}, {}, {}}, 0, out);
    return out.value("cgroup.cpu_throttled_periods").value_or(0) >= 2;
  }));
  EXPECT_THAT(out.value("cgroup.cpu_quota_cores"), Optional(0.02));
  EXPECT_THAT(out.value("cgroup.cpu_throttled_s"), Optional(Gt(0.0)));
}

}  // namespace
}  // namespace fullbore::observe
