#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "feed/jpeg/entropy.cc"
#include "feed/jpeg/entropy.h"

#include <hwy/foreach_target.h>
// Highway wants its own headers behind the loop over targets.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace fullbore::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What the inner loop changes; small enough for two of them to stay in registers.
struct Bits {
  std::uint64_t bits;
  std::uint64_t count;
  const std::uint8_t* next;
};

HWY_INLINE std::uint64_t load_big_endian(const std::uint8_t* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap64(value);
}

// At least 56 bits afterwards, without a branch.
HWY_INLINE void refill(Bits& b) {
  b.bits |= load_big_endian(b.next) >> (b.count & 63);
  b.next += (63 - b.count) >> 3;
  b.count |= 56;
}

HWY_INLINE void drop(Bits& b, std::uint64_t count) {
  b.bits <<= count & 63;
  b.count -= count;
}

// The `size` bits at the front of `bits` as a value in JPEG's form: a leading 0 means negative.
HWY_INLINE std::int32_t extend(std::uint64_t bits, std::uint32_t size) {
  const auto magnitude = static_cast<std::int32_t>((bits >> 1) >> (63 - size));
  const auto negative = static_cast<std::int32_t>(static_cast<std::int64_t>(~bits) >> 63);
  return magnitude + (negative & (1 - (1 << size)));
}

struct Symbol {
  std::uint32_t length;  // 0: no such code
  std::uint32_t symbol;
};

HWY_NOINLINE Symbol slow_symbol(std::uint64_t bits, const SlowCodes& codes) {
  const auto window = static_cast<std::uint32_t>(bits >> 48);
  // Nearly all codes that are asked for here are those too long for the tables.
  constexpr std::uint32_t kShort = std::min(kDcBits, kAcBits) - 1;
  for (std::uint32_t length = window >= codes.limit[kShort] ? kShort + 1 : 1; length <= 16; ++length) {
    if (window >= codes.limit[length]) continue;
    const std::int32_t index = static_cast<std::int32_t>(window >> (16 - length)) + codes.offset[length];
    return {length, codes.symbols[static_cast<std::uint32_t>(index) & 255]};
  }
  return {0, 0};
}

// Wants 31 bits. False: no code.
HWY_INLINE bool decode_dc(Bits& b, const DcTable& table, std::int32_t& dc) {
  const std::uint32_t entry = table.lookup[b.bits >> (64 - kDcBits)];
  std::uint32_t length = entry & 255, size = entry >> 8;
  if (HWY_UNLIKELY(entry == 0)) {
    const Symbol found = slow_symbol(b.bits, table.slow);
    if (found.length == 0) return false;
    size = found.symbol;
    length = found.length + size;
  }
  // Wraps like the decoder it must agree with; only damaged files get that far.
  dc = static_cast<std::int32_t>(static_cast<std::uint32_t>(dc) +
                                 static_cast<std::uint32_t>(extend(b.bits << (length - size), size)));
  drop(b, length);
  return true;
}

// One lookup in the block that is being decoded.
struct Step {
  std::uint64_t bits;  // before it
  std::int16_t* at;    // before it
  std::uint32_t entry;
};

// `at` is where the next coefficient goes. True when the lookup leaves the block: it ended, or the entry does not fit.
HWY_INLINE bool step(Bits& b, std::int16_t*& at, const AcTable& table, Step& s) {
  const auto* entry = reinterpret_cast<const std::uint8_t*>(&table.lookup[b.bits >> (64 - kAcBits)]);
  std::uint32_t low;
  std::memcpy(&low, entry, sizeof low);
  const hn::Simd<std::int8_t, 4, 0> d8;
  const hn::Simd<std::int16_t, 4, 0> d16;
  hn::StoreU(hn::PromoteTo(d16, hn::LoadU(d8, reinterpret_cast<const std::int8_t*>(entry + 4))), d16, at);
  s = {b.bits, at, low};
  drop(b, low & 255);
  at += low >> 8 & 255;
  const std::uint64_t used = s.bits >> ((0 - low) & 63);
  const std::uint64_t size = low >> 16 & 255;
  at[-1] = static_cast<std::int16_t>((static_cast<std::int32_t>(low) >> 24) +
                                     static_cast<std::int32_t>(used & ((std::uint64_t{1} << size) - 1)));
  // Blocks lie on 128-byte boundaries and an entry passes at most 128 coefficients.
  return ((reinterpret_cast<std::uintptr_t>(at) ^ reinterpret_cast<std::uintptr_t>(s.at)) >> 7) != 0;
}

