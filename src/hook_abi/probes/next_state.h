// What is kept of one of the user's iterators while its next() runs, as a Python type in C: these lines run in every
// iteration of somebody's training loop, mostly with cold caches, where the same in Python cost 40 us instead of 5.
// Limited API of Python 3.8, so that one file serves every interpreter from there on.
//
// Called with the GIL held, by the thread that calls next(). No call here raises, but for an exception that was never
// ours to keep (guard.h).
#pragma once

#include "hook_abi/probes/python.h"
#include "wire/records.h"

namespace fullbore::hook_abi {

// The context of one call of next(), and what has to be kept from one to the following.
struct NextState {
  PyObject ob_base;
  NextState* outer;            // the next() that this one runs within
  PyObject* iterator;          // borrowed: the running next() holds it
  wire::NextRecord record;     // of the running call
  std::int64_t waiting_since;  // 0: not now; likewise below
  std::int64_t sampling_since;
  std::int64_t pinning_since;
  std::int64_t cpu;  // of this thread when the call began
  std::int64_t runq;
  std::int64_t made_cpu;  // when the batch was ready, kUnknown: not told
  std::int64_t made_runq;
  std::int64_t last_cpu;  // when the previous call ended, on `thread`
  std::int64_t last_runq;
  const void* thread;
  long long count;           // of batches since the iterator began
  std::uint64_t iterations;  // of the process when it gave the last one; see count_iteration()
  char begun;                // its IteratorRecord is written
  char has_queue;
  char missing;  // the batch asked for was not there
  char brief;    // the iteration is too short to ask who stood in line for a core
  char timed;    // line timing was told of the wait
  char entered;
  char silent;  // nothing is written of it
};

// Makes the type; null with a Python error set.
PyObject* make_next_state_type();

// The probes that torch's changed functions call; each works on the innermost next() of its thread.
PyObject* next_of(PyObject* module, PyObject* iterator);
PyObject* yielded(PyObject* module, PyObject* data);
PyObject* waiting(PyObject* module, PyObject* ignored);
PyObject* arrived(PyObject* module, PyObject* data);
PyObject* sampling(PyObject* module, PyObject* ignored);
PyObject* sampled(PyObject* module, PyObject* index);
PyObject* pinning(PyObject* module, PyObject* ignored);
PyObject* pinned(PyObject* module, PyObject* data);
PyObject* taking(PyObject* module, PyObject* index);
PyObject* processing(PyObject* module, PyObject* worker);

// This thread draws batches that another one hands out to the training loop: no next() of it is written, as nobody
// waits for it. drawn() says what the last one gave, for the record of the hand-out: (loader, iterator, batch, worker),
// the last two None where torch does not say, or None if no next() gave anything since it was last asked.
PyObject* draws_for_another(PyObject* module, PyObject* ignored);
PyObject* drawn(PyObject* module, PyObject* ignored);

// The innermost next() of this thread, or None.
PyObject* running(PyObject* module, PyObject* ignored);
// Line timing is to be told of this thread's next iteration, whatever it said before.
PyObject* wake(PyObject* module, PyObject* ignored);
// Forgets what this thread runs: in a forked child, none of it goes on.
PyObject* forget(PyObject* module, PyObject* ignored);

}  // namespace fullbore::hook_abi
