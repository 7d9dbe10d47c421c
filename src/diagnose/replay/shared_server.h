// A server that all its jobs share evenly: the cores under the runnable threads, a device under its readers. Kept in
// virtual time (what a job that was always there would have got by now), so that an event costs O(log jobs), not
// O(jobs).
#pragma once

#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace fullbore::diagnose::replay {

class SharedServer {
 public:
  // `capacity` in work per time; no job gets more than `most_per_job`. `others` jobs that never end share it too.
  SharedServer(double capacity, double most_per_job, double others = 0)
      : capacity_(capacity), most_(most_per_job), others_(others) {}

  // All jobs are gone; what was done stays counted.
  void clear(double now);

  void add(double now, int job, double work);
  // When the next job ends if none is added; infinity without jobs.
  double next_end() const;
  // The job that ends at next_end(), which becomes the present.
  int take();

  std::size_t jobs() const { return jobs_.size(); }
  // Work done until the present of the last call.
  double done() const { return done_; }

 private:
  double rate() const;
  void advance(double now);

  using Job = std::pair<double, int>;  // virtual end, job
  double capacity_, most_, others_;
  double now_ = 0, virtual_ = 0, done_ = 0;
  std::priority_queue<Job, std::vector<Job>, std::greater<>> jobs_;
};

}  // namespace fullbore::diagnose::replay
