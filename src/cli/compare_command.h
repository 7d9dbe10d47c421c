// `fullbore compare A B`: the before/after table.
#pragma once

#include <optional>
#include <string>

namespace fullbore::cli {

struct CompareCommandOptions {
  std::string before, after;  // resolved folders
  bool json = false;
  bool anyway = false;  // compare runs of different work
  std::optional<double> price_per_hour;
};

// 0; 1 if the runs did different work; 2 if one cannot be read.
int compare(const CompareCommandOptions& options);

}  // namespace fullbore::cli
