// A main for the fuzz harnesses where libFuzzer is not there: changes the seeds at random, always in the same order, so
// that every test run covers some thousand damaged inputs.
//
//   NAME [--runs N] SEED_FILE...      a file that libFuzzer wrote down: --runs 0 runs it as it is
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
std::vector<std::vector<std::uint8_t>> make_seeds();

namespace {

void mutate(std::vector<std::uint8_t>& bytes, std::mt19937& random) {
  const auto draw = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random); };
  for (std::size_t changes = 1 + draw(4); changes != 0 && !bytes.empty(); --changes) {
    const std::size_t at = draw(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (draw(6)) {
      case 0:
        *place ^= static_cast<std::uint8_t>(1u << draw(8));
        break;
      case 1:
        *place = static_cast<std::uint8_t>(draw(256));
        break;
      case 2:
        *place = 0xff;
        break;
      case 3:
        bytes.erase(place);
        break;
      case 4:
        bytes.insert(place, static_cast<std::uint8_t>(draw(256)));
        break;
      default:
        bytes.resize(draw(8) == 0 ? at : bytes.size());
        break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t runs = 2000;
  std::vector<std::vector<std::uint8_t>> seeds;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
      runs = std::strtoul(argv[++i], nullptr, 10);
      continue;
    }
    std::ifstream file(argv[i], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) seeds = make_seeds();
  for (const auto& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  std::mt19937 random(1);
  for (std::size_t i = 0; i < runs; ++i) {
    std::vector<std::uint8_t> bytes = seeds[i % seeds.size()];
    mutate(bytes, random);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu seeds, %zu damaged inputs\n", seeds.size(), runs);
  return 0;
}
