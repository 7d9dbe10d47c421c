// Counts the iterations of the training loop for the tracer of the GPU, which lives in another library.
#pragma once

#include "hook_abi/probes/python.h"

namespace fullbore::hook_abi {

// A batch was handed to the loop. `source` is whose, `seen` what was counted when it gave its last one, kept by the
// caller and 0 at first. Of several sources that are read in turn, as in zip(a, b), one is counted.
void count_iteration(const void* source, std::uint64_t& seen);

// loop_counters() -> address of the process's wire::LoopCounters.
PyObject* loop_counters(PyObject* module, PyObject* ignored);
// told(): an iteration that no loader of torch's began.
PyObject* told(PyObject* module, PyObject* ignored);
// stepped(): an optimiser's step has ended.
PyObject* stepped(PyObject* module, PyObject* ignored);

}  // namespace fullbore::hook_abi
