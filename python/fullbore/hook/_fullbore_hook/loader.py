"""Watches torch.utils.data.DataLoader in the training process: where it was built, its iterators, and each `next`."""

import sys
import threading
import time
import weakref

from . import abi, at_fork, describe, environment, fail, forks, frames, records, rewrite
from .guard import NOTHING, contexts, observes, passes
from .process import announce_trainer, fix, here, profile

_SETTINGS = ("num_workers", "pin_memory", "prefetch_factor", "persistent_workers")
_clock = time.monotonic_ns
_thread = threading.get_ident
_UNKNOWN, _UNKNOWN32 = records.UNKNOWN, records.UNKNOWN32

_loaders = {}  # id(loader): LoaderInfo
_iterators = {}  # id(iterator): IteratorState
_counts = {"loader": 0, "iterator": 0}
_serving = {"loader": 0}  # the loader whose iterator was made last: a worker forked meanwhile serves it
_done = []


def _forget():
    """A forked process and a new observation have yet to say which loaders and iterators they use."""
    for info in list(_loaders.values()):
        info.written = False
    for state in list(_iterators.values()):
        state.begun = False


at_fork(_forget)


def _weak_entry(table, thing, entry):
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
    info = _loaders.get(id(loader))
    if info is None:
        # copied or unpickled: never constructed here
        info = _weak_entry(_loaders, loader, LoaderInfo())
    return info


def served_loader():
    """Number of the loader that this forked worker serves; 0 in a spawned one."""
    return _serving["loader"] if forks() else 0


class _Building:
    """Around DataLoader.__init__."""

    __slots__ = ("loader",)

    def __init__(self, loader):
        self.loader = loader

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None:
            try:
                self._built(sys._getframe(1))
            except Exception as error:
                fail(error)
        self.loader = None
        return False

    def _built(self, frame):
        loader = self.loader
        info = _weak_entry(_loaders, loader, LoaderInfo())
        info.location = _location(frame, loader)
        info.dataset_id = id(getattr(loader, "dataset", None))
        fix.loader_built(loader, info.number)


def _location(frame, loader):
    """Where the user built this loader. One rebuilt by a framework goes back to the loader it was made from."""
    user, through_library = frames.user_frame(frame.f_back)
    if through_library:
        dataset = id(getattr(loader, "dataset", None))
        for info in reversed(list(_loaders.values())):
            if info.dataset_id == dataset and info.location is not None:
                return info.location
    if user is None:
        return None
    location = frames.call_location(user, type(loader).__name__)
    # the user's call is then not the one that has the arguments
    return location._replace(code="") if through_library else location


class _Iterating:
    """Around DataLoader.__iter__."""

    __slots__ = ("loader", "outer", "begin_ns", "iterator", "file", "line")

    def __init__(self, loader):
        self.loader = loader
        self.iterator = None

    def __enter__(self):
        self.outer, here.iterating = here.iterating, self
        try:
            user, _ = frames.user_frame(sys._getframe(1).f_back)
            self.file = frames.absolute(user.f_code.co_filename) if user else ""
            self.line = user.f_lineno if user else None
            if abi.active():
                announce_trainer()
            fix.iterator_begin(self.loader)
        except Exception as error:
            fail(error)
        self.begin_ns = _clock()
        return self

    def __exit__(self, kind, error, traceback):
        here.iterating = self.outer
        if isinstance(error, Exception):
            # raises what the loader with its original settings raises
            self.iterator = here.replacement = fix.iterator_failed(self.loader, error)
        if self.iterator is None:
            return False
        try:
            state = state_of(self.iterator, self.loader)
            state.begin(self)
            if error is None:
                fix.iterator_created(self.loader, self.iterator)
        except Exception as failure:
            fail(failure)
        return error is not None


