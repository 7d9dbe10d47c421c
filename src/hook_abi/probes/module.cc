// The module _fullbore_probes: the probes of next_state.h, and what ties them to the Python half of the hook.
#include "hook_abi/probes/batch_size.h"
#include "hook_abi/probes/iterations.h"
#include "hook_abi/probes/next_state.h"

namespace fullbore::hook_abi {

Bindings bindings{};

namespace {

// bind(states, find, failed, ended): the Python half; see Bindings. Before anything else.
PyObject* bind(PyObject*, PyObject* arguments) {
  PyObject *states, *find, *failed, *ended;
  if (PyArg_ParseTuple(arguments, "O!OOO", &PyDict_Type, &states, &find, &failed, &ended) == 0) return nullptr;
  // kept for the life of the process, as the changed functions of torch are
  bindings.states = new_reference(states);
  bindings.find = new_reference(find);
  bindings.failed = new_reference(failed);
  bindings.ended = new_reference(ended);
  return new_reference(Py_None);
}

// open(write, usage): addresses of fullbore_record_write and fullbore_thread_usage_now. Records are wanted from now on.
PyObject* open(PyObject*, PyObject* arguments) {
  unsigned long long write, usage;
  if (PyArg_ParseTuple(arguments, "KK", &write, &usage) == 0) return nullptr;
  bindings.write = reinterpret_cast<decltype(bindings.write)>(write);
  bindings.usage = reinterpret_cast<decltype(bindings.usage)>(usage);
  bindings.open = bindings.states != nullptr;
  return new_reference(Py_None);
}

// close(): no records are wanted any more.
PyObject* close(PyObject*, PyObject*) {
  bindings.open = false;
  return new_reference(Py_None);
}

PyMethodDef functions[] = {
    {"bind", bind, METH_VARARGS, nullptr},
    {"open", open, METH_VARARGS, nullptr},
    {"close", close, METH_NOARGS, nullptr},
    {"batch_size", batch_size_as_tuple, METH_O, nullptr},
    {"next", next_of, METH_O, nullptr},
    {"yielded", yielded, METH_O, nullptr},
    {"waiting", waiting, METH_NOARGS, nullptr},
    {"arrived", arrived, METH_O, nullptr},
    {"sampling", sampling, METH_NOARGS, nullptr},
    {"sampled", sampled, METH_O, nullptr},
    {"pinning", pinning, METH_NOARGS, nullptr},
    {"pinned", pinned, METH_O, nullptr},
    {"taking", taking, METH_O, nullptr},
    {"processing", processing, METH_O, nullptr},
    {"running", running, METH_NOARGS, nullptr},
    {"wake", wake, METH_NOARGS, nullptr},
    {"draws_for_another", draws_for_another, METH_NOARGS, nullptr},
    {"drawn", drawn, METH_NOARGS, nullptr},
    {"forget", forget, METH_NOARGS, nullptr},
    {"loop_counters", loop_counters, METH_NOARGS, nullptr},
    {"told", told, METH_NOARGS, nullptr},
    {"stepped", stepped, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_fullbore_probes", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

bool hand_over(bool starting) {
  PyObject *kind, *error, *traceback;
  PyErr_Fetch(&kind, &error, &traceback);
  PyErr_NormalizeException(&kind, &error, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(error, traceback);
  PyObject* done = PyObject_CallFunction(bindings.failed, "Oi", error, static_cast<int>(starting));
  Py_XDECREF(kind);
  Py_XDECREF(error);
  Py_XDECREF(traceback);
  Py_XDECREF(done);
  return done != nullptr;
}

}  // namespace fullbore::hook_abi

// NOLINTNEXTLINE: the name is Python's to choose
extern "C" __attribute__((visibility("default"))) PyObject* PyInit__fullbore_probes() {
  namespace abi = fullbore::hook_abi;
  PyObject* module = PyModule_Create(&abi::definition);
  PyObject* type = module != nullptr ? abi::make_next_state_type() : nullptr;
  if (type == nullptr || PyModule_AddObject(module, "NextState", type) != 0) {
    Py_XDECREF(type);
    Py_XDECREF(module);
    return nullptr;
  }
  return module;
}
