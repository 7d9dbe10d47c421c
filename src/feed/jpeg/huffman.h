// Huffman codes as lookup tables that decode several symbols at once. Tables cost tens of microseconds to build, so a
// decoder keeps them by the bytes of their definition: pictures of one camera or encoder mostly share theirs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "feed/jpeg/markers.h"

namespace fullbore::jpeg {

inline constexpr std::uint32_t kDcBits = 11;
inline constexpr std::uint32_t kAcBits = 11;    // 10: 4-5 % slower, 12 and 13: up to 10 % (the table leaves L1)
inline constexpr std::uint32_t kSkipBits = 12;  // no values, so that more symbols fit an entry

// Canonical codes, for those that the lookup tables do not hold.
struct SlowCodes {
  std::array<std::uint32_t, 17> limit{};  // first 16-bit window behind the codes of that length
  std::array<std::int32_t, 17> offset{};  // symbol index minus code
  std::array<std::uint8_t, 256> symbols{};
};

// Entry: bits 0-7 length of code and value, 8-15 size of the value. 0: not here.
struct DcTable {
  alignas(64) std::array<std::uint16_t, 1 << kDcBits> lookup{};
  SlowCodes slow;
};

// AC codes. An entry of `lookup` holds all symbols that fit its window, and of the last one at least code and sign:
//   bits 0-7    bits used, with those of the last value, which may lie behind the window
//   bits 8-15   coefficients passed; + kEndOfBlock when the end-of-block code was among the symbols; kEscape: none fits
//   bits 16-23  size in bits of the last value
//   bits 24-31  its sign offset: 0, or 1 - 2^size
//   bytes 4-7   values of the next four coefficients, except the last symbol's
struct AcTable {
  static constexpr std::uint32_t kEndOfBlock = 64;
  static constexpr std::uint32_t kEscape = 128;
  static constexpr std::uint32_t kMaxAdvance = 48;  // of an entry, so that the flags above stay apart

  alignas(64) std::array<std::uint64_t, 1 << kAcBits> lookup{};
  // Bits 0-7 length, bits 8-15 coefficients passed and flags as above.
  alignas(64) std::array<std::uint16_t, 1 << kSkipBits> skip{};
  SlowCodes slow;
};

// The built tables of recent definitions. A pointer is valid until kKept other definitions have been asked for.
class HuffmanCache {
 public:
  static constexpr std::size_t kKept = 16;

  Expected<const DcTable*> dc(const HuffmanSpec& spec);
  Expected<const AcTable*> ac(const HuffmanSpec& spec);

 private:
  template <typename Table>
  struct Entry {
    HuffmanSpec spec;
    std::uint64_t used = 0;
    std::unique_ptr<Table> table;
  };
  template <typename Table>
  Expected<const Table*> find(std::vector<Entry<Table>>& entries, const HuffmanSpec& spec);

  std::vector<Entry<DcTable>> dc_;
  std::vector<Entry<AcTable>> ac_;
  std::uint64_t clock_ = 0;
};

}  // namespace fullbore::jpeg
