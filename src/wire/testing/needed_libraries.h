// What a library asks of the loader, for the tests of the libraries that are loaded into other people's processes: a
// need beyond libc would tie them to the machine they were built on.
#pragma once

#include <elf.h>
#include <link.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace fullbore::wire::testing {

// The NEEDED entries of the ELF file at `path`.
inline std::vector<std::string> needed_libraries(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(file)), {});
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image.data());
  const auto* section = reinterpret_cast<const ElfW(Shdr)*>(image.data() + header->e_shoff);
  std::vector<std::string> names;
  for (int i = 0; i < header->e_shnum; ++i) {
    if (section[i].sh_type != SHT_DYNAMIC) continue;
    const char* strings = image.data() + section[section[i].sh_link].sh_offset;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(image.data() + section[i].sh_offset);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_NEEDED) names.emplace_back(strings + entry->d_un.d_val);
    }
  }
  return names;
}

}  // namespace fullbore::wire::testing
