// What the terminal behind a stream can show, from the environment as people set it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "report/page.h"

namespace fullbore::cli {

// Value of an environment variable, nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

// `columns`: of the terminal, 0 if the stream is none. Colour only on a terminal that is not "dumb", never with
// NO_COLOR, always with CLICOLOR_FORCE. ASCII unless the locale says UTF-8.
report::TextOptions text_options(bool is_terminal, std::size_t columns, const Environment& environment);

// The same for an open stream and this process's environment.
report::TextOptions text_options_of(int fd);

// How report.txt in the run folder is written: the same on every machine.
report::TextOptions file_text_options();

}  // namespace fullbore::cli
