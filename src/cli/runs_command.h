// `fullbore runs`: what is kept, and how to be rid of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fullbore::cli {

int list_runs_command(const std::string& directory);

struct CleanOptions {
  std::string directory;
  std::optional<std::size_t> keep;         // the newest so many
  std::optional<std::uint64_t> max_bytes;  // oldest first until the rest fits
};

// A run in progress always stays. 0; 1 if a folder could not be removed; 2 if neither limit is given.
int clean_runs(const CleanOptions& options);

}  // namespace fullbore::cli
