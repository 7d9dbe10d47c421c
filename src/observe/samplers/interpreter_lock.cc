#include "observe/samplers/interpreter_lock.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "python3.11", "libpython3.11.so.1.0"
bool is_interpreter(std::string_view path) {
  const std::string_view name = last_component(path);
  return name.starts_with("python") || name.starts_with("libpython");
}

// Writable data of the interpreter, and the zeroed data that follow it without a file.
std::vector<std::pair<std::uint64_t, std::uint64_t>> interpreter_data(std::string_view maps) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> data;
  for (const std::string_view line : lines(maps)) {
    const auto column = fields(line, 6);
    if (column.size() < 5 || !column[1].starts_with("rw")) continue;
    const std::size_t dash = column[0].find('-');
    if (dash == std::string_view::npos) continue;
    const auto begin = hexadecimal(column[0].substr(0, dash)), end = hexadecimal(column[0].substr(dash + 1));
    if (!begin || !end) continue;
    const bool follows = column.size() == 5 && !data.empty() && data.back().second == *begin;
    if (follows || (column.size() == 6 && is_interpreter(column[5]))) data.emplace_back(*begin, *end);
  }
  return data;
}

}  // namespace

const std::vector<InterpreterLock::Range>& InterpreterLock::data_of(std::uint32_t pid) {
  const auto known = data_.find(pid);
  if (known != data_.end()) return known->second;
  const auto maps = files_.read(proc_path(pid, "maps"));
  if (!maps && maps.error().error_number() == EACCES) why_ = maps.error().message();
  return data_[pid] = maps ? interpreter_data(*maps) : std::vector<Range>();
}

std::optional<bool> InterpreterLock::waits(std::uint32_t pid, std::string_view tid) {
  const std::vector<Range>& data = data_of(pid);
  if (data.empty()) return std::nullopt;
  const auto text = files_.read(proc_path(pid, "task/") + std::string(tid) + "/syscall");
  if (!text) {
    const int error = text.error().error_number();
    if (error == EACCES || error == EPERM) why_ = text.error().message();
    return std::nullopt;
  }
  // "running", or the number of the call and its arguments
  const auto words = fields(*text, 2);
  if (words.empty()) return std::nullopt;
  if (words.size() < 2 || number<long>(words[0]) != SYS_futex) return false;
  const auto address = hexadecimal(words[1]);
  return address && std::ranges::any_of(
                        data, [&](const Range& range) { return *address >= range.first && *address < range.second; });
}

void InterpreterLock::keep_only(const std::vector<std::uint32_t>& pids) {
  std::erase_if(data_, [&](const auto& entry) { return std::ranges::count(pids, entry.first) == 0; });
}

}  // namespace fullbore::observe
