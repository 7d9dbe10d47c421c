// Walks through one scan in MCU order: skips, decodes, crosses restart markers, notes checkpoints. It knows where the
// bytes end and refuses a scan that needs more of them than there are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "feed/jpeg/entropy.h"
#include "feed/jpeg/scan_bytes.h"

namespace fullbore::jpeg {

struct ScanLayout {
  McuPlan plan;
  std::uint32_t mcus_per_row = 0;
  std::uint32_t rows = 0;
  std::uint32_t restart_interval = 0;
  std::size_t data = 0;  // offset in the file

  std::size_t total() const { return std::size_t{mcus_per_row} * rows; }
};

class ScanReader {
 public:
  // The layout and the file must outlive the walk.
  void begin(FileBytes file, const ScanLayout& layout);
  // Begins at MCU `mcu`, which lies at `point`; no byte at or behind `end` is looked at.
  void begin_at(FileBytes file, const ScanLayout& layout, std::size_t mcu, const Checkpoints::Point& point,
                std::size_t end);

  std::size_t mcu() const { return mcu_; }
  // Skips to MCU `mcu`. Whole restart intervals are passed without decoding.
  Expected<void> skip_to(std::size_t mcu);
  Expected<void> decode(std::size_t count, Coefficients out);
  // Both decode `count` MCUs of the same plan, interleaved when no restart marker lies in between.
  static Expected<void> decode_two(ScanReader& a, ScanReader& b, std::size_t count, Coefficients out_a,
                                   Coefficients out_b);

  // The place that the next MCU begins at.
  Checkpoints::Point point();
  // After the last MCU: offset of the marker behind the scan.
  Expected<std::size_t> finish();

 private:
  std::size_t until_restart() const;
  Expected<void> cross_restart();
  Expected<void> check(bool decoded);
  std::unexpected<Error> bad_stuffing() const;
  void open_segment(std::size_t offset, std::size_t end, std::uint32_t bit);
  // Passes segments without decoding them until `mcu` lies in the present one.
  Expected<void> pass_segments(std::size_t mcu);

  FileBytes file_;
  const ScanLayout* layout_ = nullptr;
  ScanBytes bytes_;
  BitPosition position_;
  std::size_t mcu_ = 0;
  std::size_t end_ = 0;  // in the file
};

}  // namespace fullbore::jpeg
