// The entropy-coded bytes of a scan as the bit reader wants them: without the zeros stuffed behind FF, up to the next
// marker, with enough zeros behind that a block can be decoded without asking for each byte whether it exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "feed/jpeg/markers.h"

namespace fullbore::jpeg {

// A block of 64 coefficients takes at most 64 codes of 16 bits with 15 bits each behind them: 248 bytes.
inline constexpr std::size_t kMaxBlockBytes = 248;

class ScanBytes {
 public:
  // Takes the bytes of `file` from `offset` up to a marker, but not beyond `end`.
  void take(FileBytes file, std::size_t offset, std::size_t end);

  const std::uint8_t* data() const { return bytes_.data(); }
  std::size_t size() const { return size_; }
  // A block may begin while the reader's next byte is not beyond this.
  const std::uint8_t* limit() const { return bytes_.data() + size_ + 8; }
  // Where the bytes stopped in the file: at the FF of the marker if at_marker().
  std::size_t stopped_at() const { return stopped_at_; }
  bool at_marker() const { return at_marker_; }
  // They stopped at several FF and a zero: neither data nor a marker. libjpeg-turbo 2.1 decodes such data twice into
  // the same block and keeps the remains of the first attempt.
  bool at_bad_stuffing() const { return at_bad_stuffing_; }
  // Offset in the file of byte `index` here. Ask in ascending order; take() begins anew.
  std::size_t file_offset(std::size_t index);

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t size_ = 0;
  std::size_t offset_ = 0;
  std::size_t stopped_at_ = 0;
  bool at_marker_ = false;
  bool at_bad_stuffing_ = false;
  std::vector<std::size_t> stuffed_;  // indices before which a zero was left out
  std::size_t asked_ = 0;             // how many of them lie before the last index asked for
};

}  // namespace fullbore::jpeg
