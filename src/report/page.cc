#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fullbore::report {
namespace {

constexpr std::size_t kNarrowest = 60;
constexpr std::size_t kWidest = 200;
constexpr std::size_t kProseWidth = 110;

bool is_continuation(char c) {
  return (c & 0xC0) == 0x80;
}

// Bytes of the UTF-8 sequence at `at`, 0 if it is broken.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[at + i])) return 0;
  }
  return length;
}

// U+0080..U+009F are control characters too ("\x9b" starts an escape sequence on some terminals).
bool is_c1_control(std::string_view sequence) {
  return sequence.size() == 2 && sequence[0] == '\xC2' && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::kPlain:
      return "";
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kDim:
      return "\x1b[2m";
    case Ink::kRed:
      return "\x1b[1;31m";
    case Ink::kYellow:
      return "\x1b[1;33m";
    case Ink::kGreen:
      return "\x1b[1;32m";
    case Ink::kCyan:
      return "\x1b[36m";
  }
  return "";
}

std::string cut(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t kept = 0; at < text.size() && kept < columns; ++kept) {
    ++at;
    while (at < text.size() && is_continuation(text[at])) ++at;
  }
  return std::string(text.substr(0, at));
}

}  // namespace

std::string clean(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    const std::string_view sequence = text.substr(at, std::max<std::size_t>(length, 1));
    const auto c = static_cast<unsigned char>(text[at]);
    if (c == '\t') {
      out += "    ";
    } else if (length == 0 || (c < 0x20 && c != '\n') || c == 0x7F || is_c1_control(sequence)) {
      out += '?';
    } else {
      out += sequence;
    }
    at += sequence.size();
  }
  return out;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !is_continuation(c); }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::size_t have = columns_of(lines.back());
    if (have > 0 && !word.empty() && have + 1 + columns_of(word) > columns) lines.emplace_back();
    if (!lines.back().empty() && !word.empty()) lines.back() += ' ';
    lines.back() += word;
    if (end < text.size() && text[end] == '\n') lines.emplace_back();
    at = end + 1;
  }
  return lines;
}

Page::Page(const TextOptions& options) : options_(options), width_(std::clamp(options.width, kNarrowest, kWidest)) {}

std::size_t Page::prose_width() const {
  return std::min(width_, kProseWidth);
}

std::string Page::paint(Ink ink, std::string_view text) const {
  if (!options_.color || ink == Ink::kPlain || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", code_of(ink), text);
}

std::string Page::left(std::string_view text, std::size_t columns) const {
  const std::size_t have = columns_of(text);
  if (have <= columns) return std::string(text) + std::string(columns - have, ' ');
  const std::string_view mark = options_.utf8 ? "\u2026" : "...";
  return columns > columns_of(mark) ? cut(text, columns - columns_of(mark)) + std::string(mark) : cut(text, columns);
}

std::string Page::right(std::string_view text, std::size_t columns) const {
  const std::size_t have = columns_of(text);
  return have >= columns ? std::string(text) : std::string(columns - have, ' ') + std::string(text);
}

std::string Page::bar(double share, std::size_t columns) const {
  static constexpr std::array<std::string_view, 8> kEighths = {"",       "\u258f", "\u258e", "\u258d",
                                                               "\u258c", "\u258b", "\u258a", "\u2589"};
  const std::size_t steps = options_.utf8 ? 8 : 1;
  const double exact = std::clamp(share, 0.0, 1.0) * static_cast<double>(columns * steps);
  auto filled = static_cast<std::size_t>(std::lround(exact));
  if (filled == 0 && share > 0) filled = 1;
  std::string out;
  for (std::size_t i = 0; i < filled / steps; ++i) out += options_.utf8 ? "\u2588" : "#";
  out += kEighths[filled % steps];
  return left(out, columns);
}

void Page::line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(' ');
  out_ += text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  out_ += '\n';
}

void Page::blank() {
  if (!out_.empty()) out_ += '\n';
}

void Page::heading(std::string_view text, std::string_view detail) {
  blank();
  line(detail.empty() ? paint(Ink::kBold, text) : paint(Ink::kBold, text) + "  " + paint(Ink::kDim, detail));
}

void Page::prose(std::string_view label, std::size_t indent, std::string_view text, Ink ink) {
  std::string start = left(label, indent);
  const std::size_t lead = start.find_first_not_of(' ');
  if (lead != std::string::npos) start = start.substr(0, lead) + paint(Ink::kDim, start.substr(lead));
  for (const std::string& words : wrapped(text, prose_width() - indent)) {
    line(start + paint(ink, words));
    start = std::string(indent, ' ');
  }
}

std::string Page::text() const {
  if (options_.utf8) return out_;
  std::string ascii;
  for (std::size_t at = 0; at < out_.size(); at += std::max<std::size_t>(sequence_length(out_, at), 1)) {
    ascii += static_cast<unsigned char>(out_[at]) < 0x80 ? out_[at] : '?';
  }
  return ascii;
}

}  // namespace fullbore::report
