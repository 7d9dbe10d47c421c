// Small pictures of every kind that the decoder serves, and their checkpoints behind them: seeds for all harnesses.
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "feed/jpeg/testing/pictures.h"
#include "fullbore/jpeg.h"

std::vector<std::vector<std::uint8_t>> make_seeds() {
  using namespace fullbore::jpeg;
  std::mt19937 random(1);
  std::vector<std::vector<std::uint8_t>> seeds;
  Decoder decoder;
  for (int i = 0; i < 40; ++i) {
    auto encoding = testing::random_encoding(random, 48);
    seeds.push_back(testing::encode(encoding));
  }
  const auto wide = testing::encode({.width = 300, .height = 90});
  Checkpoints made;
  if (decoder.decode(wide, {.record = &made})) seeds.push_back(made.serialise());
  return seeds;
}
