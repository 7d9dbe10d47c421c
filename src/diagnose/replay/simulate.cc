// The event loop and what each task does next; see simulate.h.
#include "diagnose/replay/simulate.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "diagnose/replay/random.h"
#include "diagnose/replay/shared_server.h"

namespace fullbore::diagnose::replay {
namespace {

constexpr std::size_t kBlock = 10;  // recorded costs in a row that a draw keeps together
constexpr std::uint64_t kBodies = 1, kBatches = 2;

enum class Phase {
  kIdle,
  kStart,
  kDispatch,
  kFetch,
  kCollate,
  kTransit,
  kPin,
  kCreate,
  kReceive,
  kBody,
  kBodyRest,
  kStop,
  kOther
};

// Blocked, then on the device, then on a core; `times` over.
struct Work {
  double blocked = 0, bytes = 0, cpu = 0;
  int times = 1;
};

struct Task {
  Phase phase = Phase::kIdle;
  Work work;
  int stage = 0;
};

// How many steps of an epoch are played, and which of them count as steady.
struct Plan {
  std::size_t batches = 0;  // of an epoch
  std::size_t played = 0;   // of them
  std::size_t skipped = 0;  // of those, before it is steady
  std::size_t epochs = 1;
};

Plan plan_of(const Loop& loop, const Draw& draw) {
  Plan plan;
  const std::size_t depth = static_cast<std::size_t>(loop.workers) * static_cast<std::size_t>(loop.prefetch);
  const std::size_t most = std::max(draw.steps, 3 * depth);
  plan.batches = loop.edges.batches > 0 ? loop.edges.batches : most;
  plan.played = std::min(plan.batches, most);
  plan.epochs = std::max<std::size_t>(1, draw.steps / plan.played);
  plan.skipped = loop.edges.several ? 1 : loop.warmup;
  // Of a longer epoch only the beginning is played, and what is typical of it comes once the pipeline is full.
  if (plan.played < plan.batches) plan.skipped = std::max(plan.skipped, 2 * depth + 10);
  plan.skipped = std::min(plan.skipped, plan.played / 2);
  return plan;
}

class Replay {
 public:
  Replay(const Loop& loop, const Draw& draw)
      : loop_(loop),
        draw_(draw),
        plan_(plan_of(loop, draw)),
        workers_(static_cast<std::size_t>(loop.workers)),
        depth_(workers_ * static_cast<std::size_t>(std::max(1, loop.prefetch))),
        cores_(loop.cores, 1, loop.other_cores),
        device_(loop.device_bytes_per_ms > 0 ? loop.device_bytes_per_ms : 1, 1e300),
        tasks_(2 * workers_ + 3),
        indices_(workers_),
        made_(workers_),
        making_(workers_, 0) {}

  Outcome run() {
    for (std::size_t epoch = 0; epoch < plan_.epochs; ++epoch) play_epoch();
    return outcome();
  }

 private:
  int feeder(int worker) const { return static_cast<int>(workers_) + worker; }
  int pin_task() const { return static_cast<int>(2 * workers_); }
  int loop_task() const { return static_cast<int>(2 * workers_) + 1; }
  int other_task() const { return static_cast<int>(2 * workers_) + 2; }

  // --- time

  void begin(int task, Phase phase, const Work& work) {
    tasks_[static_cast<std::size_t>(task)] = {phase, work, 0};
    ready_.push_back(task);
  }

  void play_epoch() {
    epoch_done_ = false;
    step_ = 0;
    arrived_.assign(plan_.batches + 1, false);
    ahead_ = 0;
    epoch_begin_ = now_;
    for (std::size_t w = 0; w < workers_; ++w) begin(static_cast<int>(w), Phase::kStart, {loop_.edges.start});
    begin(loop_task(), Phase::kCreate, {loop_.edges.create});
    while (!epoch_done_) {
      while (!ready_.empty()) {
        const int task = ready_.back();
        ready_.pop_back();
        proceed(task);
      }
      if (!epoch_done_) proceed(next_event());
    }
    forget_epoch();
  }

  // Batches that were made and never asked for: a long epoch is played in part only.
  void forget_epoch() {
    ready_.clear();
    timers_ = {};
    cores_.clear(now_);
    device_.clear(now_);
    for (auto& queue : indices_) queue.clear();
    for (auto& queue : made_) queue.clear();
    pinning_.clear();
    other_owed_ = 0;
    tasks_.assign(tasks_.size(), {});
    batches_before_ += plan_.played;
  }

  int next_event() {
    const double timer = timers_.empty() ? 1e300 : timers_.top().first;
    const double core = cores_.next_end(), device = device_.next_end();
    now_ = std::min({timer, core, device});
    if (core <= timer && core <= device) return cores_.take();
    if (device <= timer) return device_.take();
    const int task = timers_.top().second;
    timers_.pop();
    return task;
  }

