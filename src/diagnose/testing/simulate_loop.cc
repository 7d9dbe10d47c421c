// The simulated loader hands indices to workers in turn, keeps `prefetch` batches per worker in flight and delivers in
// order, as torch's does; cores are shared evenly. See run_builder.h.
#include <algorithm>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose::testing {
namespace {

// One rank's loop, epoch by epoch.
class Loop {
 public:
  Loop(RunBuilder& builder, const Simulation& simulation)
      : builder_(builder),
        s_(simulation),
        rank_(builder.rank(simulation.rank)),
        pid_(kTrainerPid + 1000 * static_cast<std::uint32_t>(simulation.rank)) {}

  void run() {
    describe();
    for (int epoch = 0; epoch < s_.epochs; ++epoch) run_epoch(epoch);
    write_profile();
    builder_.run.info.end_ns = now_;
  }

  std::int64_t end_ns() const { return now_; }
  double cpu_ms() const { return cpu_ms_; }
  double read_chars() const { return read_chars_; }

 private:
  struct Cost {
    double fetch_ms = 0, cpu_ms = 0, runq_ms = 0, slowest_ms = 0;
    int slowest = 0;
  };

  void describe() {
    wire::ProcessRecord process = process_record(wire::Role::kTrainer, 1);
    process.line_tier = builder_.name("monitoring");
    rank_.processes.push_back({process, pid_, pid_});
    wire::LoaderRecord loader = loader_record_of(1, s_.workers);
    loader.file = builder_.name("/home/ada/train.py");
    loader.line = loader.end_line = 41;
    loader.code =
        builder_.name("loader = DataLoader(data, batch_size=32, num_workers=" + std::to_string(s_.workers) + ")");
    loader.batch_size = s_.batch;
    loader.batches = s_.batches;
    loader.dataset_length = s_.batches * s_.batch;
    loader.flags = (s_.persistent && s_.workers > 0 ? wire::kPersistentWorkers : 0u) | wire::kInOrder;
    rank_.loaders.push_back({loader, pid_, pid_});
    wire::LoaderRecord validation = loader_record_of(2, 0);
    validation.file = loader.file;
    validation.line = validation.end_line = 48;
    rank_.loaders.push_back({validation, pid_, pid_});
    wire::ModelRecord model{};
    model.hash = 0x9f1c;
    model.parameters = 1000;
    model.device = builder_.name(s_.device);
    rank_.models.push_back({model, pid_, pid_});
  }

  // Cores are shared by the workers that want one.
  double contention() const {
    const double wanted = std::max(1, s_.workers) * s_.cpu_share;
    const double cores = std::min(s_.cores, s_.quota_cores.value_or(s_.cores));
    return std::max(1.0, wanted / cores);
  }

  Cost cost_of(int worker) {
    Cost cost;
    const auto place = static_cast<std::size_t>(std::max(worker, 0));
    const double factor = place < s_.worker_factor.size() ? s_.worker_factor[place] : 1;
    for (int i = 0; i < s_.batch; ++i, ++sample_) {
      const bool slow = s_.slow_every > 0 && sample_ % s_.slow_every == s_.slow_every - 1;
      const double wall = slow ? s_.slow_ms : s_.sample_ms * factor;
      if (wall > cost.slowest_ms) cost.slowest_ms = wall, cost.slowest = i;
      cost.fetch_ms += wall;
    }
    cost.cpu_ms = (cost.fetch_ms * s_.cpu_share + s_.collate_ms);
    cost.runq_ms = cost.cpu_ms * (contention() - 1);
    cost.fetch_ms += cost.runq_ms;
    return cost;
  }

  wire::BatchRecord make(std::int64_t begin_ns, std::int64_t idle_ns, int batch, int worker) {
    const int first_sample = sample_;
    const Cost cost = cost_of(worker);
    wire::BatchRecord made = batch_record(begin_ns, begin_ns, batch, worker < 0 ? wire::kUnknown32 : worker);
    made.idle_ns = worker < 0 ? wire::kUnknown : idle_ns;
    made.fetched_ns = begin_ns + ms(cost.fetch_ms);
    made.collated_ns = made.put_ns = made.fetched_ns + ms(s_.collate_ms);
    made.cpu_ns = ms(cost.cpu_ms);
    made.runq_ns = ms(cost.runq_ms);
    made.read_chars = s_.batch * 50'000;
    made.read_bytes = static_cast<std::int64_t>(static_cast<double>(made.read_chars) * s_.read_bytes_share);
    made.samples = s_.batch;
    made.slowest_ns = ms(cost.slowest_ms);
    made.slowest_index = first_sample + cost.slowest;
    made.slowest_begin_ns = begin_ns + ms(s_.sample_ms * cost.slowest);
    cpu_ms_ += cost.cpu_ms;
    read_chars_ += static_cast<double>(made.read_chars);
    return made;
  }

