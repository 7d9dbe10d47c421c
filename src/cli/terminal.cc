#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace fullbore::cli {
namespace {

constexpr std::size_t kDefaultColumns = 100;

bool is_set(const std::optional<std::string>& value) {
  return value && !value->empty();
}

bool has_utf8(const Environment& environment) {
  // The first that is set decides, as for setlocale; which locales are installed does not matter for what is printed.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto value = environment(name);
    if (!is_set(value)) continue;
    std::string locale = *value;
    std::ranges::transform(locale, locale.begin(), [](unsigned char c) { return std::tolower(c); });
    return locale.contains("utf-8") || locale.contains("utf8");
  }
  return false;
}

}  // namespace

report::TextOptions text_options(bool is_terminal, std::size_t columns, const Environment& environment) {
  const auto force = environment("CLICOLOR_FORCE");
  const bool forced = is_set(force) && *force != "0";
  const bool is_capable = is_terminal && environment("TERM").value_or("dumb") != "dumb";
  report::TextOptions options;
  options.color = !is_set(environment("NO_COLOR")) && (forced || is_capable);
  options.utf8 = has_utf8(environment);
  options.width = columns;
  if (columns == 0) {
    const auto value = environment("COLUMNS");
    const long asked = value ? std::strtol(value->c_str(), nullptr, 10) : 0;
    options.width = asked > 0 ? static_cast<std::size_t>(asked) : kDefaultColumns;
  }
  return options;
}

report::TextOptions text_options_of(int fd) {
  winsize size{};
  const bool is_terminal = ::isatty(fd) == 1;
  const bool has_size = is_terminal && ::ioctl(fd, TIOCGWINSZ, &size) == 0;
  return text_options(is_terminal, has_size ? size.ws_col : 0, [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  });
}

report::TextOptions file_text_options() {
  return {.width = kDefaultColumns, .color = false, .utf8 = true};
}

}  // namespace fullbore::cli
