/* The finish kernel for the device; clang compiles it to PTX, which finish_ptx.h hands to the rest. */
#include "finish_pixels.h"

__attribute__((nvptx_kernel)) void fullbore_finish(const Byte* __restrict in, void* __restrict out,
                                                   const Word* __restrict table, Count samples, Count pixels,
                                                   Word value_bytes, Word planes) {
  const Count thread = (Count)__nvvm_read_ptx_sreg_ctaid_x() * (Count)__nvvm_read_ptx_sreg_ntid_x() +
                       (Count)__nvvm_read_ptx_sreg_tid_x();
  const struct FinishJob job = {in, out, table, samples, pixels, value_bytes, planes};
  finish_thread(&job, thread);
}
