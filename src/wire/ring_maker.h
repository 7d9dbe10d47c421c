// Makes the file of one ring: space is reserved before it is mapped, because writing to an unreserved page of a full
// tmpfs ends the training process by SIGBUS. Libc only.
#pragma once

#include <cstdint>

#include "wire/ring.h"

namespace fullbore::wire {

struct MadeRing {
  RingHeader* header = nullptr;
  unsigned char* data = nullptr;
  std::uint64_t mapped_bytes = 0;
};

// Data area of a ring: `bytes` rounded up to a power of two, 16 KiB to 16 MiB.
std::uint64_t ring_capacity(std::uint64_t bytes);

// Creates `<directory>/<pid>-<tid>-<counter>.ring`, 0600, never through a link. Returns 0 or an errno.
int make_ring(const char* directory, std::uint64_t capacity, std::int32_t rank, std::uint32_t counter, MadeRing* out);

}  // namespace fullbore::wire
