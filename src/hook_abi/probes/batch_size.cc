#include "hook_abi/probes/batch_size.h"

namespace fullbore::hook_abi {
namespace {

using wire::kUnknown;

constexpr int kDeep = 3;
constexpr int kTensors = 64;
constexpr Py_ssize_t kItems = 4096;  // of one container: a list of numbers may be long

struct Found {
  PyObject* tensor_type;  // torch.Tensor itself: its subclasses may be the user's code
  PyObject* first;        // tensor, borrowed from the batch
  int tensors;
  std::int64_t bytes;
  PyObject* largest;  // borrowed likewise
  std::int64_t largest_bytes;
};

PyObject* type_of(PyObject* object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object));
}
bool is_exactly(PyObject* object, PyTypeObject& type) {
  return Py_TYPE(object) == &type;
}

// torch.Tensor, borrowed from its module; null while there is none. Kept, as torch is never unloaded.
PyObject* tensor_type() {
  static PyObject* known = nullptr;
  if (known != nullptr) return known;
  PyObject* modules = PySys_GetObject("modules");
  PyObject* torch = modules != nullptr ? PyDict_GetItemString(modules, "torch") : nullptr;
  if (torch != nullptr) known = PyObject_GetAttrString(torch, "Tensor");
  PyErr_Clear();
  return known;
}

std::int64_t called(PyObject* object, const char* method) {
  PyObject* result = PyObject_CallMethod(object, method, nullptr);
  const long long number = result != nullptr && PyLong_Check(result) ? PyLong_AsLongLong(result) : -1;
  Py_XDECREF(result);
  PyErr_Clear();
  return number < 0 ? kUnknown : number;
}

void add_tensor(Found& found, PyObject* tensor) {
  if (found.first == nullptr) found.first = tensor;
  ++found.tensors;
  const std::int64_t items = called(tensor, "numel");
  const std::int64_t item = called(tensor, "element_size");
  if (items == kUnknown || item == kUnknown) return;
  found.bytes += items * item;
  if (items * item <= found.largest_bytes) return;
  found.largest = tensor;
  found.largest_bytes = items * item;
}

// namedtuples are tuples with `_fields`; another subclass of tuple may be anything.
bool is_named_tuple(PyObject* object) {
  if (!PyTuple_Check(object)) return false;
  PyObject* fields = PyObject_GetAttrString(type_of(object), "_fields");
  PyErr_Clear();
  Py_XDECREF(fields);
  return fields != nullptr;
}

void look(Found& found, PyObject* object, int deep) {
  if (found.tensors >= kTensors) return;
  if (type_of(object) == found.tensor_type) return add_tensor(found, object);
  if (deep == 0) return;
  if (is_exactly(object, PyDict_Type)) {
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(object, &at, &key, &value) != 0) look(found, value, deep - 1);
  } else if (is_exactly(object, PyList_Type)) {
    for (Py_ssize_t i = 0; i < PyList_Size(object) && i < kItems; ++i) look(found, PyList_GetItem(object, i), deep - 1);
  } else if (is_exactly(object, PyTuple_Type) || is_named_tuple(object)) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(object) && i < kItems; ++i)
      look(found, PyTuple_GetItem(object, i), deep - 1);
  }
}

std::int64_t length_of(PyObject* data) {
  if (is_exactly(data, PyList_Type)) return PyList_Size(data);
  return is_exactly(data, PyTuple_Type) ? PyTuple_Size(data) : kUnknown;
}

std::int64_t first_dimension(PyObject* tensor) {
  PyObject* shape = PyObject_GetAttrString(tensor, "shape");
  PyErr_Clear();
  std::int64_t result = kUnknown;
  if (shape != nullptr && PyTuple_Check(shape) && PyTuple_Size(shape) > 0) {
    PyObject* size = PyTuple_GetItem(shape, 0);
    if (PyLong_Check(size)) result = PyLong_AsLongLong(size);
    PyErr_Clear();
  }
  Py_XDECREF(shape);
  return result;
}

}  // namespace

BatchSize batch_size(PyObject* data) {
  Found found{tensor_type(), nullptr, 0, 0, nullptr, 0};
  if (found.tensor_type != nullptr) look(found, data, kDeep);
  if (found.first == nullptr) return {length_of(data), kUnknown, nullptr};
  std::int64_t samples = first_dimension(found.first);
  // a list of single samples, as an identity collate function returns it, has as many as the list is long
  if (samples == kUnknown && is_exactly(data, PyList_Type)) samples = PyList_Size(data);
  return {samples, found.bytes, found.largest};
}

PyObject* batch_size_as_tuple(PyObject*, PyObject* data) {
  const auto as_object = [](std::int64_t number) {
    return number == kUnknown ? new_reference(Py_None) : PyLong_FromLongLong(number);
  };
  const BatchSize size = batch_size(data);
  return Py_BuildValue("NN", as_object(size.samples), as_object(size.bytes));
}

}  // namespace fullbore::hook_abi
