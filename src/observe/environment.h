// What the command finds in its environment because of us, and what of its environment is remembered. Both are short
// lists, documented in docs/run.md, so nobody's secrets end up in a run folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fullbore::observe {

// All paths absolute. An empty `rings` leaves the environment as it was: the hook then does nothing.
struct HookEnvironment {
  std::string rings;
  std::string record_library;
  std::string hook_folder;
  std::uint64_t ring_bytes = 0;
  std::string fix_file;        // "" without --fix
  std::string inject_library;  // "" without a GPU build; a CUDA_INJECTION64_PATH that is there stays
};

// "NAME=value" strings in, the same out with ours replaced or added; everything else keeps its place.
std::vector<std::string> command_environment(const std::vector<std::string>& inherited, const HookEnvironment& hook);

// Value of NAME, "" if it is not there.
std::string_view environment_value(const std::vector<std::string>& environment, std::string_view name);

// The part of the environment that is written to run.json: the documented names only, PYTHONPATH only as "set".
std::map<std::string, std::string> recorded_environment(const std::vector<std::string>& environment);

}  // namespace fullbore::observe
