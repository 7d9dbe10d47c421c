// Does a thread wait for Python's global interpreter lock right now? Without this a training thread that other threads
// of its own process keep from running looks like one that waits for its device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file_reader.h"

namespace fullbore::observe {

// The lock is a condition variable in the interpreter's static data (_PyRuntime), and whoever waits for it sleeps in
// futex(2) with an address in there; locks of the program lie on the heap. Both the call's arguments and the memory map
// are for those only who may trace the process.
class InterpreterLock {
 public:
  explicit InterpreterLock(const base::FileReader& files) : files_(files) {}

  // nullopt: not known, why() says the reason (empty: no Python, or a thread that ended).
  std::optional<bool> waits(std::uint32_t pid, std::string_view tid);
  const std::string& why() const { return why_; }
  // Forgets all other processes: their numbers are used again.
  void keep_only(const std::vector<std::uint32_t>& pids);

 private:
  using Range = std::pair<std::uint64_t, std::uint64_t>;

  const std::vector<Range>& data_of(std::uint32_t pid);

  const base::FileReader& files_;
  std::unordered_map<std::uint32_t, std::vector<Range>> data_;
  std::string why_;
};

}  // namespace fullbore::observe
