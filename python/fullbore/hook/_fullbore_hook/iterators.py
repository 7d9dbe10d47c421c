"""What is kept of the user's loaders and iterators in the training process, and the records that come of it. Kept by
identity and dropped by weak references: nothing is ever set on an object of the user's.
"""

import sys
import threading
import time
import weakref

from . import abi, at_fork, describe, fail, forks, records
from .process import here, profile, unless_a_worker_died

_BRIEF_NS = 2000000  # in iterations shorter than this nobody asks who stood in line for a core; the kernel's answer costs 3 us
_clock = time.monotonic_ns
_cpu_clock = time.thread_time_ns
_thread = threading.get_ident
_UNKNOWN, _UNKNOWN32 = records.UNKNOWN, records.UNKNOWN32

loaders = {}  # id(loader): LoaderInfo
_iterators = {}  # id(iterator): IteratorState
_counts = {"loader": 0, "iterator": 0}
_serving = {"loader": 0}


def _forget():
    """A forked process and a new observation have yet to say which loaders and iterators they use."""
    for info in list(loaders.values()):
        info.written = False
    for state in list(_iterators.values()):
        state.begun = False


at_fork(_forget)


def weak_entry(table, thing, entry):
    """Keeps `entry` under the identity of `thing` for as long as that lives; nothing is set on the thing itself."""
    key = id(thing)

    def gone(_, pop=table.pop):
        pop(key, None)

    entry.ref = weakref.ref(thing, gone)
    table[key] = entry
    return entry


def _number(kind):
    _counts[kind] += 1
    return _counts[kind]


class LoaderInfo:
    """What is kept of one DataLoader."""

    __slots__ = ("ref", "number", "location", "built_ns", "iterations", "written", "dataset_id")

    def __init__(self):
        self.number = _number("loader")
        self.location = None
        self.built_ns = _clock()
        self.iterations = 0
        self.written = False
        self.dataset_id = 0


def info_of(loader):
    info = loaders.get(id(loader))
    if info is None:
        # copied or unpickled: never constructed here
        info = weak_entry(loaders, loader, LoaderInfo())
    return info


def serves(loader_number):
    """An iterator of this loader is being made: a worker that is forked meanwhile serves it."""
    _serving["loader"] = loader_number


def served_loader():
    """Number of the loader that this forked worker serves; 0 in a spawned one."""
    return _serving["loader"] if forks() else 0


