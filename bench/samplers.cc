// What sampling costs the collector, for a tree of 20 processes with 5 threads each on the real /proc. The target is
// 1 % of one core: the counter core_percent of "all".
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <thread>

#include "base/file_reader.h"
#include "observe/samplers/all_samplers.h"

namespace fullbore::observe {
namespace {

constexpr int kProcesses = 20;
constexpr int kThreads = 5;
constexpr std::int64_t kRoundNs = 100'000'000;
constexpr std::int64_t kRounds = 100;  // ten seconds of a run

// Idle processes are as dear to read as busy ones.
[[noreturn]] void sleep_forever() {
  for (int i = 1; i < kThreads; ++i)
    std::thread([] {
      while (true) pause();
    }).detach();
  while (true) pause();
}

class Tree {
 public:
  Tree() {
    tree_.root_pid = static_cast<std::uint32_t>(getpid());
    tree_.trainers.push_back(tree_.root_pid);
    tree_.data_paths.push_back("/usr/bin/env");
    tree_.pids.push_back(tree_.root_pid);
    for (int i = 1; i < kProcesses; ++i) {
      const pid_t pid = fork();
      if (pid == 0) sleep_forever();
      tree_.pids.push_back(static_cast<std::uint32_t>(pid));
    }
    usleep(200'000);  // until the threads stand
  }
  ~Tree() {
    for (std::size_t i = 1; i < tree_.pids.size(); ++i) {
      kill(static_cast<pid_t>(tree_.pids[i]), SIGKILL);
      waitpid(static_cast<pid_t>(tree_.pids[i]), nullptr, 0);
    }
  }
  const ProcessTree& get() const { return tree_; }

 private:
  ProcessTree tree_;
};

class Counting final : public Readings {
 public:
  void gauge(std::string_view, std::string_view, std::string_view, double) override { ++count_; }
  void counter(std::string_view, std::string_view, std::string_view, double) override { ++count_; }
  void missing(std::string_view, std::string_view) override {}
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
};

// Calls each sampler as often as it asks for, by a clock turned by hand, so that ten seconds take milliseconds.
void sample_ten_seconds(benchmark::State& state, std::string_view only) {
  const Tree tree;
  const base::RealFiles files;
  Counting out;
  for (auto _ : state) {
    const auto samplers = make_samplers(files);
    std::vector<std::int64_t> due(samplers.size(), 0);
    for (std::int64_t now = 0; now < kRounds * kRoundNs; now += kRoundNs) {
      for (std::size_t i = 0; i < samplers.size(); ++i) {
        if (now < due[i] || (!only.empty() && samplers[i]->name() != only)) continue;
        due[i] = now + samplers[i]->period_ns();
        samplers[i]->sample(tree.get(), now, out);
      }
    }
  }
  const double seconds = static_cast<double>(state.iterations() * kRounds * kRoundNs) / 1e9;
  // CPU time per simulated second: an inverted rate is seconds of CPU over the number given.
  state.counters["core_percent"] =
      benchmark::Counter(seconds / 100, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["readings_per_s"] = static_cast<double>(out.count()) / seconds;
}

}  // namespace
}  // namespace fullbore::observe

int main(int argc, char** argv) {
  const fullbore::base::RealFiles files;
  auto add = [](const std::string& name, std::string_view only) {
    benchmark::RegisterBenchmark(name.c_str(), [only = std::string(only)](benchmark::State& state) {
      fullbore::observe::sample_ten_seconds(state, only);
    })->Unit(benchmark::kMillisecond);
  };
  add("all", "");
  for (const auto& sampler : fullbore::observe::make_samplers(files))
    add(std::string(sampler->name()), sampler->name());
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
