// What torch's iterator with workers says of its batches: the only place that knows the names of its attributes.
#pragma once

#include "hook_abi/probes/python.h"
#include "wire/records.h"

namespace fullbore::hook_abi {

struct Ready {
  std::int32_t worker = wire::kUnknown32;   // that makes the batch which is asked for
  std::int32_t batches = wire::kUnknown32;  // that have come, or lie in the queue
  bool missing = false;                     // the batch asked for is not among them
};
// False with a Python error set: this is no such iterator.
bool read_ready(PyObject* iterator, Ready* ready);

// None of these leaves a Python error.

// Number of the batch that was returned last, or kUnknown where batches come in any order.
std::int64_t last_in_order(PyObject* iterator);
// Batches whose data has come and that were not returned.
std::int32_t batches_here(PyObject* iterator);

// A whole number, or kUnknown for any other object or null.
std::int64_t number(PyObject* object);
std::int32_t number32(PyObject* object);

}  // namespace fullbore::hook_abi