  // To the task's next stage that takes time, or to what follows its work.
  void proceed(int number) {
    Task& task = tasks_[static_cast<std::size_t>(number)];
    for (;;) {
      const int stage = task.stage++;
      if (stage == 0 && task.work.blocked > 0) return timers_.emplace(now_ + task.work.blocked, number), void();
      if (stage == 1 && task.work.bytes > 0) return device_.add(now_, number, task.work.bytes);
      if (stage == 2 && task.work.cpu > 0) return cores_.add(now_, number, task.work.cpu);
      if (stage < 3) continue;
      if (--task.work.times <= 0) return finish(number, task.phase);
      task.stage = 0;
    }
  }

  // --- what comes after what

  void finish(int number, Phase phase) {
    if (number == loop_task()) return finish_loop(phase);
    if (number == pin_task()) return finish_pin();
    if (number == other_task()) return finish_other();
    if (phase == Phase::kTransit) return finish_transit(number - static_cast<int>(workers_));
    finish_worker(number, phase);
  }

  void finish_worker(int worker, Phase phase) {
    const auto w = static_cast<std::size_t>(worker);
    tasks_[w].phase = Phase::kIdle;
    if (phase == Phase::kFetch) {
      const BatchCost& cost = *costs_[w];
      return begin(worker, Phase::kCollate, {cost.collate_blocked, 0, cost.collate_cpu + cost.put});
    }
    if (phase == Phase::kCollate) {
      busy_ += now_ - busy_since_[w];
      made_[w].push_back(making_[w]);
      if (made_[w].size() == 1) begin(feeder(worker), Phase::kTransit, in_transit());
    }
    make_next(worker);
  }

  void make_next(int worker) {
    const auto w = static_cast<std::size_t>(worker);
    if (indices_[w].empty() || tasks_[w].phase != Phase::kIdle) return;
    making_[w] = indices_[w].front();
    indices_[w].pop_front();
    costs_[w] = &draw_batch(w, making_[w]);
    busy_since_[w] = now_;
    begin(worker, Phase::kFetch, fetching(*costs_[w]));
  }

  static Work fetching(const BatchCost& cost) {
    const double chunks = std::max(1, cost.chunks);
    return {cost.fetch_blocked / chunks, cost.device_bytes / chunks, cost.fetch_cpu / chunks, std::max(1, cost.chunks)};
  }

  Work in_transit() const { return {loop_.handoff.transit_blocked, 0, loop_.handoff.transit}; }

  void finish_transit(int worker) {
    const auto w = static_cast<std::size_t>(worker);
    const std::size_t batch = made_[w].front();
    made_[w].pop_front();
    if (!made_[w].empty()) begin(feeder(worker), Phase::kTransit, in_transit());
    if (loop_.handoff.pin <= 0) return arrive(batch);
    pinning_.push_back(batch);
    if (pinning_.size() == 1) begin(pin_task(), Phase::kPin, {0, 0, loop_.handoff.pin});
  }

  void finish_pin() {
    const std::size_t batch = pinning_.front();
    pinning_.pop_front();
    pin_busy_ += loop_.handoff.pin;
    if (!pinning_.empty()) begin(pin_task(), Phase::kPin, {0, 0, loop_.handoff.pin});
    arrive(batch);
  }

  // The job's other threads work whenever they have something, and nobody waits for them.
  void owe_other() {
    if (loop_.other_cpu <= 0) return;
    if (++other_owed_ == 1) begin(other_task(), Phase::kOther, {0, 0, loop_.other_cpu});
  }

  void finish_other() {
    if (--other_owed_ > 0) begin(other_task(), Phase::kOther, {0, 0, loop_.other_cpu});
  }

  void arrive(std::size_t batch) {
    arrived_[batch] = true;
    ++ahead_;
    if (!waiting_) return;
    if (batch == step_) return deliver();
    if (later_since_ < 0) later_since_ = now_;
  }

  // --- the training loop

  void finish_loop(Phase phase) {
    switch (phase) {
      case Phase::kCreate:
        for (std::size_t k = 0; k < std::min(depth_, plan_.batches); ++k) send(k);
        return begin_step();
      case Phase::kFetch: {
        const BatchCost& cost = *costs_of_loop_;
        return begin(loop_task(), Phase::kCollate,
                     {cost.collate_blocked, 0, cost.collate_cpu + loop_.handoff.receive + loop_.handoff.pin});
      }
      case Phase::kCollate:
      case Phase::kReceive:
        return end_wait();
      case Phase::kBody:
        return begin(loop_task(), Phase::kBodyRest, {body_->blocked, 0, body_->cpu / 2});
      case Phase::kBodyRest:
        return end_step();
      default:  // kStop
        epoch_done_ = true;
        whole_ += now_ - epoch_begin_;
    }
  }

  void send(std::size_t batch) {
    if (workers_ == 0 || batch >= plan_.batches) return;
    const std::size_t w = batch % workers_;
    indices_[w].push_back(batch);
    if (tasks_[w].phase == Phase::kIdle) begin(static_cast<int>(w), Phase::kDispatch, {loop_.handoff.dispatch});
  }

