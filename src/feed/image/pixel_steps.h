// What is done to the pixels of a picture once it has its size, in the user's order. Belongs to one thread and keeps
// its buffers.
#pragma once

#include <string>
#include <vector>

#include "feed/image/philox.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {

class PixelSteps {
 public:
  PixelSteps(std::vector<PixelStep> steps, Size size);

  bool empty() const { return steps_.empty(); }
  // Where the picture is put, 8-bit RGB of the first size without gaps; what was there is forgotten.
  std::uint8_t* input() { return pixels_.data(); }
  // The picture that becomes of it, until the next call of anything here.
  const std::uint8_t* run(const SampleRandom& random);

 private:
  const std::vector<PixelStep> steps_;
  const Size size_;
  std::vector<std::uint8_t> pixels_, padded_;
};

// Of a picture that all steps were done to.
Size size_after(const std::vector<PixelStep>& steps, Size size);

// Empty if they can be done to a picture of `size`; else why not.
std::string unusable(const std::vector<PixelStep>& steps, Size size);

}  // namespace fullbore::image
