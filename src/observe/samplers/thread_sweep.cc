#include "observe/samplers/thread_sweep.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

constexpr std::size_t kMostImportant = 128;
// About 20 us per thread: one second per 200 threads keeps a sweep under 0.4 % of a core however many there are.
constexpr std::int64_t kSweepPeriodNs = 1'000'000'000;
constexpr std::int64_t kThreadsPerPeriod = 200;

struct RunTimes {
  std::uint64_t cpu_ns = 0;
  std::uint64_t queue_ns = 0;
};

// "run-ns queue-ns slices"
std::optional<RunTimes> parse_schedstat(std::string_view text) {
  const auto columns = fields(text, 2);
  if (columns.size() < 2) return std::nullopt;
  const auto run = number(columns[0]), queue = number(columns[1]);
  if (!run || !queue) return std::nullopt;
  return RunTimes{*run, *queue};
}

std::string task_path(std::uint32_t pid, std::string_view tid, std::string_view name) {
  return proc_path(pid, "task/") + std::string(tid) + "/" + std::string(name);
}

double code_of(char state) {
  switch (state) {
    case 'R':
      return 1;
    case 'S':
      return 2;
    case 'D':
      return 3;
    default:
      return 4;
  }
}

const LiveProcess* find(const std::vector<LiveProcess>& alive, std::uint32_t pid) {
  const auto it = std::ranges::find(alive, pid, &LiveProcess::pid);
  return it == alive.end() ? nullptr : &*it;
}

bool is_trainer(const ProcessTree& tree, std::uint32_t pid) {
  return std::ranges::count(tree.trainers, pid) > 0;
}

std::string_view role_of(const ProcessTree& tree, const LiveProcess& process, const std::vector<LiveProcess>& alive) {
  if (is_trainer(tree, process.pid)) return "trainer";
  if (process.stat.name == "pt_data_worker") return "worker";
  // Before torch named its workers they were children of the trainer under the same name.
  const LiveProcess* parent = find(alive, process.stat.parent);
  if (parent != nullptr && is_trainer(tree, parent->pid)) return parent->stat.name == process.stat.name ? "worker" : "";
  return tree.trainers.empty() ? "main" : "";
}

}  // namespace

void assign_roles(const ProcessTree& tree, std::vector<LiveProcess>& alive) {
  for (LiveProcess& process : alive) process.role = role_of(tree, process, alive);
}

void ThreadSweep::remember(std::string_view role, std::uint32_t pid, std::uint32_t tid) {
  if (important_.size() >= kMostImportant) return;
  important_.push_back({pid, tid, std::string(role) + "/" + std::to_string(pid) + "/" + std::to_string(tid)});
}

void ThreadSweep::read_thread(std::uint32_t pid, std::string_view tid, bool is_helper, States& states, Readings& out) {
  // Status alone, not stat as well: a third fewer files.
  const auto status = files_.read(task_path(pid, tid, "status"));
  const auto id = number<std::uint32_t>(tid);
  const auto state = status ? word_of(*status, "State:") : std::string_view();
  if (state.empty() || !id) return;  // ended since it was listed
  states.threads += 1;
  states.runnable += state == "R" ? 1 : 0;
  states.blocked += state == "D" ? 1 : 0;
  const auto name = word_of(*status, "Name:");
  if (name == "pt_data_pin") remember("pin", pid, *id);
  // torch's threads that run the backward pass, one per device: they launch most of a step's kernels.
  if (name.starts_with("pt_autograd_")) remember("backward", pid, *id);

  const auto schedstat = files_.read(task_path(pid, tid, "schedstat"));
  const auto times = schedstat ? parse_schedstat(*schedstat) : std::nullopt;
  const auto voluntary = value_of(*status, "voluntary_ctxt_switches:");
  const auto involuntary = value_of(*status, "nonvoluntary_ctxt_switches:");
  if (!schedstat && files_.read(task_path(pid, tid, "stat"))) {
    out.missing("tree.runq_s", "this kernel has no /proc/PID/schedstat (CONFIG_SCHED_INFO is off)");
  }
  if (!times || !voluntary || !involuntary) return;
  measured_ = true;
  // Threads pass nothing on: what one had counted when it ended is carried.
  sum_.add({*id, 0, 0, {times->queue_ns, *voluntary, *involuntary}, {}});
  if (is_helper) helpers_.add({*id, 0, 0, {times->cpu_ns, times->queue_ns}, {}});
}

