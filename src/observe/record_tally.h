// What the collector must know of the records that pass through it: how many steps there were (--steps), which
// processes train, and which files samples come from. Everything else is for the analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "wire/records.h"

namespace fullbore::observe {

class RecordTally {
 public:
  void add(std::uint32_t pid, std::span<const std::byte> records);

  // Of the process that is furthest: batches taken from one loader, calls of one optimiser, or fullbore.step(),
  // whichever is most.
  std::uint64_t steps() const { return most_; }
  // Processes that said so, in the order they did.
  const std::vector<std::uint32_t>& trainers() const { return trainers_; }
  // Paths whose text has arrived.
  const std::vector<std::string>& data_paths() const { return data_paths_; }
  std::uint64_t records() const { return records_; }

 private:
  enum class Counted : std::uint32_t { kNext, kStep, kUserStep };
  void count(std::uint32_t pid, Counted what, std::uint32_t number);
  void add_name(std::span<const std::byte> payload);
  void add_data_path(wire::NameId path);

  std::map<std::tuple<std::uint32_t, Counted, std::uint32_t>, std::uint64_t> counts_;
  std::uint64_t most_ = 0;
  std::uint64_t records_ = 0;
  std::vector<std::uint32_t> trainers_;
  std::unordered_map<wire::NameId, std::string> path_names_;  // texts that look like absolute paths
  std::vector<wire::NameId> nameless_paths_;
  std::vector<std::string> data_paths_;
};

}  // namespace fullbore::observe
