// Is a resource exhausted, or merely used badly? Cores, quota and storage over the part of the run that is judged.
// Every number is absent when its sampler could not read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/iterations.h"
#include "record/run.h"

namespace fullbore::diagnose {

inline constexpr double kPageBytes = 4096;  // as the samplers count pages
// More threads in a worker are a library's: its main thread and the one that sends its batches are two.
inline constexpr double kThreadsWithLibrary = 2.5;

struct Resources {
  std::optional<double> machine_cores, affinity_cores, quota_cores;
  std::optional<double> usable_cores;         // of the job: min(affinity, cpuset, quota)
  std::optional<double> rank_cores;           // usable cores per training process of this host
  std::optional<double> tree_cores;           // in use by the job
  std::optional<double> neighbour_cores;      // in use by others on the cores that the job may use
  std::optional<double> free_cores;           // usable - tree - neighbours, not below 0
  std::optional<double> machine_free_cores;   // idle cores of the machine, those that the job may not use included
  std::optional<double> runq_cores;           // threads of the job that wanted a core and had none
  std::optional<double> worker_threads;       // alive in each loader worker
  std::optional<double> helper_threads;       // of all workers' threads but the main ones, those that wanted a core
  std::optional<double> helper_cores;         // of the same, those that had one
  std::optional<double> worker_cores;         // in use by all workers
  std::optional<double> worker_kernel_cores;  // of these in the kernel
  std::optional<double> worker_faults_per_s;  // pages that all workers fetched without a disk
  std::optional<double> main_threads;         // main threads of trainers and workers that wanted a core
  std::optional<double> pin_busy;             // of the thread that pins: share of time on a core or waiting for one
  std::optional<double> throttled_periods;    // share of quota periods in which the job was stopped
  std::optional<double> tree_read_bytes_per_s, tree_read_chars_per_s;
  std::string device;  // under the data files, "" unknown
  std::string mount_type;
  std::optional<double> device_read_bytes_per_s, device_reads_per_s, device_busy, device_queue, device_read_ms;
  std::optional<double> device_write_bytes_per_s;
  std::optional<double> device_limit_bytes_per_s, device_limit_reads_per_s;  // set by the control group
  // Memory: of the control group where it has a limit, else of the machine.
  std::optional<double> memory_total, memory_available;  // of the machine, bytes
  std::optional<double> memory_limit, memory_used, memory_anon;
  std::optional<double> cache_room;  // bytes that the page cache may take: limit or memory, less what is anonymous
  std::optional<double> refault_bytes_per_s;           // evicted from the page cache and soon read again
  std::optional<double> swap_in_bytes_per_s;           // of the machine
  std::optional<double> memory_pressure;               // share of time in which something waited for memory
  std::optional<double> shm_size, shm_free_least;      // of /dev/shm, bytes, over the whole run
  std::optional<double> files_open_most, files_limit;  // of the trainer that had most
  std::optional<double> major_faults_per_s;            // of the job
  std::vector<std::pair<std::string, std::optional<double>>> system;  // all of it and more, for the report

  // Share of the cores that the job may use which others take; 0 where it was not measured.
  double taken_by_others() const;
  // They take a quarter: that makes a run look slower than it is, and its loader more so.
  bool crowded_by_others() const { return taken_by_others() >= 0.25; }
};

Resources measure_resources(const record::Run& run, const Iterations& iterations);

// Mean of a gauge or rate per second of a counter inside a window; nullopt if fewer than two readings reach into it.
std::optional<double> mean_in(const record::Series* series, std::int64_t begin_ns, std::int64_t end_ns);
std::optional<double> rate_in(const record::Series* series, std::int64_t begin_ns, std::int64_t end_ns);
// Of a counter, the rates of all labels that begin so, added up; nullopt if none was measured.
std::optional<double> sum_of_rates(const record::Run& run, std::string_view metric, std::string_view label_begin,
                                   std::int64_t begin_ns, std::int64_t end_ns);

}  // namespace fullbore::diagnose
