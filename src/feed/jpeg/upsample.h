// One row of a subsampled component at the picture's resolution, bit for bit as libjpeg-turbo's "fancy" upsampling:
// triangle filters for factors of two, repetition for the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "feed/jpeg/markers.h"

namespace fullbore::jpeg {

enum class Upsampling : std::uint8_t { kNone, kH2V1, kH1V2, kH2V2, kRepeat };

// What libjpeg-turbo chooses for that component.
Upsampling upsampling_of(const Frame& frame, const Component& component);

// A stretch of one component's row. 64 bytes before and behind it must be readable.
struct SampleRow {
  const std::uint8_t* nearer = nullptr;   // the row that the output row lies in
  const std::uint8_t* further = nullptr;  // its neighbour on the other side (kH1V2, kH2V2)
  bool below = false;                     // `further` lies below
  std::size_t count = 0;                  // samples
  bool at_left_edge = false;              // the stretch begins or ends at the picture's edge
  bool at_right_edge = false;
};

class Upsampler {
 public:
  // Writes count * horizontal factor bytes, and up to 64 more. `factor` is that factor for kRepeat.
  void run(Upsampling kind, const SampleRow& row, std::size_t factor, std::uint8_t* out);

 private:
  std::vector<std::int16_t> sums_;
};

}  // namespace fullbore::jpeg