  void start_iterator(int epoch) {
    const bool reset = epoch > 0 && s_.persistent && s_.workers > 0;
    ++iterator_;
    wire::IteratorRecord iterator = iterator_record(now_, 1, iterator_, s_.workers);
    iterator.epoch = epoch;
    iterator.flags = reset ? wire::kReset : 0u;
    iterator.base_seed = reset ? 1001 : iterator.base_seed;
    rank_.iterators.push_back({iterator, pid_, pid_});
    if (reset) return;
    for (int w = 0; w < s_.workers; ++w) {
      wire::ProcessRecord process = process_record(wire::Role::kWorker, pid_);
      process.worker = w;
      process.base_seed = iterator.base_seed;
      rank_.processes.push_back({process, worker_pid(w), worker_pid(w)});
    }
    free_.assign(static_cast<std::size_t>(s_.workers), now_ + ms(s_.start_ms));
  }

  std::uint32_t worker_pid(int w) const {
    return pid_ + 10 * (s_.persistent ? 1 : iterator_) + static_cast<std::uint32_t>(w) + 1;
  }

  void run_epoch(int epoch) {
    start_iterator(epoch);
    std::vector<wire::BatchRecord> made;
    std::vector<std::int64_t> sent(static_cast<std::size_t>(s_.batches), now_);  // index of batch i was sent
    const int flight = s_.workers * s_.prefetch;
    for (int i = 0; i < s_.batches; ++i) {
      const int next_made = static_cast<int>(made.size());
      for (int k = next_made; s_.workers > 0 && k < std::min(s_.batches, i + flight); ++k)
        made.push_back(make_in_worker(k, sent));
      step(i, s_.workers > 0 ? made[static_cast<std::size_t>(i)] : make(now_ + ms(s_.sampler_ms), 0, i, -1));
      if (i + flight < s_.batches) sent[static_cast<std::size_t>(i + flight)] = now_;
      now_ += body_of(i);
    }
    finish_epoch();
  }

  wire::BatchRecord make_in_worker(int batch, const std::vector<std::int64_t>& sent) {
    const int worker = batch % s_.workers;
    std::int64_t& free = free_[static_cast<std::size_t>(worker)];
    const std::int64_t begin = std::max(free, sent[static_cast<std::size_t>(batch)]);
    const wire::BatchRecord made = make(begin, begin - free, batch, worker);
    free = made.put_ns;
    rank_.batches.push_back({made, worker_pid(worker), worker_pid(worker)});
    return made;
  }

  // The wait for batch i and its optimiser step; leaves now_ at the end of the wait.
  void step(int i, const wire::BatchRecord& made) {
    if (s_.workers == 0) rank_.batches.push_back({made, pid_, pid_});
    wire::NextRecord next = next_record(now_, std::max(now_, made.put_ns + ms(s_.handoff_ms)) + ms(s_.unpickle_ms), i);
    if (s_.workers > 0) next.end_ns += ms(s_.sampler_ms);
    next.sampler_ns = ms(s_.sampler_ms);
    next.iterator = iterator_;
    next.worker = made.worker;
    next.samples = s_.batch;
    next.flags = i == 0 ? wire::kFirst : 0u;
    next.runq_ns = 0;
    const bool pushed_aside = contention() >= 2;
    next.loop_runq_ns = pushed_aside ? ms(s_.body_ms * 0.1) : 0;
    rank_.nexts.push_back({next, pid_, pid_});
    now_ = next.end_ns;
    rank_.steps.push_back({step_record(now_ + ms(s_.body_ms / 2), now_ + ms(s_.body_ms / 2) + 1000), pid_, pid_});
    cpu_ms_ += s_.body_cpu_ms;
  }

  std::int64_t body_of(int i) {
    const bool is_long = s_.long_every > 0 && i % s_.long_every == s_.long_every - 1;
    std::int64_t body = ms(is_long ? s_.long_ms : s_.body_ms);
    if (s_.checkpoint_every > 0 && i % s_.checkpoint_every == s_.checkpoint_every - 1) {
      wire::IntervalRecord save =
          interval_record(wire::IntervalKind::kCheckpoint, now_ + body, now_ + body + ms(s_.checkpoint_ms));
      save.file = builder_.name("/home/ada/train.py");
      save.line = 60;
      rank_.intervals.push_back({save, pid_, pid_});
      body += ms(s_.checkpoint_ms);
    }
    return body;
  }

