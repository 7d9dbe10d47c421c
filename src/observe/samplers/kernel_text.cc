#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

constexpr std::string_view kBlanks = " \t\n";

// No machine has more; a list that says so is garbage and must not eat memory.
constexpr int kMostCpus = 1 << 16;

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> fields(std::string_view text, std::size_t most) {
  std::vector<std::string_view> found;
  std::size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos && found.size() < most) {
    const std::size_t end = text.find_first_of(kBlanks, at);
    found.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return found;
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    found.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return found;
}

std::string_view word_of(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    const std::size_t after = at + key.size();
    if (after >= text.size() || (text[after] != ' ' && text[after] != '\t')) continue;
    const auto words = fields(text.substr(after, text.find('\n', after) - after), 1);
    return words.empty() ? std::string_view() : words[0];
  }
  return {};
}

std::optional<std::uint64_t> value_of(std::string_view text, std::string_view key) {
  return number(word_of(text, key));
}

std::optional<std::vector<int>> cpu_list(std::string_view text) {
  text = trimmed(text);
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    const std::size_t dash = range.find('-');
    const auto first = number<int>(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number<int>(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMostCpus) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  if (cpus.empty()) return std::nullopt;
  return cpus;
}

std::optional<std::vector<int>> allowed_cpus(std::string_view status) {
  constexpr std::string_view kKey = "\nCpus_allowed_list:";
  const std::size_t at = status.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t begin = at + kKey.size();
  return cpu_list(status.substr(begin, status.find('\n', begin) - begin));
}

std::string_view last_component(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string proc_path(std::uint32_t pid, std::string_view name) {
  std::string path = "/proc/";
  path += pid == 0 ? "self" : std::to_string(pid);
  path += '/';
  return path += name;
}

}  // namespace fullbore::observe
