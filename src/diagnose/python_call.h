// Finds the DataLoader(...) call in a few lines of a user's Python source and splits its arguments, so that the change
// can be shown as an edit of those very lines. A lexer, not a parser: whatever it is not sure of it refuses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fullbore::diagnose {

// Offsets are bytes of the source text; [begin, end) leaves out white space and comments around it.
struct CallArgument {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t value = 0;  // where the value begins; = begin if positional
  std::string keyword;    // "" if positional
  int stars = 0;          // 1: *args, 2: **kwargs
};

struct PythonCall {
  std::string callee;     // last identifier before the bracket
  std::size_t open = 0;   // of "("
  std::size_t close = 0;  // of ")"
  std::vector<CallArgument> arguments;
  std::optional<std::size_t> trailing_comma;
};

// The one call in `source` whose name ends in `suffix`. Nothing if there is none, more than one, it is a definition,
// its brackets are not closed, or it holds an f-string that this lexer may misread.
std::optional<PythonCall> find_call(std::string_view source, std::string_view suffix);

}  // namespace fullbore::diagnose
