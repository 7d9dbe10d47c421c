#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/terminal.h"

namespace fullbore::cli {
namespace {

constexpr std::int64_t kQuietNs = 2'000'000'000, kBetweenNs = 200'000'000;

void write_text(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(fd, text.data(), text.size());
    if (done <= 0) return;  // a line less
    text.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string progress_text(std::string_view what, std::uint64_t done, std::uint64_t all, std::int64_t elapsed_ns,
                          std::size_t width, std::uint64_t since) {
  const double seconds = static_cast<double>(elapsed_ns) / 1e9;
  const double share = all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all);
  std::string text = fmt::format("{}: {} of {} ({:.0f} %)", what, with_commas(done), with_commas(all), 100 * share);
  if (done > since && seconds > 0) {
    const double rate = static_cast<double>(done - since) / seconds;
    text += fmt::format(", {:.0f}/s, {:.0f} s left", rate, static_cast<double>(all - done) / rate);
  }
  return text.substr(0, width);
}

ProgressLine::ProgressLine(std::string_view what, int fd, const base::Clock& clock)
    : what_(what), fd_(fd), clock_(clock), is_terminal_(::isatty(fd) == 1), begin_ns_(clock.now_ns()) {}

ProgressLine::~ProgressLine() {
  if (drawn_ns_ != 0) write_text(fd_, "\r\x1b[K");
}

void ProgressLine::show(std::uint64_t done, std::uint64_t all, std::uint64_t since) {
  if (!is_terminal_) return;
  const std::int64_t now = clock_.now_ns();
  if (now - begin_ns_ < kQuietNs || now - drawn_ns_ < kBetweenNs) return;
  drawn_ns_ = now;
  const std::size_t width = std::max<std::size_t>(text_options_of(fd_).width, 2) - 1;
  write_text(fd_, "\r" + progress_text(what_, done, all, now - begin_ns_, width, since) + "\x1b[K");
}

}  // namespace fullbore::cli
