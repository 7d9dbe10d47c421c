// Python's limited API, and what the probes share: the functions of libfullbore_record.so, given by address because it
// is loaded by path, and the Python half of the hook.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include <cstdint>

#include "hook_abi/record_abi.h"

namespace fullbore::hook_abi {

struct Bindings {
  int (*write)(const void* records, uint64_t size, uint32_t count);
  void (*usage)(fullbore_thread_usage* out, int with_io);
  bool open;         // records are wanted
  PyObject* states;  // dict: id(iterator) -> NextState
  PyObject* find;    // (iterator) -> NextState, or a context that does nothing
  PyObject* failed;  // (exception, starting): ends the hook, or raises what came from other code
  PyObject* ended;   // (): the observation is over
};
extern Bindings bindings;

inline PyObject* new_reference(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// Hands the Python error that is set to the hook. False if it was not the hook's and is to go on: it is set again.
bool hand_over(bool starting);

}  // namespace fullbore::hook_abi
