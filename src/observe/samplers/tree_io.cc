#include "observe/samplers/tree_io.h"

#include <cerrno>
#include <string>

#include "observe/samplers/kernel_text.h"
#include "observe/samplers/task_stat.h"

namespace fullbore::observe {
namespace {

bool vanished(const base::Error& error) {
  return error.error_number() == ENOENT || error.error_number() == ESRCH;
}

}  // namespace

bool TreeIoSampler::add(std::uint32_t pid, Readings& out) {
  const auto stat_text = files_.read(proc_path(pid, "stat"));
  const auto stat = stat_text ? parse_task_stat(*stat_text) : std::nullopt;
  const auto io = files_.read(proc_path(pid, "io"));
  if (!stat || !io) {
    if (stat && !vanished(io.error())) {
      out.missing("tree.io",
                  "process " + std::to_string(pid) + " (" + stat->name + ") is left out: " + io.error().message());
    }
    return false;
  }
  const auto chars = value_of(*io, "rchar:"), read = value_of(*io, "read_bytes:"),
             written = value_of(*io, "write_bytes:"), calls = value_of(*io, "syscr:");
  if (!chars || !read || !written || !calls) {
    out.missing("tree.io", proc_path(pid, "io") + " is not of the shape that Linux 2.6.20 and later print");
    return false;
  }
  // The kernel adds the counts of a child that was waited for to the same file, so all of it may be inherited.
  sum_.add({pid, stat->start_ticks, stat->parent, {}, {*chars, *read, *written, *calls}});
  return true;
}

void TreeIoSampler::sample(const ProcessTree& tree, std::int64_t, Readings& out) {
  for (const std::uint32_t pid : tree.pids) measured_ |= add(pid, out);
  const TreeSum::Counts& total = sum_.end_round();
  if (!measured_) return;
  out.counter("tree.read_chars", "", "bytes", static_cast<double>(total[0]));
  out.counter("tree.read_bytes", "", "bytes", static_cast<double>(total[1]));
  out.counter("tree.write_bytes", "", "bytes", static_cast<double>(total[2]));
  out.counter("tree.read_calls", "", "calls", static_cast<double>(total[3]));
}

}  // namespace fullbore::observe