  void begin_step() {
    step_begin_ = now_;
    owe_other();
    if (steady()) ready_ahead_ += static_cast<double>(ahead_);
    if (workers_ == 0) {
      costs_of_loop_ = &draw_batch(0, step_);
      return begin(loop_task(), Phase::kFetch, fetching(*costs_of_loop_));
    }
    if (arrived_[step_]) return deliver();
    waiting_ = true;
    later_since_ = ahead_ > 0 ? now_ : -1;
  }

  void deliver() {
    if (waiting_ && later_since_ >= 0 && steady()) in_line_ += now_ - later_since_;
    waiting_ = false;
    --ahead_;
    begin(loop_task(), Phase::kReceive, {0, 0, loop_.handoff.receive});
  }

  void end_wait() {
    if (steady()) wait_ += now_ - step_begin_;
    send(step_ + depth_);
    body_ = &loop_.bodies[draw_index(loop_.bodies.size(), kBodies, bodies_drawn_++)];
    begin(loop_task(), Phase::kBody, {0, 0, body_->cpu / 2});
  }

  void end_step() {
    if (steady()) {
      steady_ += now_ - step_begin_;
      ++steady_steps_;
    }
    if (++step_ < plan_.played) return begin_step();
    begin(loop_task(), Phase::kStop, {loop_.edges.stop});
  }

  bool steady() const { return step_ >= plan_.skipped; }

  // --- costs

  std::size_t draw_index(std::size_t size, std::uint64_t stream, std::size_t count) const {
    if (draw_.seed == 0) return count % size;
    return (random_below(size, draw_.seed, stream, count / kBlock) + count % kBlock) % size;
  }

  // What a batch costs goes with its number, whoever makes it when; where workers differ, with its number there.
  const BatchCost& draw_batch(std::size_t worker, std::size_t batch) const {
    const std::size_t pool = worker % loop_.batches.size();
    const std::size_t number = batches_before_ + batch;
    const std::size_t count = loop_.batches.size() > 1 ? number / std::max<std::size_t>(1, workers_) : number;
    return loop_.batches[pool][draw_index(loop_.batches[pool].size(), kBatches + pool, count)];
  }

  Outcome outcome() const {
    Outcome out;
    if (steady_steps_ == 0 || now_ <= 0) return out;
    const double steps = static_cast<double>(steady_steps_), epochs = static_cast<double>(plan_.epochs);
    out.step_ms = steady_ / steps;
    out.wait_ms = wait_ / steps;
    const double unplayed = static_cast<double>(plan_.batches - plan_.played) * out.step_ms;
    out.whole_ms = (whole_ / epochs + unplayed) / static_cast<double>(plan_.batches) + loop_.edges.fixed_per_step;
    out.cores_busy = std::min(1.0, (cores_.done() / now_ + loop_.other_cores) / loop_.cores);
    if (loop_.device_bytes_per_ms > 0) out.device_busy = device_.done() / now_ / loop_.device_bytes_per_ms;
    if (workers_ > 0) out.workers_busy = busy_ / now_ / static_cast<double>(workers_);
    out.pin_busy = pin_busy_ / now_;
    out.ready = ready_ahead_ / steps;
    out.in_line = wait_ > 0 ? in_line_ / wait_ : 0;
    return out;
  }

  const Loop& loop_;
  const Draw& draw_;
  const Plan plan_;
  const std::size_t workers_, depth_;
  SharedServer cores_, device_;
  std::vector<Task> tasks_;
  std::vector<int> ready_;  // tasks to go on at once
  using Timer = std::pair<double, int>;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  double now_ = 0;

  std::vector<std::deque<std::size_t>> indices_;  // sent to a worker, not begun
  std::vector<std::deque<std::size_t>> made_;     // in its queue's thread
  std::deque<std::size_t> pinning_;
  std::vector<std::size_t> making_;
  std::vector<const BatchCost*> costs_ = std::vector<const BatchCost*>(workers_, nullptr);
  std::vector<double> busy_since_ = std::vector<double>(workers_, 0);
  std::size_t batches_before_ = 0;  // of the epochs before
  std::size_t bodies_drawn_ = 0;
  std::size_t other_owed_ = 0;

  // Of the running epoch:
  std::vector<bool> arrived_;
  std::size_t ahead_ = 0;  // arrived and not taken
  std::size_t step_ = 0;
  bool waiting_ = false, epoch_done_ = false;
  double later_since_ = -1;
  double step_begin_ = 0, epoch_begin_ = 0;
  const BatchCost* costs_of_loop_ = nullptr;
  const BodyCost* body_ = nullptr;

  double steady_ = 0, wait_ = 0, whole_ = 0, in_line_ = 0, ready_ahead_ = 0, busy_ = 0, pin_busy_ = 0;
  std::size_t steady_steps_ = 0;
};

}  // namespace

Outcome simulate(const Loop& loop, const Draw& draw) {
  if (loop.bodies.empty() || loop.batches.empty() || loop.batches.front().empty()) return {};
  return Replay(loop, draw).run();
}

}  // namespace fullbore::diagnose::replay
