#include "hook_abi/probes/iterations.h"

#include "wire/loop_counters.h"

namespace fullbore::hook_abi {
namespace {

constinit wire::LoopCounters counters{};
const void* pace = nullptr;  // the source that is counted

// Nobody else writes: the interpreter's lock is held.
void raise(std::atomic<std::uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

void count_iteration(const void* source, std::uint64_t& seen) {
  const std::uint64_t now = counters.iterations.load(std::memory_order_relaxed);
  // Twice in a row without the other: that one's pass over its data is over.
  if (pace == nullptr || source == pace || seen == now) {
    pace = source;
    raise(counters.iterations);
  }
  seen = counters.iterations.load(std::memory_order_relaxed);
}

PyObject* loop_counters(PyObject*, PyObject*) {
  return PyLong_FromVoidPtr(&counters);
}

PyObject* told(PyObject*, PyObject*) {
  static std::uint64_t seen = 0;
  count_iteration(&seen, seen);
  return new_reference(Py_None);
}

PyObject* stepped(PyObject*, PyObject*) {
  raise(counters.steps);
  return new_reference(Py_None);
}

}  // namespace fullbore::hook_abi
