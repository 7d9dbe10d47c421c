#include "feed/jpeg/scan_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace fullbore::jpeg {

void ScanReader::begin(FileBytes file, const ScanLayout& layout) {
  begin_at(file, layout, 0, Checkpoints::Point{static_cast<std::uint32_t>(layout.data), 0, {}}, file.size());
}

void ScanReader::begin_at(FileBytes file, const ScanLayout& layout, std::size_t mcu, const Checkpoints::Point& point,
                          std::size_t end) {
  file_ = file;
  layout_ = &layout;
  mcu_ = mcu;
  end_ = end;
  open_segment(point.offset, end, point.bit & 7u);
  std::copy(std::begin(point.dc), std::end(point.dc), position_.dc.begin());
}

void ScanReader::open_segment(std::size_t offset, std::size_t end, std::uint32_t bit) {
  bytes_.take(file_, offset, end);
  position_ = BitPosition::at(bytes_.data(), bytes_.limit(), bit);
}

std::size_t ScanReader::until_restart() const {
  const std::size_t interval = layout_->restart_interval;
  return interval == 0 ? std::numeric_limits<std::size_t>::max() : interval - mcu_ % interval;
}

std::unexpected<Error> ScanReader::bad_stuffing() const {
  return corrupt(fmt::format("FF FF 00 at byte {}, which is no JPEG code", bytes_.stopped_at()));
}

Expected<void> ScanReader::check(bool decoded) {
  const auto bits = static_cast<std::int64_t>(bytes_.size()) * 8;
  const bool in_bytes = position_.distance(bytes_.data()) <= bits;
  if (decoded && in_bytes) return {};
  const std::size_t at = mcu_ / layout_->mcus_per_row;
  if (!in_bytes && bytes_.at_bad_stuffing()) return bad_stuffing();
  if (!in_bytes) return corrupt(fmt::format("the data end inside row {} of {} MCU rows", at, layout_->rows));
  return corrupt(fmt::format("bits that are no JPEG code in row {} of {} MCU rows", at, layout_->rows));
}

Expected<void> ScanReader::cross_restart() {
  if (mcu_ == 0 || mcu_ == layout_->total() || until_restart() != layout_->restart_interval) return {};
  const std::size_t at = bytes_.stopped_at();
  std::size_t code = at;
  while (code < end_ && file_[code] == 0xff) ++code;
  const std::size_t expected = 0xd0 + ((mcu_ / layout_->restart_interval - 1) & 7);
  if (bytes_.at_bad_stuffing()) return bad_stuffing();
  if (!bytes_.at_marker() || code >= end_ || file_[code] != expected) {
    return corrupt(fmt::format("no restart marker {} at byte {}", expected - 0xd0, at));
  }
  open_segment(code + 1, end_, 0);
  return {};
}

Expected<void> ScanReader::pass_segments(std::size_t mcu) {
  const std::size_t interval = layout_->restart_interval;
  while (interval != 0 && mcu_ / interval < mcu / interval) {
    mcu_ = (mcu_ / interval + 1) * interval;
    if (const auto crossed = cross_restart(); !crossed) return crossed;
  }
  return {};
}

Expected<void> ScanReader::skip_to(std::size_t mcu) {
  if (mcu == layout_->total() && layout_->restart_interval != 0) {
    if (const auto passed = pass_segments(mcu - 1); !passed) return passed;
  } else if (const auto passed = pass_segments(mcu); !passed) {
    return passed;
  }
  const bool decoded = skip_mcus(position_, layout_->plan, mcu - mcu_);
  mcu_ = mcu;
  return check(decoded);
}

Expected<void> ScanReader::decode(std::size_t count, Coefficients out) {
  while (count != 0) {
    const std::size_t now = std::min(count, until_restart());
    const bool decoded = decode_mcus(position_, layout_->plan, now, out);
    mcu_ += now;
    if (const auto good = check(decoded); !good) return good;
    if (const auto crossed = cross_restart(); !crossed) return crossed;
    count -= now;
    out.blocks += now * layout_->plan.count * kBlockSize;
    out.last += now * layout_->plan.count;
  }
  return {};
}

Expected<void> ScanReader::decode_two(ScanReader& a, ScanReader& b, std::size_t count, Coefficients out_a,
                                      Coefficients out_b) {
  if (count > a.until_restart() || count > b.until_restart()) {
    if (const auto first = a.decode(count, out_a); !first) return first;
    return b.decode(count, out_b);
  }
  const bool decoded = jpeg::decode_two(a.position_, b.position_, a.layout_->plan, count, out_a, out_b);
  a.mcu_ += count;
  b.mcu_ += count;
  if (const auto good = a.check(decoded); !good) return good;
  return b.check(decoded);
}

Checkpoints::Point ScanReader::point() {
  const std::int64_t bits = position_.distance(bytes_.data());
  Checkpoints::Point point;
  point.offset = static_cast<std::uint32_t>(bytes_.file_offset(static_cast<std::size_t>(bits) / 8));
  point.bit = static_cast<std::uint8_t>(bits & 7);
  for (std::size_t i = 0; i < kMaxComponents; ++i) point.dc[i] = static_cast<std::int16_t>(position_.dc[i]);
  return point;
}

Expected<std::size_t> ScanReader::finish() {
  if (bytes_.at_bad_stuffing()) return bad_stuffing();
  if (!bytes_.at_marker()) return corrupt("the file ends without an end marker");
  return bytes_.stopped_at();
}

}  // namespace fullbore::jpeg
