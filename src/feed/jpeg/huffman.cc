#include "feed/jpeg/huffman.h"

#include <algorithm>

namespace fullbore::jpeg {
namespace {

// Calls visit(code, length, symbol) for each code, shortest first.
template <typename Visit>
void each_code(const HuffmanSpec& spec, Visit visit) {
  std::uint32_t code = 0;
  std::size_t index = 0;
  for (std::uint32_t length = 1; length <= 16; ++length, code <<= 1) {
    for (std::uint32_t i = 0; i < spec.counts[length - 1]; ++i) visit(code++, length, spec.symbols[index++]);
  }
}

// Codes must be prefix-free; libjpeg-turbo refuses the same tables.
Expected<void> check(const HuffmanSpec& spec, bool dc) {
  bool fits = true;
  each_code(spec, [&](std::uint32_t code, std::uint32_t length, std::uint8_t symbol) {
    if (code >> length != 0 || (dc && symbol > 15)) fits = false;
  });
  if (!fits) return corrupt(dc ? "a DC Huffman table that cannot be" : "an AC Huffman table that cannot be");
  return {};
}

SlowCodes slow_codes(const HuffmanSpec& spec) {
  SlowCodes slow;
  slow.symbols = spec.symbols;
  std::uint32_t code = 0, index = 0;
  for (std::uint32_t length = 1; length <= 16; ++length, code <<= 1) {
    slow.offset[length] = static_cast<std::int32_t>(index) - static_cast<std::int32_t>(code);
    code += spec.counts[length - 1];
    index += spec.counts[length - 1];
    slow.limit[length] = code << (16 - length);
  }
  return slow;
}

struct Code {
  std::uint8_t length = 0;  // 0: longer than the window
  std::uint8_t symbol = 0;
};

// The code at the beginning of every window of `bits` bits.
std::vector<Code> first_codes(const HuffmanSpec& spec, std::uint32_t bits) {
  std::vector<Code> codes(std::size_t{1} << bits);
  each_code(spec, [&](std::uint32_t code, std::uint32_t length, std::uint8_t symbol) {
    if (length > bits) return;
    const std::size_t first = static_cast<std::size_t>(code) << (bits - length);
    std::fill_n(codes.begin() + static_cast<std::ptrdiff_t>(first), std::size_t{1} << (bits - length),
                Code{static_cast<std::uint8_t>(length), symbol});
  });
  return codes;
}

// A window of bits that is read from its front.
class Window {
 public:
  Window(std::uint32_t bits, std::uint32_t size) : bits_(bits), size_(size), left_(size) {}
  std::uint32_t left() const { return left_; }
  std::uint32_t used() const { return size_ - left_; }
  // The rest, shifted to the front.
  std::uint32_t index() const { return (bits_ << (size_ - left_)) & ((1u << size_) - 1); }
  // Bit `at` of the rest, and `count` bits from there.
  bool bit(std::uint32_t at) const { return bits_ >> (left_ - at - 1) & 1; }
  std::uint32_t field(std::uint32_t at, std::uint32_t count) const {
    return bits_ >> (left_ - at - count) & ((1u << count) - 1);
  }
  void drop(std::uint32_t count) { left_ -= count; }