class IteratorState:
    """What is kept of one iterator; also the context of its `next`. Used by one thread at a time, as iterators are."""

    __slots__ = (
        "ref loader loader_info number epoch begun has_queue outer caller usage thread last_cpu last_runq count traced "
        "begin_ns end_ns cpu runq cpu_now loop_cpu loop_runq queue_wait waiting_since sampler sampling_since pin "
        "pinning_since batch worker missing ready samples bytes brief entered timing"
    ).split()

    def __init__(self, loader_info):
        self.loader_info = loader_info
        self.loader = loader_info.number
        self.number = 0
        self.epoch = 0
        self.begun = False
        self.usage = abi.Usage()
        self.thread = 0
        self.count = 0
        self.begin_ns = 0
        self.brief = False
        self.outer = None
        self.waiting_since = 0

    def begin(self, iterating=None):
        """iter() is done, or a framework called next without it: writes the loader if need be, and the iterator."""
        iterator, info = self.ref(), self.loader_info
        reset, self.begun = self.begun, True
        self.has_queue = hasattr(iterator, "_data_queue")
        self.number, self.count, self.thread = _number("iterator"), 0, 0
        self.epoch = info.iterations
        info.iterations += 1
        now = _clock()
        loader = info.ref()
        if not info.written and loader is not None:
            info.written = True
            abi.write(describe.loader_record(loader, info))
        workers = getattr(iterator, "_workers", None)
        abi.write(
            records.iterator(
                iterating.begin_ns if iterating else now,
                now,
                self.loader,
                self.number,
                len(workers) if workers is not None else records.known32(getattr(iterator, "_num_workers", None)),
                self.epoch,
                records.RESET if reset else 0,
                records.known32(iterating.line if iterating else None),
                abi.name(iterating.file if iterating else ""),
                records.known(getattr(iterator, "_base_seed", None)),
            )
        )

    def __enter__(self):
        self.outer, here.next = here.next, self
        self.entered = self.timing = False
        try:
            self._enter(sys._getframe(1))
            self.entered = True
        except Exception as error:
            here.next = self.outer
            unless_a_worker_died(error)
        return self

    def _enter(self, frame):
        if not self.begun:
            self.begin()
        self.caller = _caller(frame)
        self.traced = profile.next_begin(self.caller)
        self.timing = True
        self.batch = self.cpu_now = None
        self.worker = self.samples = self.ready = _UNKNOWN32
        self.bytes = self.pin = self.queue_wait = _UNKNOWN
        self.end_ns = self.sampler = self.waiting_since = self.sampling_since = self.pinning_since = 0
        self.missing = False
        if self.has_queue:
            self.queue_wait = 0
            self._count_ready(self.ref())
        else:
            self.pin = 0
        self.brief = 0 < _clock() - self.begin_ns < _BRIEF_NS
        cpu, runq = self.used()
        if self.thread == _thread():
            self.loop_cpu = cpu - self.last_cpu
            self.loop_runq = _difference(runq, self.last_runq)
        else:
            self.loop_cpu = self.loop_runq = _UNKNOWN
        self.cpu, self.runq = cpu, runq
        self.begin_ns = _clock()

    def used(self):
        """(CPU ns, run-queue delay ns) of this thread so far; the second only where iterations take their time."""
        return (_cpu_clock(), _UNKNOWN) if self.brief else self.usage.now()[:2]

    def _count_ready(self, iterator):
        tasks, wanted = iterator._task_info, iterator._rcvd_idx
        task = tasks.get(wanted)
        self.missing = task is not None and len(task) == 1
        if task is not None:
            self.worker = task[0]
        try:
            self.ready = sum([len(task) > 1 for task in tasks.values()]) + iterator._data_queue.qsize()
        except (NotImplementedError, OSError):
            self.ready = _UNKNOWN32

    def yielded(self, data):
        self.end_ns = _clock()
        samples, self.bytes = describe.batch_size(data)
        if samples is not None:
            self.samples = samples

    def __exit__(self, kind, error, traceback):
        here.next, self.outer = self.outer, None
        try:
            if self.entered:
                self._exit(kind)
            elif self.timing:
                caller, self.caller = self.caller, None
                profile.next_end(caller)
        except Exception as failure:
            fail(failure)
        return False

    def _exit(self, kind):
        end_ns = self.end_ns or _clock()
        cpu, runq = self.cpu_now or self.used()  # making the batch has ended with asking
        stopped = kind is not None and issubclass(kind, StopIteration)
        flags = records.STOP if stopped else records.ERROR if kind is not None else 0
        flags |= (records.FIRST if self.count == 0 else 0) | (records.TRACED if self.traced else 0)
        later = _UNKNOWN32
        if self.has_queue:
            iterator = self.ref()
            if self.batch is None:
                self.batch = iterator._rcvd_idx - 1 if getattr(iterator, "_in_order", True) else _UNKNOWN
            later = sum([len(task) > 1 for task in iterator._task_info.values()]) if self.missing else 0
        else:
            self.batch = self.count
        abi.write(
            records.next_(
                self.begin_ns,
                end_ns,
                self.queue_wait,
                self.sampler,
                self.pin,
                cpu - self.cpu,
                _difference(runq, self.runq),
                self.loop_cpu,
                self.loop_runq,
                _UNKNOWN if stopped else self.batch,
                self.bytes,
                self.loader,
                self.number,
                self.ready,
                later,
                _UNKNOWN32 if stopped else self.worker,
                self.samples,
                flags,
                0,
            )
        )
        self.count += 1
        self.thread, self.last_cpu, self.last_runq = _thread(), cpu, runq
        caller, self.caller = self.caller, None
        profile.next_end(caller)
        profile.flush(self.loader, stopped)


def _difference(now, before):
    return _UNKNOWN if now == _UNKNOWN or before == _UNKNOWN else now - before


def _caller(frame):
    """The frame that asked for the next batch: not a `__next__` that a loader's own subclass puts in between."""
    frame = frame.f_back
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("torch.utils.data.", "torchdata.")):
        frame = frame.f_back
    return frame


def state_of(iterator, loader=None):
    state = _iterators.get(id(iterator))
    if state is None:
        info = info_of(loader) if loader is not None else LoaderInfo()
        if loader is None:
            info.ref = weakref.ref(iterator)
            info.written = True
        state = weak_entry(_iterators, iterator, IteratorState(info))
    return state
