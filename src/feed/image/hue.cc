// The hue, turned as torchvision turns a picture of Pillow's: to Pillow's HSV of 8 bits, whose hue has 255 steps to the
// circle, and back. Pillow computes a part of it in double; in float, in the form below, all bytes are the same (tried
// on all 16.7 million colours).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "feed/image/hue.cc"
#include <hwy/foreach_target.h>
// Highway wants its own headers behind the loop over targets.
#include <hwy/highway.h>

#include <cstring>

#include "feed/image/color.h"

HWY_BEFORE_NAMESPACE();
namespace fullbore::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using D8 = hn::Rebind<std::uint8_t, DF>;
using DI = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

HWY_INLINE VF constant(float value) {
  return hn::Set(DF(), value);
}
HWY_INLINE VF to_float(VI value) {
  return hn::ConvertTo(DF(), value);
}

// 0 to 255; of gray 0.
HWY_INLINE VI hue_of(VI red, VI green, VI blue, VI high, VI range) {
  const VF most = to_float(hn::Max(range, hn::Set(DI(), 1)));
  // How far each colour lies below the highest, as a part of the range.
  const VF below_red = hn::Div(to_float(hn::Sub(high, red)), most);
  const VF below_green = hn::Div(to_float(hn::Sub(high, green)), most);
  const VF below_blue = hn::Div(to_float(hn::Sub(high, blue)), most);
  const auto red_highest = hn::RebindMask(DF(), hn::Eq(red, high));
  const auto green_highest = hn::RebindMask(DF(), hn::Eq(green, high));
  // 2 + red - blue and 4 + green - red, where the lowest colour is 1: rounded once, as a double would be.
  const VF one = constant(1);
  const VF by_green = hn::IfThenElse(hn::Eq(below_red, one), hn::Sub(constant(3), below_blue), hn::Add(one, below_red));
  const VF by_blue =
      hn::IfThenElse(hn::Eq(below_green, one), hn::Sub(constant(5), below_red), hn::Add(constant(3), below_green));
  const VF sixths =
      hn::IfThenElse(red_highest, hn::Sub(below_blue, below_green), hn::IfThenElse(green_highest, by_green, by_blue));
  const VF circle = hn::Div(sixths, constant(6));
  const VF positive = hn::IfThenElse(hn::Lt(circle, constant(0)), hn::Add(circle, constant(1)), circle);
  return hn::ConvertTo(DI(), hn::Mul(positive, constant(255)));
}

// value * (1 - part), rounded; half a step goes up.
HWY_INLINE VI dimmed(VF value, VF part) {
  return hn::ConvertTo(DI(), hn::Add(hn::Mul(value, hn::Sub(constant(1), part)), constant(0.5f)));
}

// Of a colour that is highest in the sextants `first` and the one behind it.
HWY_INLINE VI channel(VI sextant, int first, VI high, VI rising, VI falling, VI lowest) {
  const auto is = [&](int number) HWY_ATTR { return hn::Eq(sextant, hn::Set(DI(), (number + 6) % 6)); };
  const VI outside = hn::IfThenElse(is(first - 1), rising, hn::IfThenElse(is(first + 2), falling, lowest));
  return hn::IfThenElse(hn::Or(is(first), is(first + 1)), high, outside);
}

// A whole number of vectors.
HWY_INLINE void turn_vectors(std::uint8_t* rgb, std::size_t count, int steps) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(DF())) {
    hn::Vec<D8> r, g, b;
    hn::LoadInterleaved3(D8(), rgb + 3 * i, r, g, b);
    const VI red = hn::PromoteTo(DI(), r), green = hn::PromoteTo(DI(), g), blue = hn::PromoteTo(DI(), b);
    const VI high = hn::Max(red, hn::Max(green, blue)), low = hn::Min(red, hn::Min(green, blue));
    const VI range = hn::Sub(high, low);
    const VI turned = hn::Add(hue_of(red, green, blue, high, range), hn::Set(DI(), steps));
    const VI six_hues = hn::Mul(hn::And(turned, hn::Set(DI(), 255)), hn::Set(DI(), 6));
    const VF value = to_float(high);
    const VF part_of_value = hn::Div(to_float(range), hn::Max(value, constant(1)));
    const VF saturation = to_float(hn::ConvertTo(DI(), hn::Mul(part_of_value, constant(255))));

    const VI number = hn::ConvertTo(DI(), hn::Div(to_float(six_hues), constant(255)));
    const VF inside = hn::Div(to_float(hn::Sub(six_hues, hn::Mul(number, hn::Set(DI(), 255)))), constant(255));
    const VI sextant = hn::IfThenZeroElse(hn::Eq(number, hn::Set(DI(), 6)), number);
    const VF share = hn::Div(saturation, constant(255));
    const VI lowest = dimmed(value, share);
    const VI falling = dimmed(value, hn::Mul(share, inside));
    const VI rising = dimmed(value, hn::Mul(share, hn::Sub(constant(1), inside)));
    hn::StoreInterleaved3(hn::DemoteTo(D8(), channel(sextant, 5, high, rising, falling, lowest)),
                          hn::DemoteTo(D8(), channel(sextant, 1, high, rising, falling, lowest)),
                          hn::DemoteTo(D8(), channel(sextant, 3, high, rising, falling, lowest)), D8(), rgb + 3 * i);
  }
}

void turn_hue(std::uint8_t* rgb, std::size_t count, int steps) {
  const std::size_t lanes = hn::Lanes(DF()), whole = count / lanes * lanes, rest = count - whole;
  turn_vectors(rgb, whole, steps);
  if (rest == 0) return;
  std::uint8_t last[3 * HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(last, rgb + 3 * whole, 3 * rest);
  turn_vectors(last, lanes, steps);
  std::memcpy(rgb + 3 * whole, last, 3 * rest);
}

}  // namespace HWY_NAMESPACE
}  // namespace fullbore::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullbore::image {

HWY_EXPORT(turn_hue);

void adjust_hue(std::uint8_t* rgb, std::size_t count, double circles) {
  HWY_DYNAMIC_DISPATCH(turn_hue)(rgb, count, static_cast<std::uint8_t>(static_cast<int>(circles * 255)));
}

}  // namespace fullbore::image
#endif  // HWY_ONCE
