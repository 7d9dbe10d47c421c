// Writes the seeds into a folder, for libFuzzer: write_seeds FOLDER
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

std::vector<std::vector<std::uint8_t>> make_seeds();

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::size_t number = 0;
  for (const auto& seed : make_seeds()) {
    std::ofstream file(std::string(argv[1]) + "/" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  }
  return 0;
}
