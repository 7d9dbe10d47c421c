#include "wire/ring_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fullbore::wire {
namespace {

// Field 22 of /proc/self/stat; the command in parentheses may contain anything, so count from the last ')'.
std::uint64_t process_start_ticks() {
  char text[1024];
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
  const char* at = strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) at = strchr(at + 1, ' ');
  return at == nullptr ? 0 : strtoull(at + 1, nullptr, 10);
}

}  // namespace

std::uint64_t ring_capacity(std::uint64_t bytes) {
  std::uint64_t capacity = 16u << 10;
  while (capacity < bytes && capacity < (16u << 20)) capacity <<= 1;
  return capacity;
}

int make_ring(const char* directory, std::uint64_t capacity, std::int32_t rank, std::uint32_t counter, MadeRing* out) {
  const auto tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  const auto pid = static_cast<std::uint32_t>(getpid());
  char path[4096];
  const int length = snprintf(path, sizeof path, "%s/%u-%u-%u.ring", directory, pid, tid, counter);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return ENAMETOOLONG;
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  const std::uint64_t bytes = kRingDataOffset + capacity;
  int error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  void* map = MAP_FAILED;
  if (error == 0) {
    map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) error = errno;
  }
  close(fd);
  if (error != 0) {
    unlink(path);
    return error;
  }
  auto* header = static_cast<RingHeader*>(map);
  header->version = kVersion;
  header->pid = pid;
  header->tid = tid;
  header->rank = rank;
  header->process_start_ticks = process_start_ticks();
  header->capacity = capacity;
  prctl(PR_GET_NAME, header->thread_name);
  // The collector takes a ring for whole once it sees the magic.
  __atomic_store_n(&header->magic, kRingMagic, __ATOMIC_RELEASE);
  *out = {header, static_cast<unsigned char*>(map) + kRingDataOffset, bytes};
  return 0;
}

}  // namespace fullbore::wire
