// A /proc file of the calling thread that stays open. Its number lies high, so that the program's own files get the
// numbers they would get without us; if the program closes it (some close all they did not open) it is opened again,
// and a number that now belongs to another file is let go of, never closed. Libc only, trivially destructible.
#pragma once

#include <cstddef>

namespace fullbore::hook_abi {

class ProcFile {
 public:
  constexpr explicit ProcFile(const char* path) : path_(path) {}

  // Text from the start, zero-terminated. False if it cannot be read; `looks_right` tells our file from another.
  bool read(char* text, std::size_t room, bool (*looks_right)(const char*));
  void close();

 private:
  bool open();

  const char* path_;
  int fd_ = -1;
  bool refused_ = false;
};

}  // namespace fullbore::hook_abi
