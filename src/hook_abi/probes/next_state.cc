#include "hook_abi/probes/next_state.h"

#include <stddef.h>
#include <structmember.h>
#include <time.h>

#include "hook_abi/probes/batch_size.h"
#include "hook_abi/probes/iterations.h"
#include "hook_abi/probes/torch_iterator.h"

namespace fullbore::hook_abi {
namespace {

using wire::kUnknown;
using wire::kUnknown32;

// In iterations shorter than this nobody asks who stood in line for a core; the kernel's answer costs 3 us.
constexpr std::int64_t kBriefNs = 2'000'000;
// Line timing hands on what it found every 0.5 s, and is asked as often.
constexpr std::int64_t kLongestRestNs = 500'000'000;

PyTypeObject* next_state_type = nullptr;
thread_local NextState* current = nullptr;
// What this thread may keep from line timing, which thins itself: most iterations need none of its Python. The address
// also tells threads apart.
struct Rest {
  std::int64_t left;  // iterations
  std::int64_t until_ns;
  std::int64_t last_begin_ns;  // of the last wait
  int skipped;                 // iterations since line timing was last told of one
};
thread_local Rest this_rest;

// What a thread that draws for another one drew last.
struct Drawn {
  bool wanted, there;
  std::uint32_t loader, iterator;
  std::int32_t worker;
  std::int64_t batch;
};
thread_local Drawn this_drawn;

NextState* as_state(PyObject* object) {
  return reinterpret_cast<NextState*>(object);
}
PyObject* as_object(NextState* state) {
  return reinterpret_cast<PyObject*>(state);
}

std::int64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}
std::int64_t now_ns() {
  return now_ns(CLOCK_MONOTONIC);
}

std::int64_t difference(std::int64_t now, std::int64_t before) {
  return now == kUnknown || before == kUnknown ? kUnknown : now - before;
}

struct Used {
  std::int64_t cpu;
  std::int64_t runq;
};

Used used_so_far(const NextState& state) {
  if (state.brief || bindings.usage == nullptr) return {now_ns(CLOCK_THREAD_CPUTIME_ID), kUnknown};
  fullbore_thread_usage usage;
  bindings.usage(&usage, 0);
  return {usage.cpu_ns, usage.runq_ns};
}

void clear(NextState& state) {
  wire::NextRecord& record = state.record;
  record.end_ns = record.queue_wait_ns = record.sampler_ns = record.pin_ns = 0;
  record.batch = record.batch_bytes = state.made_cpu = state.made_runq = kUnknown;
  record.worker = record.samples = record.ready = record.ready_later = kUnknown32;
  record.flags = record.reserved = 0;
  state.waiting_since = state.sampling_since = state.pinning_since = 0;
  state.missing = 0;
  (state.has_queue != 0 ? record.pin_ns : record.queue_wait_ns) = kUnknown;
}

// Whether line timing can do without hearing of this wait. Inside another next() it hears of both or of neither.
bool may_skip(const NextState& state, std::int64_t now) {
  if (state.outer != nullptr) return state.outer->timed == 0;
  if (this_drawn.wanted) return true;
  return this_rest.left > 0 && now < this_rest.until_ns;
}

// Tells line timing that a wait begins. False with a Python error set.
bool tell(NextState& state, std::int64_t now) {
  PyObject* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  PyObject* answer = PyObject_CallMethod(as_object(&state), "wait_begins", "OLi", frame != nullptr ? frame : Py_None,
                                         static_cast<long long>(this_rest.last_begin_ns), this_rest.skipped);
  const std::int64_t told = number(answer);
  Py_XDECREF(answer);
  if (answer == nullptr) return false;
  state.timed = 1;
  if (state.outer == nullptr) {
    this_rest.left = told == kUnknown ? 0 : told / 2;
    this_rest.until_ns = now + kLongestRestNs;
    this_rest.skipped = 0;
  }
  if (told != kUnknown && told % 2 != 0) state.record.flags |= wire::kTraced;
  return true;
}

// Notes what lies ready. False with a Python error set.
bool count_ready(NextState& state) {
  Ready ready;
  const bool fine = read_ready(state.iterator, &ready);
  state.missing = ready.missing;
  state.record.worker = ready.worker;
  state.record.ready = ready.batches;
  return fine;
}

// The wait begins. False with a Python error set.
bool begin_wait(NextState& state) {
  clear(state);
  if (state.begun == 0) {
    PyObject* done = PyObject_CallMethod(as_object(&state), "begin", nullptr);
    Py_XDECREF(done);
    if (done == nullptr) return false;
    clear(state);
  }
  std::int64_t now = now_ns();
  if (!may_skip(state, now)) {
    if (!tell(state, now)) return false;
    now = now_ns();
  } else if (state.outer == nullptr) {
    --this_rest.left;
    ++this_rest.skipped;
  }
  if (state.has_queue != 0 && !count_ready(state)) return false;
  const std::int64_t since_last = now - state.record.begin_ns;
  state.brief = since_last > 0 && since_last < kBriefNs;
  const Used used = used_so_far(state);
  const bool same_thread = state.thread == &this_rest;
  state.record.loop_cpu_ns = same_thread ? used.cpu - state.last_cpu : kUnknown;
  state.record.loop_runq_ns = same_thread ? difference(used.runq, state.last_runq) : kUnknown;
  state.cpu = used.cpu;
  state.runq = used.runq;
  state.record.begin_ns = now_ns();
  if (state.outer == nullptr) this_rest.last_begin_ns = state.record.begin_ns;
  return true;
}

PyObject* enter(PyObject* self, PyObject*) {
  NextState& state = *as_state(self);
  state.timed = state.entered = 0;
  state.outer = current;
  current = &state;
  if (begin_wait(state)) {
    state.entered = 1;
  } else {
    current = state.outer;
    if (!hand_over(true)) return nullptr;
  }
  return new_reference(self);
}

// Completes the record and writes it. False with a Python error set.
bool write_record(NextState& state, bool stopped, bool error) {
  struct {
    wire::RecordHeader header;
    wire::NextRecord next;
  } whole;
  wire::NextRecord& record = state.record;
  if (record.end_ns == 0) record.end_ns = now_ns();
  // making the batch in this thread has ended with asking the kernel
  const Used used = state.made_cpu != kUnknown ? Used{state.made_cpu, state.made_runq} : used_so_far(state);
  record.cpu_ns = used.cpu - state.cpu;
  record.runq_ns = difference(used.runq, state.runq);
  if (record.batch == kUnknown) record.batch = state.has_queue != 0 ? last_in_order(state.iterator) : state.count;
  if (stopped) {
    record.batch = kUnknown;
    record.worker = kUnknown32;
  }
  if (state.has_queue != 0) record.ready_later = state.missing != 0 ? batches_here(state.iterator) : 0;
  if (stopped) record.flags |= wire::kStop;
  if (error && !stopped) record.flags |= wire::kError;
  if (state.count == 0) record.flags |= wire::kFirst;
  whole.header = {wire::Kind::kNext, sizeof whole, 0};
  whole.next = record;
  const bool kept = state.silent != 0 || this_drawn.wanted;
  if (this_drawn.wanted && !stopped && !error)
    this_drawn = {true, true, record.loader, record.iterator, record.worker, record.batch};
  const int result = bindings.open && !kept ? bindings.write(&whole, sizeof whole, 1) : 0;
  ++state.count;
  if (current == nullptr && !stopped && !error && !this_drawn.wanted) count_iteration(&state, state.iterations);
  state.thread = &this_rest;
  state.last_cpu = used.cpu;
  state.last_runq = used.runq;
  if (result != 2) return true;
  PyObject* done = PyObject_CallObject(bindings.ended, nullptr);
  Py_XDECREF(done);
  return done != nullptr;
}

PyObject* leave(PyObject* self, PyObject* arguments) {
  NextState& state = *as_state(self);
  if (current == &state) current = state.outer;
  state.outer = nullptr;
  PyObject* kind = PyTuple_GetItem(arguments, 0);
  if (kind == nullptr) return nullptr;
  const bool stopped = kind != Py_None && PyErr_GivenExceptionMatches(kind, PyExc_StopIteration) != 0;
  bool fine = state.entered == 0 || write_record(state, stopped, kind != Py_None);
  if (fine && (state.timed != 0 || stopped) && !this_drawn.wanted) {
    PyObject* done =
        PyObject_CallMethod(self, "wait_ends", "ii", static_cast<int>(state.timed), static_cast<int>(stopped));
    fine = done != nullptr;
    Py_XDECREF(done);
  }
  state.iterator = nullptr;
  if (!fine && !hand_over(false)) return nullptr;
  return new_reference(Py_False);
}

// used() -> (CPU ns, run-queue delay ns) of this thread so far; the second only where iterations take their time.
PyObject* used_as_tuple(PyObject* self, PyObject*) {
  const Used used = used_so_far(*as_state(self));
  return Py_BuildValue("LL", static_cast<long long>(used.cpu), static_cast<long long>(used.runq));
}

// made(cpu, runq): the same two when the batch was made; spares asking again at the end.
PyObject* made(PyObject* self, PyObject* arguments) {
  long long cpu, runq;
  if (PyArg_ParseTuple(arguments, "LL", &cpu, &runq) == 0) return nullptr;
  as_state(self)->made_cpu = cpu;
  as_state(self)->made_runq = runq;
  return new_reference(Py_None);
}

// restart(loader, iterator, has_queue): another pass over the data; the numbers are those of the records.
PyObject* restart(PyObject* self, PyObject* arguments) {
  unsigned int loader, iterator;
  int has_queue;
  if (PyArg_ParseTuple(arguments, "IIp", &loader, &iterator, &has_queue) == 0) return nullptr;
  NextState& state = *as_state(self);
  state.record.loader = loader;
  state.record.iterator = iterator;
  state.has_queue = has_queue != 0;
  state.count = 0;
  state.thread = nullptr;
  state.begun = 1;
  return new_reference(Py_None);
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},    {"__exit__", leave, METH_VARARGS, nullptr},
    {"used", used_as_tuple, METH_NOARGS, nullptr}, {"made", made, METH_VARARGS, nullptr},
    {"restart", restart, METH_VARARGS, nullptr},   {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"loader", T_UINT, offsetof(NextState, record.loader), 0, nullptr},
    {"number", T_UINT, offsetof(NextState, record.iterator), 0, nullptr},
    {"ready", T_UINT, offsetof(NextState, record.ready), 0, nullptr},
    {"silent", T_BOOL, offsetof(NextState, silent), 0, nullptr},
    {"begin_ns", T_LONGLONG, offsetof(NextState, record.begin_ns), READONLY, nullptr},
    {"cpu", T_LONGLONG, offsetof(NextState, cpu), READONLY, nullptr},
    {"runq", T_LONGLONG, offsetof(NextState, runq), READONLY, nullptr},
    {"count", T_LONGLONG, offsetof(NextState, count), READONLY, nullptr},
    {"brief", T_BOOL, offsetof(NextState, brief), READONLY, nullptr},
    {"begun", T_BOOL, offsetof(NextState, begun), 0, nullptr},
    {"has_queue", T_BOOL, offsetof(NextState, has_queue), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

PyObject* make_next_state_type() {
  static PyType_Slot slots[] = {{Py_tp_methods, methods}, {Py_tp_members, members}, {0, nullptr}};
  static PyType_Spec spec = {"_fullbore_probes.NextState", sizeof(NextState), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* type = PyType_FromSpec(&spec);
  next_state_type = reinterpret_cast<PyTypeObject*>(type);
  return type;
}

PyObject* next_of(PyObject*, PyObject* iterator) {
  PyObject* key = bindings.open ? PyLong_FromVoidPtr(iterator) : nullptr;
  PyObject* state = key == nullptr ? nullptr : PyDict_GetItemWithError(bindings.states, key);
  Py_XDECREF(key);
  if (state != nullptr) {
    Py_INCREF(state);
  } else {
    PyErr_Clear();
    state = PyObject_CallFunctionObjArgs(bindings.find, iterator, nullptr);
  }
  if (state != nullptr && PyObject_TypeCheck(state, next_state_type)) as_state(state)->iterator = iterator;
  return state;
}

// The kind of tensor that a pass over the data brings is on record; an error there is no matter of the loop's.
void describe_first(NextState& state, PyObject* largest) {
  if (state.count != 0 || largest == nullptr) return;
  Py_XDECREF(PyObject_CallMethod(as_object(&state), "first_batch", "O", largest));
  PyErr_Clear();
}

PyObject* yielded(PyObject*, PyObject* data) {
  if (NextState* state = current; state != nullptr) {
    state->record.end_ns = now_ns();
    const BatchSize size = batch_size(data);
    state->record.batch_bytes = size.bytes;
    if (size.samples >= 0 && size.samples <= INT32_MAX) state->record.samples = static_cast<std::int32_t>(size.samples);
    describe_first(*state, size.largest);
  }
  return new_reference(data);
}

PyObject* waiting(PyObject*, PyObject*) {
  // a get that times out is tried again: the wait goes on
  if (current != nullptr && current->waiting_since == 0) current->waiting_since = now_ns();
  return new_reference(Py_None);
}

PyObject* arrived(PyObject*, PyObject* data) {
  if (current != nullptr && current->waiting_since != 0) {
    current->record.queue_wait_ns += now_ns() - current->waiting_since;
    current->waiting_since = 0;
  }
  return new_reference(data);
}

PyObject* sampling(PyObject*, PyObject*) {
  if (current != nullptr) current->sampling_since = now_ns();
  return new_reference(Py_None);
}

PyObject* sampled(PyObject*, PyObject* index) {
  if (current != nullptr && current->sampling_since != 0) {
    current->record.sampler_ns += now_ns() - current->sampling_since;
    current->sampling_since = 0;
  }
  return new_reference(index);
}

PyObject* pinning(PyObject*, PyObject*) {
  if (current != nullptr) current->pinning_since = now_ns();
  return new_reference(Py_None);
}

PyObject* pinned(PyObject*, PyObject* data) {
  if (current != nullptr && current->pinning_since != 0) current->record.pin_ns = now_ns() - current->pinning_since;
  return new_reference(data);
}

PyObject* taking(PyObject*, PyObject* index) {
  if (current != nullptr) current->record.batch = number(index);
  return new_reference(Py_None);
}

PyObject* processing(PyObject*, PyObject* worker) {
  if (current != nullptr) current->record.worker = number32(worker);
  return new_reference(Py_None);
}

PyObject* draws_for_another(PyObject*, PyObject*) {
  this_drawn.wanted = true;
  return new_reference(Py_None);
}

PyObject* drawn(PyObject*, PyObject*) {
  const Drawn last = this_drawn;
  this_drawn.there = false;
  if (!last.there) return new_reference(Py_None);
  PyObject* batch = last.batch == kUnknown ? new_reference(Py_None) : PyLong_FromLongLong(last.batch);
  PyObject* worker = last.worker == kUnknown32 ? new_reference(Py_None) : PyLong_FromLong(last.worker);
  if (batch == nullptr || worker == nullptr) {
    Py_XDECREF(batch);
    Py_XDECREF(worker);
    return nullptr;
  }
  return Py_BuildValue("IINN", last.loader, last.iterator, batch, worker);
}

PyObject* running(PyObject*, PyObject*) {
  return new_reference(current != nullptr ? as_object(current) : Py_None);
}

PyObject* wake(PyObject*, PyObject*) {
  this_rest.left = 0;
  return new_reference(Py_None);
}

PyObject* forget(PyObject*, PyObject*) {
  current = nullptr;
  this_rest = {};
  return new_reference(Py_None);
}

}  // namespace fullbore::hook_abi
