// See shared_server.h.
#include "diagnose/replay/shared_server.h"

#include <algorithm>

namespace fullbore::diagnose::replay {

double SharedServer::rate() const {
  return std::min(most_, capacity_ / (static_cast<double>(jobs_.size()) + others_));
}

void SharedServer::advance(double now) {
  if (!jobs_.empty()) {
    const double each = (now - now_) * rate();
    virtual_ += each;
    done_ += each * static_cast<double>(jobs_.size());
  }
  now_ = now;
}

void SharedServer::add(double now, int job, double work) {
  advance(now);
  jobs_.emplace(virtual_ + work, job);
}

void SharedServer::clear(double now) {
  advance(now);
  jobs_ = {};
}

double SharedServer::next_end() const {
  if (jobs_.empty()) return std::numeric_limits<double>::infinity();
  return now_ + std::max(0.0, jobs_.top().first - virtual_) / rate();
}

int SharedServer::take() {
  advance(next_end());
  const int job = jobs_.top().second;
  jobs_.pop();
  return job;
}

}  // namespace fullbore::diagnose::replay
