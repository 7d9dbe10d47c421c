#include "hook_abi/probes/torch_iterator.h"

namespace fullbore::hook_abi {
namespace {

using wire::kUnknown;
using wire::kUnknown32;

// Tasks of `_task_info`, {batch: (worker,) or (worker, data)}, whose data has come.
std::int32_t tasks_here(PyObject* tasks) {
  std::int32_t here = 0;
  Py_ssize_t at = 0;
  PyObject *key, *task;
  while (PyDict_Next(tasks, &at, &key, &task) != 0) here += PyTuple_Check(task) && PyTuple_Size(task) > 1;
  return here;
}

}  // namespace

std::int64_t number(PyObject* object) {
  if (object == nullptr || !PyLong_Check(object)) return kUnknown;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow != 0 ? kUnknown : value;
}
std::int32_t number32(PyObject* object) {
  const std::int64_t value = number(object);
  return value > INT32_MIN && value <= INT32_MAX ? static_cast<std::int32_t>(value) : kUnknown32;
}

bool read_ready(PyObject* iterator, Ready* ready) {
  PyObject* tasks = PyObject_GetAttrString(iterator, "_task_info");
  PyObject* wanted = PyObject_GetAttrString(iterator, "_rcvd_idx");
  PyObject* queue = PyObject_GetAttrString(iterator, "_data_queue");
  const bool known = tasks != nullptr && wanted != nullptr && queue != nullptr && PyDict_Check(tasks);
  if (known) {
    PyObject* task = PyDict_GetItemWithError(tasks, wanted);
    const Py_ssize_t size = task != nullptr && PyTuple_Check(task) ? PyTuple_Size(task) : 0;
    ready->missing = size == 1;
    if (size > 0) ready->worker = number32(PyTuple_GetItem(task, 0));
    PyObject* queued = PyErr_Occurred() != nullptr ? nullptr : PyObject_CallMethod(queue, "qsize", nullptr);
    const std::int32_t length = number32(queued);
    if (length != kUnknown32) ready->batches = tasks_here(tasks) + length;
    Py_XDECREF(queued);
  }
  Py_XDECREF(tasks);
  Py_XDECREF(wanted);
  Py_XDECREF(queue);
  PyObject* error = PyErr_Occurred();
  if (error == nullptr) return true;
  // some systems cannot tell the length of a queue
  const bool no_length = PyErr_GivenExceptionMatches(error, PyExc_NotImplementedError) != 0 ||
                         PyErr_GivenExceptionMatches(error, PyExc_OSError) != 0;
  if (no_length) PyErr_Clear();
  return no_length;
}

std::int64_t last_in_order(PyObject* iterator) {
  PyObject* in_order = PyObject_GetAttrString(iterator, "_in_order");  // none before torch 2.6: always in order
  PyErr_Clear();
  const bool ordered = in_order == nullptr || PyObject_IsTrue(in_order) == 1;
  Py_XDECREF(in_order);
  PyObject* received = ordered ? PyObject_GetAttrString(iterator, "_rcvd_idx") : nullptr;
  PyErr_Clear();
  const std::int64_t next = number(received);
  Py_XDECREF(received);
  return next == kUnknown ? kUnknown : next - 1;
}

std::int32_t batches_here(PyObject* iterator) {
  PyObject* tasks = PyObject_GetAttrString(iterator, "_task_info");
  PyErr_Clear();
  const std::int32_t here = tasks != nullptr && PyDict_Check(tasks) ? tasks_here(tasks) : kUnknown32;
  Py_XDECREF(tasks);
  return here;
}

}  // namespace fullbore::hook_abi
