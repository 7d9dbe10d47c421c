// A page of terminal text: colours, wrapping, columns and bars for a given width, with plain ASCII where the terminal
// can show no more. Knows nothing of verdicts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fullbore::report {

struct TextOptions {
  std::size_t width = 100;  // columns; taken as 60 to 200
  bool color = false;
  bool utf8 = true;
};

enum class Ink { kPlain, kBold, kDim, kRed, kYellow, kGreen, kCyan };

// Control characters and broken UTF-8 become "?", tabs spaces: nothing that a script's text holds reaches the terminal
// raw.
std::string clean(std::string_view text);

class Page {
 public:
  explicit Page(const TextOptions& options);

  std::size_t width() const { return width_; }
  // Where prose is wrapped; wider lines are hard to read.
  std::size_t prose_width() const;

  std::string paint(Ink ink, std::string_view text) const;
  // Padded or cut to `columns`, counted in code points.
  std::string left(std::string_view text, std::size_t columns) const;
  std::string right(std::string_view text, std::size_t columns) const;
  // `share` of `columns`, in eighths of a column; never empty for a share above zero. Padded.
  std::string bar(double share, std::size_t columns) const;
  std::string_view arrow() const { return options_.utf8 ? "\u25c0" : "<"; }
  std::string_view dot() const { return options_.utf8 ? "\u00b7" : "-"; }

  void line(std::string_view text);
  void blank();
  void heading(std::string_view text, std::string_view detail = "");
  // Word-wrapped after `label`, which is padded to `indent` columns; following lines are indented as much.
  void prose(std::string_view label, std::size_t indent, std::string_view text, Ink ink = Ink::kPlain);

  // The page so far; in ASCII if the terminal is not UTF-8.
  std::string text() const;

 private:
  TextOptions options_;
  std::size_t width_;
  std::string out_;
};

// Columns that `text` takes: its code points.
std::size_t columns_of(std::string_view text);
// Broken at spaces into lines of at most `columns`; a longer word is left whole.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace fullbore::report
