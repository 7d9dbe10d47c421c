// Checkpoints as bytes: differences to the point before, in variable length, behind a header that says what they are
// and a checksum over all of it. Damage is refused; memory is asked for only what the bytes can hold.
#include <zlib.h>

#include <cstring>

#include "feed/jpeg/markers.h"

namespace fullbore::jpeg {
namespace {

constexpr std::uint32_t kMagic = 0x504b4346;  // "FCKP"
constexpr std::uint32_t kVersion = 1;

// Little-endian; all fields are 32 bits so that there is no padding.
struct Head {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t spacing;
  std::uint32_t mcus_per_row;
  std::uint32_t rows;
  std::uint32_t body_bytes;
  std::uint32_t crc32;  // of the fields above and the body
};

std::uint32_t checksum(const Head& head, const std::uint8_t* body) {
  const uLong crc = ::crc32(0, reinterpret_cast<const Bytef*>(&head), offsetof(Head, crc32));
  return static_cast<std::uint32_t>(::crc32(crc, body, head.body_bytes));
}

void put(std::vector<std::uint8_t>& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 128));
  out.push_back(static_cast<std::uint8_t>(value));
}

// Small magnitudes of either sign become small numbers.
std::uint64_t fold(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unfold(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

class Body {
 public:
  explicit Body(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool take(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; at_ < bytes_.size() && shift < 63; shift += 7) {
      const std::uint8_t byte = bytes_[at_++];
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }
  bool empty() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

// Where a point lies, in bits from the beginning of the file.
std::uint64_t place(const Checkpoints::Point& point) {
  return std::uint64_t{point.offset} * 8 + point.bit;
}

std::size_t used_components(const std::vector<Checkpoints::Point>& points) {
  std::size_t used = 0;
  for (const Checkpoints::Point& point : points) {
    for (std::size_t i = used; i < kMaxComponents; ++i) {
      if (point.dc[i] != 0) used = i + 1;
    }
  }
  return used;
}

}  // namespace

Checkpoints::Checkpoints(std::uint32_t mcus_per_row, std::uint32_t rows, std::vector<Point> points)
    : mcus_per_row_(mcus_per_row), rows_(rows), points_(std::move(points)) {}

std::vector<std::uint8_t> Checkpoints::serialise() const {
  std::vector<std::uint8_t> out(sizeof(Head));
  const std::size_t components = used_components(points_);
  put(out, components);
  Point before;
  for (const Point& point : points_) {
    put(out, place(point) - place(before));
    for (std::size_t i = 0; i < components; ++i) put(out, fold(point.dc[i] - before.dc[i]));
    before = point;
  }
  Head head{kMagic, kVersion, kSpacing, mcus_per_row_, rows_, static_cast<std::uint32_t>(out.size() - sizeof(Head)), 0};
  head.crc32 = checksum(head, out.data() + sizeof head);
  std::memcpy(out.data(), &head, sizeof head);
  return out;
}

Expected<Checkpoints> Checkpoints::parse(std::span<const std::uint8_t> bytes) {
  Head head;
  if (bytes.size() < sizeof head) return corrupt("checkpoints cut short");
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kMagic) return corrupt("these are no checkpoints");
  if (head.version != kVersion || head.spacing != kSpacing)
    return unsupported("checkpoints of another version; make them again");
  const auto body_bytes = bytes.subspan(sizeof head);
  if (head.body_bytes != body_bytes.size()) return corrupt("checkpoints cut short");
  if (checksum(head, body_bytes.data()) != head.crc32) return corrupt("damaged checkpoints");
  Checkpoints result(head.mcus_per_row, head.rows, {});
  const std::uint64_t count = std::uint64_t{result.per_row()} * head.rows + 1;
  if (head.mcus_per_row > kMaxDimension || count > body_bytes.size()) return corrupt("checkpoints that cannot be");
  Body body(body_bytes);
  std::uint64_t components = 0, at = 0, value = 0;
  if (!body.take(components) || components > kMaxComponents) return corrupt("checkpoints that cannot be");
  result.points_.reserve(count);
  Point point;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!body.take(value) || value > (std::uint64_t{1} << 35) - 1 - at) return corrupt("checkpoints that cannot be");
    at += value;
    point.offset = static_cast<std::uint32_t>(at / 8);
    point.bit = static_cast<std::uint8_t>(at % 8);
    for (std::size_t c = 0; c < components; ++c) {
      if (!body.take(value)) return corrupt("checkpoints that cannot be");
      point.dc[c] = static_cast<std::int16_t>(point.dc[c] + unfold(value));
    }
    result.points_.push_back(point);
  }
  if (!body.empty()) return corrupt("checkpoints that cannot be");
  return result;
}

}  // namespace fullbore::jpeg
