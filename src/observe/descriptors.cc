#include "observe/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace fullbore::observe {

void replace_by_null(int standard_fd) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) {
    ::close(standard_fd);
    return;
  }
  if (null == standard_fd) return;
  ::dup3(null, standard_fd, O_CLOEXEC);
  ::close(null);
}

void hold_closed_streams() {
  for (const int standard : {0, 1, 2}) {
    if (::fcntl(standard, F_GETFD) == -1 && errno == EBADF) replace_by_null(standard);
  }
}

void write_to(int fd, const char* text, unsigned long size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text += n;
    size -= static_cast<unsigned long>(n);
  }
}

}  // namespace fullbore::observe
