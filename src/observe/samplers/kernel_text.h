// Taking apart the small texts that the kernel prints. Nothing here fails loudly: a file may be cut short, empty or of
// another kernel's shape, and then the number is simply not there.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fullbore::observe {

// What x86-64 kernels have promised to user space since 2.6, whatever CONFIG_HZ and the disk say.
inline constexpr double kTicksPerSecond = 100;
inline constexpr double kPageBytes = 4096;
inline constexpr double kSectorBytes = 512;

// The whole of `text` as a number, or nothing.
template <std::integral T = std::uint64_t>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Without blanks and newlines at both ends.
std::string_view trimmed(std::string_view text);

// Split at blanks (spaces, tabs, newlines); at most `most` fields.
std::vector<std::string_view> fields(std::string_view text, std::size_t most = SIZE_MAX);

std::vector<std::string_view> lines(std::string_view text);

// The number in the line "KEY NUMBER ...". A colon belongs to the key ("MemTotal:").
std::optional<std::uint64_t> value_of(std::string_view text, std::string_view key);

// The first word behind KEY at the start of a line, or "".
std::string_view word_of(std::string_view text, std::string_view key);

// The numbers of "0-3,8". Nothing when the list is empty or malformed.
std::optional<std::vector<int>> cpu_list(std::string_view text);

// The cores of the line Cpus_allowed_list in /proc/PID/status.
std::optional<std::vector<int>> allowed_cpus(std::string_view status);

// "/a/b/c" -> "c".
std::string_view last_component(std::string_view path);

// "/proc/PID/NAME", PID 0 meaning the reader itself.
std::string proc_path(std::uint32_t pid, std::string_view name);

}  // namespace fullbore::observe