enum class After : std::uint8_t { kBlockEnded, kBlockGoesOn, kBad };

// The rare endings: a code longer than the table, an entry that reaches into the next block.
HWY_NOINLINE After slow_step(Bits& b, std::int16_t*& at, const AcTable& table, std::int16_t* block,
                             std::uint8_t& last) {
  refill(b);
  const Symbol found = slow_symbol(b.bits, table.slow);
  if (found.length == 0) return After::kBad;
  const std::uint32_t run = found.symbol >> 4, size = found.symbol & 15;
  if (size == 0 && run != 15) {
    drop(b, found.length);
    last = static_cast<std::uint8_t>(at - 1 - block);
    return After::kBlockEnded;
  }
  at += run + 1;
  if (at > block + kBlockSize) return After::kBad;
  at[-1] = static_cast<std::int16_t>(extend(b.bits << found.length, size));
  drop(b, found.length + size);
  last = kBlockSize - 1;
  return at == block + kBlockSize ? After::kBlockEnded : After::kBlockGoesOn;
}

// After a step that left the block.
HWY_INLINE After after_block(Bits& b, std::int16_t*& at, const AcTable& table, const Step& s, std::int16_t* block,
                             std::uint8_t& last) {
  const auto passed = static_cast<std::uint32_t>(at - block);
  if (HWY_LIKELY((s.entry & (AcTable::kEndOfBlock << 8)) != 0 && passed < AcTable::kEndOfBlock + kBlockSize)) {
    last = static_cast<std::uint8_t>(passed - AcTable::kEndOfBlock - 1);
    return After::kBlockEnded;
  }
  if (HWY_LIKELY(passed == kBlockSize)) {
    last = kBlockSize - 1;
    return After::kBlockEnded;
  }
  b.count += s.entry & 255;
  b.bits = s.bits;
  at = s.at;
  return slow_step(b, at, table, block, last);
}

HWY_INLINE void clear(std::int16_t* block) {
  const hn::CappedTag<std::int16_t, 32> d;
  for (std::size_t i = 0; i < kBlockSize; i += hn::Lanes(d)) hn::StoreU(hn::Zero(d), d, block + i);
}

HWY_INLINE bool decode_block(Bits& b, const McuPlan::Block& plan, std::int32_t& dc, std::int16_t* block,
                             std::uint8_t& last) {
  clear(block);
  refill(b);
  if (HWY_UNLIKELY(!decode_dc(b, *plan.dc, dc))) return false;
  block[0] = static_cast<std::int16_t>(dc);
  std::int16_t* at = block + 1;
  const AcTable& table = *plan.ac;
  Step s;
  for (;;) {
    refill(b);
    if (HWY_LIKELY(!step(b, at, table, s) && !step(b, at, table, s) && !step(b, at, table, s))) continue;
    const After after = after_block(b, at, table, s, block, last);
    if (HWY_LIKELY(after == After::kBlockEnded)) return true;
    if (after == After::kBad) return false;
  }
}