class IteratorState:
    """What is kept of one iterator; also the context of its `next`. Used by one thread at a time, as iterators are."""

    __slots__ = (
        "ref loader loader_info number epoch begun has_queue outer usage thread last_cpu last_runq count traced begin_ns end_ns "
        "cpu runq loop_cpu loop_runq queue_wait waiting_since sampler sampling_since pin pinning_since batch worker missing cpu_now caller "
        "ready samples bytes"
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
        try:
            self._enter(sys._getframe(1))
        except Exception as error:
            fail(error)
        return self

    def _enter(self, frame):
        if not self.begun:
            self.begin()
        self.caller = _caller(frame)
        self.traced = profile.next_begin(self.caller)
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
        cpu, runq = self.usage.now()[:2]
        if self.thread == _thread():
            self.loop_cpu = cpu - self.last_cpu
            self.loop_runq = _difference(runq, self.last_runq)
        else:
            self.loop_cpu = self.loop_runq = _UNKNOWN
        self.cpu, self.runq = cpu, runq
        self.begin_ns = _clock()

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
            self._exit(kind)
        except Exception as failure:
            fail(failure)
        return False

    def _exit(self, kind):
        end_ns = self.end_ns or _clock()
        cpu, runq = self.cpu_now or self.usage.now()[:2]  # making the batch has ended with asking
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
        state = _weak_entry(_iterators, iterator, IteratorState(info))
    return state


class _Probe:
    """The calls that the changed functions of the dataloader module make."""

    def arguments(self, names, targets, *values):
        given = dict(zip(names, values))
        mine = tuple(given[name] for name in targets)
        try:
            if environment.FIX:
                loader = given.pop("self", None)
                user, _ = frames.user_frame(sys._getframe(1).f_back)
                location = frames.call_location(user, type(loader).__name__) if user else None
                changes = fix.adjust(given, location) or {}
                mine = tuple(changes.get(name, value) for name, value in zip(targets, mine))
        except Exception as error:
            fail(error)
        return mine

    @contexts
    def building(self, loader):
        return _Building(loader) if abi.active() or fix.active() else None

    @contexts
    def iterating(self, loader):
        return _Iterating(loader) if abi.active() or fix.active() else None

    @passes
    def iterated(self, iterator):
        if here.iterating is not None:
            here.iterating.iterator = iterator

    def replacement(self, loader):
        return here.__dict__.pop("replacement", None)

    @contexts
    def iterator(self, iterator, loader):
        state = state_of(iterator, loader)
        _serving["loader"] = state.loader

    def next(self, iterator):
        try:
            return state_of(iterator) if abi.active() else NOTHING
        except Exception as error:
            fail(error)
            return NOTHING

    def guarded(self, iterator):
        try:
            return fix.guards(iterator)
        except Exception as error:
            fail(error)
            return False

    def first_batch(self, iterator):
        return fix.first_batch(iterator, iterator._next_data)

    # Within every next(): written out, because a decorator would cost as much again as what it guards.

    def yielded(self, data):
        try:
            state = here.next
            if state is not None:
                state.yielded(data)
        except Exception as error:
            fail(error)
        return data

    def sampling(self):
        try:
            state = here.next
            if state is not None:
                state.sampling_since = _clock()
        except Exception as error:
            fail(error)

    def sampled(self, index):
        try:
            state = here.next
            if state is not None and state.sampling_since:
                state.sampler += _clock() - state.sampling_since
                state.sampling_since = 0
        except Exception as error:
            fail(error)
        return index

    def waiting(self):
        try:
            state = here.next
            # a get that times out is tried again: the wait goes on
            if state is not None and not state.waiting_since:
                state.waiting_since = _clock()
        except Exception as error:
            fail(error)

    def arrived(self, data):
        try:
            state = here.next
            if state is not None and state.waiting_since:
                state.queue_wait += _clock() - state.waiting_since
                state.waiting_since = 0
        except Exception as error:
            fail(error)
        return data

    def processing(self, worker):
        try:
            state = here.next
            if state is not None:
                state.worker = worker
        except Exception as error:
            fail(error)

    @observes
    def taking(self, index):
        if here.next is not None:
            here.next.batch = index

    @observes
    def pinning(self):
        if here.next is not None:
            here.next.pinning_since = _clock()

    @passes
    def pinned(self, data):
        state = here.next
        if state is not None and state.pinning_since:
            state.pin = _clock() - state.pinning_since


_PROBE = _Probe()


def _rules():
    """{(class, method): rules}. The names are those of torch 1.13 to 2.15."""
    wait = ("queue_wait", "self._data_queue.get(*_)", "waiting", "arrived", ())
    sample = ("sampler", "next(self._sampler_iter)", "sampling", "sampled", ())
    pin = ("pin", "_utils.pin_memory.pin_memory(*_)", "pinning", "pinned", ())
    # Batches arrive in order unless in_order=False, where the index is told by this.
    take = ("", "self._task_info.pop(idx)", "taking", None, ("idx",))
    process = ("batch_worker", "self._process_data(data, worker_id, *_)", "processing", None, ("worker_id",))
    first = ("first_batch_guard", "self._next_data()", "guarded", "first_batch", ("self",))
    return {
        ("DataLoader", "__init__"): rewrite.Rules(
            _PROBE, context=("building", ("self",)), assign=("arguments", _SETTINGS)
        ),
        ("DataLoader", "__iter__"): rewrite.Rules(
            _PROBE, context=("iterating", ("self",)), returns="iterated", after=("replacement", ("self",))
        ),
        ("_BaseDataLoaderIter", "__init__"): rewrite.Rules(_PROBE, context=("iterator", ("self", "loader"))),
        ("_BaseDataLoaderIter", "__next__"): rewrite.Rules(
            _PROBE, context=("next", ("self",)), returns="yielded", instead=[first] if environment.FIX else []
        ),
        ("_BaseDataLoaderIter", "_next_index"): rewrite.Rules(_PROBE, around=[sample]),
        ("_SingleProcessDataLoaderIter", "_next_data"): rewrite.Rules(_PROBE, around=[pin]),
        ("_MultiProcessingDataLoaderIter", "_try_get_data"): rewrite.Rules(_PROBE, around=[wait]),
        ("_MultiProcessingDataLoaderIter", "_next_data"): rewrite.Rules(_PROBE, around=[take, process]),
    }


def install(module):
    _apply(module, _rules())


def install_stateful(module):
    """torchdata's StatefulDataLoader: its iterators derive from torch's and bring their own queues."""
    rules = {}
    for (owner, method), rule in _rules().items():
        if owner in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
            rules[("_Stateful" + owner[1:], method)] = rule
    rules[("StatefulDataLoader", "__init__")] = rewrite.Rules(_PROBE, context=("building", ("self",)))
    rules[("StatefulDataLoader", "__iter__")] = _rules()[("DataLoader", "__iter__")]
    _apply(module, rules)


def _apply(module, rules):
    wanted = []
    for (owner, method), rule in rules.items():
        function = vars(getattr(module, owner, object)).get(method)
        if function is None or not hasattr(function, "__code__"):
            abi.missing(owner + "." + method, "this torch has no such function")
        else:
            wanted.append((function, rule))
    done, problems = rewrite.instrument(module, wanted)
    _done.extend(done)
    for signal, why in problems:
        abi.missing(signal, why)


def uninstall():
    rewrite.restore(_done)
    del _done[:]
