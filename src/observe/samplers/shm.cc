#include "observe/samplers/shm.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "observe/samplers/kernel_text.h"
#include "observe/samplers/process_limits.h"

namespace fullbore::observe {
namespace {

// Listing descriptors costs about 1 us each and there may be 20,000: a rank or two tell the story.
constexpr std::size_t kMostTrainers = 8;

}  // namespace

void ShmSampler::sample_files(std::uint32_t pid, Readings& out) {
  const auto names = files_.list(proc_path(pid, "fd"));
  if (!names) {
    const bool ended = names.error().error_number() == ENOENT || names.error().error_number() == ESRCH;
    if (!ended) out.missing("files", names.error().message());
    return;
  }
  const std::string label = std::to_string(pid);
  out.gauge("files.open", label, "files", static_cast<double>(names->size()));
  const auto text = files_.read(proc_path(pid, "limits"));
  const auto limit = text ? soft_limit(*text, "Max open files") : std::nullopt;
  if (limit && limit->value) out.gauge("files.limit", label, "files", static_cast<double>(*limit->value));
}

void ShmSampler::sample(const ProcessTree& tree, std::int64_t, Readings& out) {
  if (const auto space = shared_memory_of(tree.root_pid, space_of_)) {
    out.gauge("shm.size_bytes", "", "bytes", static_cast<double>(space->size_bytes));
    out.gauge("shm.free_bytes", "", "bytes", static_cast<double>(space->free_bytes));
  } else {
    out.missing("shm", space.error().message());
  }
  sample_files(tree.root_pid, out);
  for (std::size_t i = 0; i < std::min(tree.trainers.size(), kMostTrainers); ++i) {
    if (tree.trainers[i] != tree.root_pid) sample_files(tree.trainers[i], out);
  }
}

}  // namespace fullbore::observe