HWY_INLINE bool skip_block(Bits& b, const McuPlan::Block& plan, std::int32_t& dc) {
  refill(b);
  if (HWY_UNLIKELY(!decode_dc(b, *plan.dc, dc))) return false;
  const AcTable& table = *plan.ac;
  std::uint32_t passed = 1, entry = 0;
  const auto fits = [&]() HWY_ATTR {
    entry = table.skip[b.bits >> (64 - kSkipBits)];
    const std::uint32_t after = passed + (entry >> 8);
    if (after >= kBlockSize) return false;
    drop(b, entry & 255);
    passed = after;
    return true;
  };
  for (;;) {
    refill(b);
    if (fits() && fits()) continue;
    const std::uint32_t after = passed + (entry >> 8);
    const bool ends = (entry >> 8 & AcTable::kEndOfBlock) != 0 && after < AcTable::kEndOfBlock + kBlockSize;
    if (HWY_LIKELY(ends || after == kBlockSize)) {
      drop(b, entry & 255);
      return true;
    }
    refill(b);
    const Symbol found = slow_symbol(b.bits, table.slow);
    if (found.length == 0) return false;
    drop(b, found.length + (found.symbol & 15));
    if ((found.symbol & 15) == 0 && found.symbol != 0xf0) return true;
    passed += (found.symbol >> 4) + 1;
    if (passed >= kBlockSize) return passed == kBlockSize;
  }
}

bool decode_mcus(BitPosition& position, const McuPlan& plan, std::size_t count, Coefficients out) {
  Bits b{position.bits, position.count, position.next};
  bool good = true;
  for (; good && count != 0; --count) {
    for (std::uint32_t i = 0; good && i < plan.count; ++i) {
      const McuPlan::Block& block = plan.blocks[i];
      good = b.next <= position.limit && decode_block(b, block, position.dc[block.component], out.blocks, *out.last);
      out.blocks += kBlockSize;
      ++out.last;
    }
  }
  position.bits = b.bits;
  position.count = b.count;
  position.next = b.next;
  return good;
}

bool skip_mcus(BitPosition& position, const McuPlan& plan, std::size_t count) {
  Bits b{position.bits, position.count, position.next};
  bool good = true;
  for (; good && count != 0; --count) {
    for (std::uint32_t i = 0; good && i < plan.count; ++i) {
      const McuPlan::Block& block = plan.blocks[i];
      good = b.next <= position.limit && skip_block(b, block, position.dc[block.component]);
    }
  }
  position.bits = b.bits;
  position.count = b.count;
  position.next = b.next;
  return good;
}

// One of two streams: what it needs inside a block, and between blocks.
struct Stream {
  Bits bits;
  std::int16_t* at;
  const AcTable* table;
  Step step;

  BitPosition* position;
  Coefficients out;
  std::size_t left;  // blocks
  std::uint32_t in_mcu;
};

// Lookups in turn until one leaves its block; says whose. A function of its own, so that the compiler has nothing but
// the ten words of state to keep in registers.
HWY_NOINLINE std::size_t until_block_left(Stream (&streams)[2]) {
  Bits a = streams[0].bits, b = streams[1].bits;
  std::int16_t *at_a = streams[0].at, *at_b = streams[1].at;
  const AcTable &table_a = *streams[0].table, &table_b = *streams[1].table;
  Step s;
  std::size_t left;
  for (;;) {
    refill(a);
    refill(b);
    if (step(a, at_a, table_a, s)) goto a_left;
    if (step(b, at_b, table_b, s)) goto b_left;
    if (step(a, at_a, table_a, s)) goto a_left;
    if (step(b, at_b, table_b, s)) goto b_left;
    if (step(a, at_a, table_a, s)) goto a_left;
    if (step(b, at_b, table_b, s)) goto b_left;
  }
a_left:
  left = 0;
  goto out;
b_left:
  left = 1;
out:
  streams[left].step = s;
  streams[0].bits = a;
  streams[1].bits = b;
  streams[0].at = at_a;
  streams[1].at = at_b;
  return left;
}

