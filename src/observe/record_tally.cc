#include "observe/record_tally.h"

#include <algorithm>

#include "observe/record_bytes.h"

namespace fullbore::observe {
namespace {

// Names are kept for data paths only, and a run must not grow the collector: more than enough for both.
constexpr std::size_t kMostPathNames = 4096;
constexpr std::size_t kMostDataPaths = 64;

}  // namespace

void RecordTally::add(std::uint32_t pid, std::span<const std::byte> records) {
  for_each_record(records, [&](wire::Kind kind, std::span<const std::byte> payload) {
    ++records_;
    if (kind == wire::Kind::kNext) {
      wire::NextRecord next;
      const bool batch = read_record(payload, next) && (next.flags & (wire::kStop | wire::kError)) == 0;
      if (batch) count(pid, Counted::kNext, next.loader);
    } else if (kind == wire::Kind::kStep) {
      wire::StepRecord step;
      if (read_record(payload, step)) count(pid, Counted::kStep, step.optimizer);
    } else if (kind == wire::Kind::kUserStep) {
      count(pid, Counted::kUserStep, 0);
    } else if (kind == wire::Kind::kProcess) {
      wire::ProcessRecord process;
      if (!read_record(payload, process) || process.role != wire::Role::kTrainer) return;
      if (std::ranges::find(trainers_, pid) == trainers_.end()) trainers_.push_back(pid);
    } else if (kind == wire::Kind::kName) {
      add_name(payload);
    } else if (kind == wire::Kind::kDataPath) {
      wire::DataPathRecord path;
      if (read_record(payload, path)) add_data_path(path.path);
    }
  });
}

void RecordTally::count(std::uint32_t pid, Counted what, std::uint32_t number) {
  most_ = std::max(most_, ++counts_[{pid, what, number}]);
}

void RecordTally::add_name(std::span<const std::byte> payload) {
  wire::NameRecord name;
  if (!read_record(payload, name) || name.length > payload.size() - sizeof name || name.length == 0) return;
  const std::string text(reinterpret_cast<const char*>(payload.data() + sizeof name), name.length);
  if (!text.starts_with('/') || path_names_.size() >= kMostPathNames) return;
  path_names_.emplace(name.id, text);
  if (std::erase(nameless_paths_, name.id) > 0) add_data_path(name.id);
}

void RecordTally::add_data_path(wire::NameId path) {
  const auto known = path_names_.find(path);
  if (known == path_names_.end()) {
    if (nameless_paths_.size() < kMostDataPaths) nameless_paths_.push_back(path);
  } else if (data_paths_.size() < kMostDataPaths &&
             std::ranges::find(data_paths_, known->second) == data_paths_.end()) {
    data_paths_.push_back(known->second);
  }
}

}  // namespace fullbore::observe
