#include "gpu/testing/finish_on_host.h"

#include <cstdint>
#include <cstring>

extern "C" {
#include "gpu/kernels/finish_pixels.h"
}

namespace fullbore::gpu::testing {
namespace {

template <typename T>
T argument(void* const* arguments, int number) {
  T value;
  std::memcpy(&value, arguments[number], sizeof(value));
  return value;
}

void run(unsigned blocks, unsigned threads, void* const* arguments) {
  const FinishJob job = {argument<const Byte*>(arguments, 0), argument<void*>(arguments, 1),
                         argument<const Word*>(arguments, 2), argument<Count>(arguments, 3),
                         argument<Count>(arguments, 4),       argument<Word>(arguments, 5),
                         argument<Word>(arguments, 6)};
  for (Count thread = 0; thread < Count{blocks} * threads; ++thread) finish_thread(&job, thread);
}

}  // namespace

HostKernel finish_on_host() {
  return {{sizeof(void*), sizeof(void*), sizeof(void*), sizeof(Count), sizeof(Count), sizeof(Word), sizeof(Word)}, run};
}

}  // namespace fullbore::gpu::testing
