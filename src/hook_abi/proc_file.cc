#include "hook_abi/proc_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace fullbore::hook_abi {
namespace {

// Below the usual limit of 1,024, above what programs reach by counting up from 3.
int high_number() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= 1024) return 896;
  return static_cast<int>(limit.rlim_cur / 2);
}

}  // namespace

bool ProcFile::open() {
  if (refused_) return false;
  const int low = ::open(path_, O_RDONLY | O_CLOEXEC);
  if (low >= 0) {
    fd_ = fcntl(low, F_DUPFD_CLOEXEC, high_number());
    ::close(low);
  }
  refused_ = fd_ < 0;
  return !refused_;
}

bool ProcFile::read(char* text, std::size_t room, bool (*looks_right)(const char*)) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (fd_ < 0 && !open()) return false;
    const ssize_t n = pread(fd_, text, room - 1, 0);
    if (n > 0) {
      text[n] = '\0';
      if (looks_right(text)) return true;
    }
    fd_ = -1;
  }
  refused_ = true;
  return false;
}

void ProcFile::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  refused_ = false;
}

}  // namespace fullbore::hook_abi
