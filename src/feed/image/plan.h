// Which samples make which batch. The order is one for all ranks: global step s takes the next batch_size * world_size
// places of it, and rank r every world_size-th of these, so another world size sees the same samples at the same time.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "feed/image/shuffle.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {

class Plan {
 public:
  // Fails where no batch can be made of the options.
  static base::Expected<Plan> make(std::uint64_t samples, const PlanOptions& options);

  // Per epoch; the batches are those of this rank, equally many on each.
  std::uint64_t batches() const { return batches_; }
  // Samples in batch `batch`: batch_size, but for a last one that is not dropped.
  std::uint64_t batch_samples(std::uint64_t batch) const;
  // Of all ranks: samples that no batch has, and those that are there twice to make the ranks even.
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t padded() const { return padded_; }
  std::uint64_t samples() const { return samples_; }
  const PlanOptions& options() const { return options_; }

  // One epoch of it. A value; costs nothing to make.
  class Epoch {
   public:
    Epoch(const Plan& plan, std::uint64_t epoch)
        : plan_(plan), number_(epoch), shuffle_(plan.samples_, plan.options_.seed, epoch) {}
    std::uint64_t number() const { return number_; }
    std::uint64_t sample(std::uint64_t batch, std::uint64_t index) const;

   private:
    const Plan& plan_;
    std::uint64_t number_;
    Shuffle shuffle_;
  };

 private:
  Plan(std::uint64_t samples, const PlanOptions& options);

  std::uint64_t samples_;
  PlanOptions options_;
  std::uint64_t per_rank_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t padded_ = 0;
};

}  // namespace fullbore::image