  void finish_epoch() {
    wire::NextRecord stop = next_record(now_, now_ + (s_.persistent ? 0 : ms(s_.stop_ms)), wire::kUnknown);
    stop.iterator = iterator_;
    stop.flags = wire::kStop;
    rank_.nexts.push_back({stop, pid_, pid_});
    now_ = stop.end_ns;
    if (s_.validation_ms <= 0) return;
    ++iterator_;
    rank_.iterators.push_back({iterator_record(now_, 2, iterator_, 0), pid_, pid_});
    for (int i = 0; i <= 10; ++i) {
      wire::NextRecord next = next_record(now_, now_ + ms(s_.validation_ms / 20), i);
      next.loader = 2;
      next.iterator = iterator_;
      next.flags = i == 0 ? wire::kFirst : i == 10 ? wire::kStop : 0u;
      rank_.nexts.push_back({next, pid_, pid_});
      now_ += ms(s_.validation_ms / 10);
    }
  }

  void write_profile() {
    const std::int64_t window = ms(100);
    for (const auto& [stage, share] : s_.stages) {
      for (const bool callee : {false, true}) {
        wire::ProfileRecord profile{};
        profile.time_ns = now_;
        profile.wall_ns = static_cast<std::int64_t>(static_cast<double>(window) * share);
        profile.window_ns = window;
        profile.loader = 1;
        profile.where = wire::Where::kDataset;
        profile.stage = stage;
        profile.line = 10 + static_cast<std::int32_t>(stage);
        profile.count = 100;
        profile.windows = 100;
        profile.file = builder_.name("/home/ada/data.py");
        profile.name = callee ? builder_.name("callee") : 0;
        rank_.profile.push_back({profile, pid_, pid_});
      }
    }
  }

  RunBuilder& builder_;
  const Simulation& s_;
  record::RankRecords& rank_;
  std::uint32_t pid_;
  std::int64_t now_ = kStartNs + ms(100);
  std::uint32_t iterator_ = 0;
  int sample_ = 0;
  double cpu_ms_ = 0;
  double read_chars_ = 0;
  std::vector<std::int64_t> free_;
};

}  // namespace

void simulate_into(RunBuilder& builder, const Simulation& simulation) {
  Loop loop(builder, simulation);
  loop.run();
  const std::int64_t end = loop.end_ns();
  const double seconds = static_cast<double>(end - kStartNs) / 1e9;
  const double used = loop.cpu_ms() / 1e3 / seconds;
  const double usable = std::min(simulation.cores, simulation.quota_cores.value_or(simulation.cores));
  builder.gauge("cpu.online_cores", simulation.cores);
  builder.gauge("cpu.affinity_cores", simulation.cores);
  builder.gauge("cpu.usable_cores", usable);
  builder.counter("tree.cpu_s", std::min(used, usable), end);
  builder.counter("cpu.usable_busy_s", std::min(used, usable) + simulation.neighbour_cores, end);
  if (simulation.workers > 0 && simulation.kernel_share > 0) {
    const double kernel = simulation.kernel_share * used;
    builder.counter("workers.cpu_s", used, end);
    builder.counter("workers.cpu_system_s", kernel, end);
    builder.counter("workers.minor_faults", kernel / (simulation.faults_us * 1e-6), end);
  }
  if (simulation.quota_cores) {
    builder.gauge("cgroup.cpu_quota_cores", *simulation.quota_cores);
    builder.counter("cgroup.cpu_periods", 10, end);
    builder.counter("cgroup.cpu_throttled_periods", used >= 0.9 * usable ? 8 : 0, end);
  }
  if (simulation.device_busy <= 0) return;
  builder.gauge("mount.device", 1, "vda");
  builder.counter("disk.read_bytes", loop.read_chars() * simulation.read_bytes_share / seconds, end, "vda");
  builder.counter("disk.reads", 1000, end, "vda");
  builder.counter("disk.busy_s", simulation.device_busy, end, "vda");
  builder.counter("disk.queue_s", simulation.device_queue, end, "vda");
}

Simulation reading_from_a_device(int workers, double device_queue) {
  return {.workers = workers,
          .body_ms = 20,
          .sample_ms = 4,
          .cpu_share = 0.1,
          .stages = {{wire::Stage::kRead, 0.9}},
          .read_bytes_share = 1,
          .device_busy = 0.98,
          .device_queue = device_queue};
}

record::Run simulate(const Simulation& simulation) {
  RunBuilder builder;
  simulate_into(builder, simulation);
  return builder.take();
}

}  // namespace fullbore::diagnose::testing