void ThreadSweep::sweep(const std::vector<LiveProcess>& alive, Readings& out) {
  important_.clear();
  States states;
  for (const LiveProcess& process : alive) {
    if (!process.role.empty()) remember(process.role, process.pid, process.pid);
    const auto tids = files_.list(proc_path(process.pid, "task"));
    if (!tids) continue;
    const bool is_worker = process.role == "worker";
    const std::string main = std::to_string(process.pid);
    for (const std::string& tid : *tids) read_thread(process.pid, tid, is_worker && tid != main, states, out);
    states.workers += is_worker ? 1 : 0;
    states.of_workers += is_worker ? static_cast<double>(tids->size()) : 0;
  }
  const TreeSum::Counts& total = sum_.end_round();
  const TreeSum::Counts& helpers = helpers_.end_round();
  if (states.threads > 0) {
    out.gauge("tree.threads", "", "threads", states.threads);
    out.gauge("tree.threads_runnable", "", "threads", states.runnable);
    out.gauge("tree.threads_blocked", "", "threads", states.blocked);
  }
  if (states.workers > 0) out.gauge("workers.threads", "", "threads", states.of_workers / states.workers);
  if (!measured_) return;
  out.counter("workers.helper_cpu_s", "", "s", static_cast<double>(helpers[0]) / 1e9);
  out.counter("workers.helper_runq_s", "", "s", static_cast<double>(helpers[1]) / 1e9);
  out.counter("tree.runq_s", "", "s", static_cast<double>(total[0]) / 1e9);
  out.counter("tree.voluntary_switches", "", "switches", static_cast<double>(total[1]));
  out.counter("tree.involuntary_switches", "", "switches", static_cast<double>(total[2]));
}

void ThreadSweep::look_for_lock(const Important& thread, Readings& out) {
  const auto waiting = lock_.waits(thread.pid, std::to_string(thread.tid));
  if (!lock_.why().empty()) out.missing("thread.lock_waits", lock_.why());
  if (!waiting) return;
  Looks& looks = looks_[thread.label];
  looks.all += 1;
  looks.waiting += *waiting ? 1 : 0;
  out.counter("thread.lock_looks", thread.label, "looks", looks.all);
  out.counter("thread.lock_waits", thread.label, "looks", looks.waiting);
}

void ThreadSweep::report(const Important& thread, const std::vector<LiveProcess>& alive, Readings& out) {
  const std::string tid = std::to_string(thread.tid);
  const auto text = files_.read(task_path(thread.pid, tid, "schedstat"));
  const auto times = text ? parse_schedstat(*text) : std::nullopt;
  if (!times) return;
  out.counter("thread.cpu_s", thread.label, "s", static_cast<double>(times->cpu_ns) / 1e9);
  out.counter("thread.runq_s", thread.label, "s", static_cast<double>(times->queue_ns) / 1e9);
  // The state of a main thread is already at hand.
  if (thread.tid == thread.pid) {
    if (const LiveProcess* process = find(alive, thread.pid)) {
      out.gauge("thread.state", thread.label, "state", code_of(process->stat.state));
    }
    return;
  }
  const auto stat_text = files_.read(task_path(thread.pid, tid, "stat"));
  if (const auto stat = stat_text ? parse_task_stat(*stat_text) : std::nullopt) {
    out.gauge("thread.state", thread.label, "state", code_of(stat->state));
  }
}

void ThreadSweep::sample(const ProcessTree& tree, const std::vector<LiveProcess>& alive, std::int64_t now_ns,
                         bool with_important, Readings& out) {
  if (now_ns >= due_ns_) {
    std::int64_t threads = 0;
    for (const LiveProcess& process : alive) threads += process.stat.threads;
    due_ns_ = now_ns + kSweepPeriodNs * (1 + threads / kThreadsPerPeriod);
    sweep(alive, out);
  }
  if (!with_important) return;
  lock_.keep_only(tree.trainers);
  for (const Important& thread : important_) {
    report(thread, alive, out);
    if (thread.label.starts_with("trainer/")) look_for_lock(thread, out);
  }
}

}  // namespace fullbore::observe
