// What --fix asks of the hook: the limits of this machine and, when a run's report is applied, the settings of each
// loader. Handed over as a small JSON file that the environment names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fullbore::observe {

struct FixPlan {
  std::string mode;  // "exact", "plain" or "run"
  std::string from;  // folder of the run whose report is applied, "" otherwise
  int usable_cores = 1;
  std::optional<double> quota_cores;
  std::optional<std::int64_t> shm_free_bytes;
  std::optional<std::int64_t> memory_available_bytes;
  struct Loader {
    std::string file;  // absolute
    int line = 0;
    std::map<std::string, std::string> settings;  // Python literals: {"num_workers": "2", "pin_memory": "True"}
  };
  std::vector<Loader> loaders;  // mode "run" only
};

std::string to_json(const FixPlan& plan);

}  // namespace fullbore::observe
