// Batches are copied out of memory that hangs on the other processor than the GPU: every byte crosses the link between
// the two, and the copy is slower than it is here otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/device_counters.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {
namespace {

constexpr double kMostlyRemote = 0.75;   // of the looks
constexpr double kSlow = 0.8;            // of the rate that this machine was seen to reach
constexpr double kLargeCopyBytes = 1e6;  // shorter ones do not reach the link's rate anywhere
constexpr const char* kLooks = "numa.looks";

// The node behind the last slash of "trainer/PID/NODE".
int node_of(const std::string& label) {
  return std::atoi(label.c_str() + label.rfind('/') + 1);
}

// Of the looks at `who`, the share on another node than `node`; nullopt where nothing was looked at.
std::optional<double> looks_elsewhere(const Situation& situation, const char* who, int node) {
  const std::string begin = fmt::format("{}/{}/", who, situation.trainer->pid);
  double all = 0, elsewhere = 0;
  for (const record::Series& series : situation.run->series) {
    if (series.metric != kLooks || !series.label.starts_with(begin)) continue;
    const double rate =
        rate_in(&series, situation.iterations.whole_begin_ns, situation.iterations.whole_end_ns).value_or(0);
    all += rate;
    if (node_of(series.label) != node) elsewhere += rate;
  }
  return all > 0 ? std::optional(elsewhere / all) : std::nullopt;
}

// The cores of a node as the kernel lists them: "16-31"; "" if they were not recorded.
std::string cores_of(const Situation& situation, int node) {
  const std::string begin = fmt::format("{}/", node);
  for (const record::Series& series : situation.run->series) {
    if (series.metric == "numa.cores" && series.label.starts_with(begin)) return series.label.substr(begin.size());
  }
  return "";
}

struct Remote {
  int node = 0;                        // of the GPU
  const CopiesFrom* copies = nullptr;  // most bytes
  bool pinned = false;
  double ceiling = 0;    // GB/s
  double elsewhere = 0;  // of the looks at who writes the memory
  bool by_workers = false;
  std::optional<int> bound_to;  // the node that the trainer's mask confines it to

  double rate() const { return copies->gb_per_s().value_or(0); }
  double slower() const { return 1 - rate() / ceiling; }
};

std::optional<int> bound_to(const Situation& situation) {
  const auto node = mean_in(situation.run->find("numa.bound_to", std::to_string(situation.trainer->pid)),
                            situation.iterations.whole_begin_ns, situation.iterations.whole_end_ns);
  return node && *node >= 0 ? std::optional(static_cast<int>(*node)) : std::nullopt;
}

// Page-locked memory is written by the training process. What is not lies where the worker wrote it.
bool place(const Situation& situation, Remote& remote) {
  remote.bound_to = bound_to(situation);
  const bool bound_elsewhere = remote.bound_to && *remote.bound_to != remote.node;
  const auto children =
      has_workers(situation) && !remote.pinned ? looks_elsewhere(situation, "children", remote.node) : std::nullopt;
  const auto trainer = looks_elsewhere(situation, "trainer", remote.node);
  remote.by_workers = children.has_value();
  const auto elsewhere = children ? children : bound_elsewhere ? std::optional(1.0) : trainer;
  remote.elsewhere = elsewhere.value_or(0);
  return remote.elsewhere >= kMostlyRemote;
}

std::optional<Remote> find_remote(const Situation& situation) {
  const auto node = device_highest(situation, "gpu.numa_node");
  if (!situation.device || !node) return std::nullopt;
  Remote remote;
  remote.node = static_cast<int>(*node);
  remote.pinned = situation.device->pinned.bytes >= situation.device->pageable.bytes;
  remote.copies = remote.pinned ? &situation.device->pinned : &situation.device->pageable;
  if (remote.copies->bytes < kLargeCopyBytes * static_cast<double>(std::max<std::int64_t>(1, remote.copies->count)))
    return std::nullopt;
  const auto& ceilings = situation.run->info.ceilings;
  const auto ceiling = ceilings.find(remote.pinned ? "pinned_h2d_gb_per_s" : "pageable_h2d_gb_per_s");
  if (ceiling == ceilings.end() || ceiling->second <= 0) return std::nullopt;  // slow against what?
  remote.ceiling = ceiling->second;
  if (remote.rate() <= 0 || remote.rate() >= kSlow * remote.ceiling || !place(situation, remote)) return std::nullopt;
  return remote;
}

std::string what_to_do(const Situation& situation, const Remote& remote) {
  if (world_size(*situation.trainer) > 1)
    return fmt::format(
        "bind each rank to the node of its own GPU (node {} here): torchrun --numa-binding=node (torch 2.9 and later), "
        "or start it as numactl --cpunodebind={} --membind={}",
        remote.node, remote.node, remote.node);
  const std::string list = cores_of(situation, remote.node);
  const std::string command = watched_command(*situation.run);
  std::string text = fmt::format("numactl --cpunodebind={} --membind={} {}", remote.node, remote.node, command);
  if (!list.empty()) text += fmt::format("; or, without numactl: taskset -c {} {}", list, command);
  if (remote.bound_to && *remote.bound_to != remote.node)
    text += fmt::format("; what confines it to node {} now (taskset, Slurm, the container's cpuset) has to allow that",
                        *remote.bound_to);
  return text;
}

}  // namespace

std::optional<Cause> numa_remote(const Situation& situation) {
  const auto remote = find_remote(situation);
  if (!remote || link_degraded(situation)) return std::nullopt;
  const double exposed = remote->pinned ? exposed_pinned(situation) : exposed_pageable(situation);
  const double share = exposed * remote->slower();
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_copy_cause("numa_remote", share, *remote->copies, situation);
  cause.where = cause.fix.where = std::nullopt;
  cause.summary = fmt::format(
      "The GPU hangs on NUMA node {}, and {} on another one for {} of the looks: batches are copied at {:.1f} GB/s "
      "where this machine reaches {:.1f}, and the GPU runs no kernel for {} of each step meanwhile; from near memory "
      "it would be at most {} faster.",
      remote->node, remote->by_workers ? "the workers run" : "the training process runs", percent(remote->elsewhere),
      remote->rate(), remote->ceiling, percent(exposed), factor(*cause.gain.max));
  add_evidence(cause, "node of the GPU", remote->node, "", "/sys/bus/pci/devices/ID/numa_node");
  add_evidence(cause, remote->by_workers ? "workers on another node" : "training process on another node",
               remote->elsewhere, "share", "/proc/PID/stat, Cpus_allowed");
  add_evidence(cause, remote->pinned ? "a copy from page-locked memory here" : "a copy from pageable memory here",
               remote->ceiling, "GB/s", "fullbore ceilings");
  cause.fix.text = what_to_do(situation, *remote);
  cause.fix.risk = "none for results; workers have the cores and the memory of that node only";
  cause.why_not.push_back("pinning or prefetching: they hide the copy, but each byte still goes the long way");
  return cause;
}

}  // namespace fullbore::diagnose
