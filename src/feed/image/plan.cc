#include "feed/image/plan.h"

#include <fmt/core.h>

#include <algorithm>

namespace fullbore::image {

base::Expected<Plan> Plan::make(std::uint64_t samples, const PlanOptions& options) {
  if (options.batch_size == 0) return base::fail("a batch size of 0; 1 is the least");
  if (options.world_size == 0 || options.rank >= options.world_size)
    return base::fail(fmt::format("rank {} of {}; ranks count from 0", options.rank, options.world_size));
  if (samples == 0) return base::fail("no samples to make batches of");
  Plan plan(samples, options);
  if (plan.batches_ == 0)
    return base::fail(
        fmt::format("{} samples make no batch of {} on each of {} ranks; use a smaller batch, or keep "
                    "the last one (drop_last=False)",
                    samples, options.batch_size, options.world_size));
  return plan;
}

Plan::Plan(std::uint64_t samples, const PlanOptions& options) : samples_(samples), options_(options) {
  const std::uint64_t world = options.world_size;
  per_rank_ = options.uneven == Uneven::kPad ? (samples + world - 1) / world : samples / world;
  batches_ =
      options.drop_last ? per_rank_ / options.batch_size : (per_rank_ + options.batch_size - 1) / options.batch_size;
  per_rank_ = std::min(per_rank_, batches_ * options.batch_size);
  const std::uint64_t places = per_rank_ * world;
  padded_ = places > samples ? places - samples : 0;
  dropped_ = places < samples ? samples - places : 0;
}

std::uint64_t Plan::batch_samples(std::uint64_t batch) const {
  return std::min<std::uint64_t>(options_.batch_size, per_rank_ - batch * options_.batch_size);
}

std::uint64_t Plan::Epoch::sample(std::uint64_t batch, std::uint64_t index) const {
  const PlanOptions& options = plan_.options_;
  const std::uint64_t place = (batch * options.batch_size + index) * options.world_size + options.rank;
  const std::uint64_t wrapped = place % plan_.samples_;  // padding takes the first ones again
  return options.shuffle ? shuffle_.at(wrapped) : wrapped;
}

}  // namespace fullbore::image
