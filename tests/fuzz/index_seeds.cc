// Blocks of an index: of a picture with checkpoints, of one that can have none, of both and another block behind them.
#include <cstdint>
#include <vector>

#include "feed/image/index_format.h"
#include "feed/jpeg/testing/pictures.h"
#include "fullbore/jpeg.h"

std::vector<std::vector<std::uint8_t>> make_seeds() {
  using namespace fullbore;
  const auto picture = jpeg::testing::encode({.width = 300, .height = 90});
  jpeg::Checkpoints made;
  if (!jpeg::Decoder().decode(picture, {.record = &made})) return {};
  const image::IndexEntry some{1, 2, made.serialise()}, none{3, 4, {}};
  auto two = image::make_index_block(std::vector{some, none});
  std::vector<std::vector<std::uint8_t>> seeds = {image::make_index_block(std::vector{some}),
                                                  image::make_index_block(std::vector{none}), two};
  two.insert(two.end(), seeds[0].begin(), seeds[0].end());
  seeds.push_back(two);
  const auto head = image::make_index_head();
  seeds.emplace_back(head.begin(), head.end());
  return seeds;
}