 private:
  std::uint32_t bits_, size_, left_;
};

constexpr std::uint64_t entry(std::uint32_t length, std::uint32_t advance, std::uint32_t size, bool negative) {
  const std::uint32_t offset = negative ? 1u - (1u << size) : 0;
  return length | advance << 8 | size << 16 | (offset & 255u) << 24;
}

std::uint64_t lookup_entry(const std::vector<Code>& codes, Window window) {
  std::uint64_t best = entry(0, AcTable::kEscape, 0, false);
  std::uint64_t values = 0;  // bytes 4-7
  std::uint32_t passed = 0;
  while (window.left() != 0) {
    const Code code = codes[window.index()];
    const std::uint32_t run = code.symbol >> 4, size = code.symbol & 15u;
    if (code.length == 0 || code.length > window.left()) break;
    if (size == 0 && run != 15)
      return values | entry(window.used() + code.length, passed + AcTable::kEndOfBlock, 0, false);
    // The value's sign must be visible and its offset must fit a byte.
    if (size > 7 || (size != 0 && code.length + 1u > window.left())) break;
    if (passed + run + 1 > AcTable::kMaxAdvance) break;
    const bool negative = size != 0 && !window.bit(code.length);
    const std::uint32_t length = code.length + size;
    best = values | entry(window.used() + length, passed + run + 1, size, negative);
    if (length > window.left()) break;  // the value lies partly behind the window: it ends the entry
    const auto value = static_cast<std::int32_t>(window.field(code.length, size)) + (negative ? 1 - (1 << size) : 0);
    passed += run + 1;
    window.drop(length);
    if (size == 0) continue;  // sixteen zeros
    if (passed > 4) break;    // no room for the value, so it must stay the last
    values |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(value)) << (24 + 8 * passed);
  }
  return best;
}

std::uint16_t skip_entry(const std::vector<Code>& codes, Window window) {
  std::uint32_t length = 0, passed = 0;
  while (window.left() != 0) {
    const Code code = codes[window.index()];
    const std::uint32_t run = code.symbol >> 4, size = code.symbol & 15u;
    if (code.length == 0 || code.length > window.left()) break;
    if (size == 0 && run != 15) {
      return static_cast<std::uint16_t>((length + code.length) | (passed + AcTable::kEndOfBlock) << 8);
    }
    if (passed + run + 1 > AcTable::kMaxAdvance) break;
    passed += run + 1;
    length += code.length + size;
    if (code.length + size >= window.left()) break;
    window.drop(code.length + size);
  }
  return static_cast<std::uint16_t>(passed == 0 ? AcTable::kEscape << 8 : length | passed << 8);
}

void build(const HuffmanSpec& spec, DcTable& table) {
  table.slow = slow_codes(spec);
  const std::vector<Code> codes = first_codes(spec, kDcBits);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const Code code = codes[i];
    table.lookup[i] = code.length == 0 ? std::uint16_t{0}
                                       : static_cast<std::uint16_t>((code.length + code.symbol) | code.symbol << 8);
  }
}

void build(const HuffmanSpec& spec, AcTable& table) {
  table.slow = slow_codes(spec);
  const std::vector<Code> codes = first_codes(spec, kAcBits);
  for (std::uint32_t i = 0; i < codes.size(); ++i) table.lookup[i] = lookup_entry(codes, Window(i, kAcBits));
  const std::vector<Code> longer = first_codes(spec, kSkipBits);
  for (std::uint32_t i = 0; i < longer.size(); ++i) table.skip[i] = skip_entry(longer, Window(i, kSkipBits));
}

}  // namespace

template <typename Table>
Expected<const Table*> HuffmanCache::find(std::vector<Entry<Table>>& entries, const HuffmanSpec& spec) {
  ++clock_;
  for (Entry<Table>& kept : entries) {
    if (kept.spec != spec) continue;
    kept.used = clock_;
    return kept.table.get();
  }
  if (const auto fits = check(spec, std::is_same_v<Table, DcTable>); !fits) return std::unexpected(fits.error());
  if (entries.size() < kKept) entries.push_back({{}, 0, std::make_unique<Table>()});
  Entry<Table>& oldest =
      *std::min_element(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  oldest.spec = spec;
  oldest.used = clock_;
  build(spec, *oldest.table);
  return oldest.table.get();
}

Expected<const DcTable*> HuffmanCache::dc(const HuffmanSpec& spec) {
  return find(dc_, spec);
}
Expected<const AcTable*> HuffmanCache::ac(const HuffmanSpec& spec) {
  return find(ac_, spec);
}

}  // namespace fullbore::jpeg
