// A line about work that takes longer than two seconds, on a terminal only: a log file wants no thousand lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace fullbore::cli {

// 12345 -> "12,345"
std::string with_commas(std::uint64_t number);

// "packing: 1,200 of 4,000 (30 %), 600/s, 5 s left", of at most `width` columns. `since`: done before the clock ran.
std::string progress_text(std::string_view what, std::uint64_t done, std::uint64_t all, std::int64_t elapsed_ns,
                          std::size_t width, std::uint64_t since);

class ProgressLine {
 public:
  // `fd` gets it, if it is a terminal. `what` and `clock` must outlive it.
  ProgressLine(std::string_view what, int fd, const base::Clock& clock);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  // Takes the line away.
  ~ProgressLine();

  // Cheap; draws five times a second, the first time after two seconds. `since`: what an earlier call had done.
  void show(std::uint64_t done, std::uint64_t all, std::uint64_t since = 0);

 private:
  const std::string_view what_;
  const int fd_;
  const base::Clock& clock_;
  const bool is_terminal_;
  const std::int64_t begin_ns_;
  std::int64_t drawn_ns_ = 0;  // 0: not yet
};

}  // namespace fullbore::cli