HWY_INLINE bool begin_block(Stream& s, const McuPlan& plan) {
  const McuPlan::Block& block = plan.blocks[s.in_mcu];
  clear(s.out.blocks);
  if (HWY_UNLIKELY(s.bits.next > s.position->limit)) return false;
  refill(s.bits);
  std::int32_t& dc = s.position->dc[block.component];
  if (HWY_UNLIKELY(!decode_dc(s.bits, *block.dc, dc))) return false;
  s.out.blocks[0] = static_cast<std::int16_t>(dc);
  s.at = s.out.blocks + 1;
  s.table = block.ac;
  return true;
}

HWY_INLINE void next_block(Stream& s, const McuPlan& plan) {
  s.out.blocks += kBlockSize;
  ++s.out.last;
  if (++s.in_mcu == plan.count) s.in_mcu = 0;
  --s.left;
}

void leave(const Stream& s) {
  s.position->bits = s.bits.bits;
  s.position->count = s.bits.count;
  s.position->next = s.bits.next;
}

// The rest of one stream, which is inside of a block, when the other one is through.
HWY_NOINLINE bool finish_alone(Stream& s, const McuPlan& plan) {
  After after = After::kBlockGoesOn;
  while (after == After::kBlockGoesOn) {
    refill(s.bits);
    if (!step(s.bits, s.at, *s.table, s.step)) continue;
    after = after_block(s.bits, s.at, *s.table, s.step, s.out.blocks, *s.out.last);
  }
  bool good = after == After::kBlockEnded;
  for (next_block(s, plan); good && s.left != 0; next_block(s, plan)) {
    const McuPlan::Block& block = plan.blocks[s.in_mcu];
    good = s.bits.next <= s.position->limit &&
           decode_block(s.bits, block, s.position->dc[block.component], s.out.blocks, *s.out.last);
  }
  leave(s);
  return good;
}

bool decode_two(BitPosition& pa, BitPosition& pb, const McuPlan& plan, std::size_t count, Coefficients out_a,
                Coefficients out_b) {
  if (count == 0) return true;
  Stream streams[2] = {{{pa.bits, pa.count, pa.next}, nullptr, nullptr, {}, &pa, out_a, count * plan.count, 0},
                       {{pb.bits, pb.count, pb.next}, nullptr, nullptr, {}, &pb, out_b, count * plan.count, 0}};
  if (!begin_block(streams[0], plan) || !begin_block(streams[1], plan)) return false;
  for (;;) {
    const std::size_t which = until_block_left(streams);
    Stream& s = streams[which];
    const After after = after_block(s.bits, s.at, *s.table, s.step, s.out.blocks, *s.out.last);
    if (HWY_UNLIKELY(after == After::kBad)) return false;
    if (HWY_UNLIKELY(after == After::kBlockGoesOn)) continue;
    next_block(s, plan);
    if (s.left == 0) {
      leave(s);
      return finish_alone(streams[1 - which], plan);
    }
    if (HWY_UNLIKELY(!begin_block(s, plan))) return false;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullbore::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullbore::jpeg {

BitPosition BitPosition::at(const std::uint8_t* data, const std::uint8_t* limit, std::uint32_t bit) {
  BitPosition position;
  position.next = data + 1;
  position.limit = limit;
  position.bits = static_cast<std::uint64_t>(*data) << (56 + bit);
  position.count = 8 - bit;
  return position;
}

HWY_EXPORT(decode_mcus);
HWY_EXPORT(skip_mcus);
HWY_EXPORT(decode_two);

bool decode_mcus(BitPosition& position, const McuPlan& plan, std::size_t count, Coefficients out) {
  return HWY_DYNAMIC_DISPATCH(decode_mcus)(position, plan, count, out);
}
bool skip_mcus(BitPosition& position, const McuPlan& plan, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(skip_mcus)(position, plan, count);
}
bool decode_two(BitPosition& a, BitPosition& b, const McuPlan& plan, std::size_t count, Coefficients out_a,
                Coefficients out_b) {
  return HWY_DYNAMIC_DISPATCH(decode_two)(a, b, plan, count, out_a, out_b);
}

}  // namespace fullbore::jpeg
#endif  // HWY_ONCE
