// How large a batch is, from its plain tensors and containers alone: no code of the user's runs.
#pragma once

#include "hook_abi/probes/python.h"
#include "wire/records.h"

namespace fullbore::hook_abi {

struct BatchSize {
  std::int64_t samples;  // first dimension of the first tensor, or length of a list or tuple; kUnknown
  std::int64_t bytes;    // of the tensors (64 at most are looked at, 3 containers deep); kUnknown without any
  PyObject* largest;     // of these tensors, borrowed from the batch; null without any
};

// Never leaves a Python error: a batch of an unknown kind is of unknown size.
BatchSize batch_size(PyObject* data);

// batch_size(data) -> (samples or None, bytes or None).
PyObject* batch_size_as_tuple(PyObject* module, PyObject* data);

}  // namespace fullbore::hook_abi
