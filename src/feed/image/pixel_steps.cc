#include "feed/image/pixel_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "feed/image/color.h"
#include "feed/image/color_jitter.h"
#include "feed/image/erase.h"
#include "feed/image/pad.h"

namespace fullbore::image {
namespace {

std::size_t bytes_of(Size size) {
  return std::size_t{3} * size.width * size.height;
}

// Of the steps before `step`, how many are of its kind: each of them draws its own numbers.
std::uint64_t earlier_ones(const std::vector<PixelStep>& steps, std::size_t step) {
  return static_cast<std::uint64_t>(
      std::count_if(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(step),
                    [&](const PixelStep& other) { return other.index() == steps[step].index(); }));
}

std::string unusable_gray(const RandomGrayscale& gray) {
  return gray.p >= 0 && gray.p <= 1 ? std::string()
                                    : fmt::format("a probability of {} to become gray; it is from 0 to 1", gray.p);
}

std::string unusable_erasing(const RandomErasing& erasing) {
  if (!erasing.value) return "erasing by normal numbers in 8-bit pixels; erase after the normalisation";
  for (const float value : *erasing.value) {
    if (!(value >= 0 && value <= 255) || value != std::floor(value))
      return fmt::format("erasing by {} in 8-bit pixels; they hold whole numbers from 0 to 255", value);
  }
  return unusable(erasing);
}

}  // namespace

PixelSteps::PixelSteps(std::vector<PixelStep> steps, Size size) : steps_(std::move(steps)), size_(size) {
  const std::size_t most = bytes_of(size_after(steps_, size));  // borders only add
  pixels_.resize(most);
  if (most > bytes_of(size)) padded_.resize(most);
}

const std::uint8_t* PixelSteps::run(const SampleRandom& random) {
  Size size = size_;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::uint64_t which = earlier_ones(steps_, i);
    const std::size_t count = std::size_t{size.width} * size.height;
    if (const auto* pad = std::get_if<Pad>(&steps_[i])) {
      add_borders(*pad, pixels_.data(), size, padded_.data());
      std::swap(pixels_, padded_);
      size = padded_size(*pad, size);
    } else if (const auto* jitter = std::get_if<ColorJitter>(&steps_[i])) {
      apply_jitter(draw_jitter(*jitter, random, which), pixels_.data(), count);
    } else if (const auto* gray = std::get_if<RandomGrayscale>(&steps_[i])) {
      if (to_unit(random.block(Draw::kGray, 0, which)[0]) < gray->p) make_gray(pixels_.data(), count);
    } else if (const auto* erasing = std::get_if<RandomErasing>(&steps_[i])) {
      if (const auto part = draw_rectangle(*erasing, size, random, which))
        erase_rgb(*erasing, *part, size, pixels_.data());
    }
  }
  return pixels_.data();
}

Size size_after(const std::vector<PixelStep>& steps, Size size) {
  for (const PixelStep& step : steps) {
    if (const auto* pad = std::get_if<Pad>(&step)) size = padded_size(*pad, size);
  }
  return size;
}

std::string unusable(const std::vector<PixelStep>& steps, Size size) {
  for (const PixelStep& step : steps) {
    std::string why;
    if (const auto* pad = std::get_if<Pad>(&step)) {
      why = unusable(*pad, size);
      size = padded_size(*pad, size);
    } else if (const auto* jitter = std::get_if<ColorJitter>(&step)) {
      why = unusable(*jitter);
    } else if (const auto* gray = std::get_if<RandomGrayscale>(&step)) {
      why = unusable_gray(*gray);
    } else if (const auto* erasing = std::get_if<RandomErasing>(&step)) {
      why = unusable_erasing(*erasing);
    }
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace fullbore::image
