// From a file to the samples of each component inside a window: which blocks a window needs, scan by scan and row by
// row, from checkpoints where there are any. Colour and resampling come later; nothing outside the window is kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feed/jpeg/huffman.h"
#include "feed/jpeg/idct.h"
#include "feed/jpeg/scan_reader.h"
#include "feed/jpeg/upsample.h"

namespace fullbore::jpeg {

// Half-open ranges of samples, blocks or MCUs.
struct Area {
  std::uint32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

// The samples of `component` that the pixels of `window` depend on.
Area samples_for(const Frame& frame, const Component& component, const Rect& window);

// The samples of one component in whole blocks, with kPad readable bytes around each row.
class Plane {
 public:
  static constexpr std::size_t kPad = 64;

  void reset(const Area& blocks);
  std::uint8_t* block_row(std::uint32_t block_y) { return at_sample(x0_, block_y * 8); }
  std::uint8_t* at_sample(std::uint32_t x, std::uint32_t y) { return bytes_.data() + index(x, y); }
  const std::uint8_t* at_sample(std::uint32_t x, std::uint32_t y) const { return bytes_.data() + index(x, y); }
  std::size_t stride() const { return stride_; }

 private:
  std::size_t index(std::uint32_t x, std::uint32_t y) const { return kPad + (y - y0_) * stride_ + (x - x0_); }

  std::vector<std::uint8_t> bytes_;
  std::size_t stride_ = 0;
  std::uint32_t x0_ = 0, y0_ = 0;
};

class PlaneDecoder {
 public:
  // `window` lies inside the picture. Checkpoints, if any, are used instead of being recorded.
  Expected<void> decode(FileBytes file, const Headers& headers, const Rect& window, const Checkpoints* checkpoints,
                        Checkpoints* record);
  const Plane& plane(std::size_t component) const { return planes_[component]; }

 private:
  // One scan, with what its rows need.
  struct Scan {
    ScanLayout layout;
    Area window;  // MCUs
    std::vector<std::size_t> components;
    std::vector<std::uint32_t> first_block;  // of each component in the MCU
  };
  struct Row {
    std::vector<std::int16_t> memory;
    std::vector<std::uint8_t> last;
    Coefficients coefficients;
  };

  Expected<void> check_scan(const Headers& headers, std::uint32_t& seen) const;
  Expected<void> decode_scan(FileBytes file, const Scan& scan, const Checkpoints* checkpoints, Checkpoints* record);
  Expected<Scan> plan_scan(const Headers& headers, const Rect& window);
  Expected<void> plan_mcu(const Headers& headers, Scan& scan);
  void prepare(const Headers& headers, const Scan& scan);
  void prepare_order(const Headers& headers, const Scan& scan);
  Expected<void> decode_forward(FileBytes file, const Scan& scan);
  Expected<void> decode_recording(FileBytes file, const Scan& scan, Checkpoints& record);
  Expected<void> decode_indexed(FileBytes file, const Scan& scan, const Checkpoints& checkpoints);
  Expected<void> check_arrival(ScanReader& reader, const Scan& scan, bool first, const Checkpoints::Point& expected);
  // The inverse DCT of one row of MCUs.
  void transform_row(const Headers& headers, const Scan& scan, std::uint32_t mcu_y, const Row& row);

  HuffmanCache tables_;
  std::array<Plane, kMaxComponents> planes_;
  std::vector<DequantTable> quant_;                // per component of the scan
  std::vector<std::vector<std::uint32_t>> order_;  // per component and block row of the MCU: blocks from left to right
  std::array<ScanReader, 2> readers_;
  std::array<Row, 2> rows_;
  const Headers* headers_ = nullptr;  // of the scan in progress
};

}  // namespace fullbore::jpeg
