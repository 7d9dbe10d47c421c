"""Watches torch.utils.data.DataLoader in the training process: where it was built, its iterators, and each `next`."""

import sys
import time

from .. import abi, emit, environment, fail, frames, records, rewrite
from . import datapaths
from ..guard import contexts, observes, passes
from .iterators import LoaderInfo, loaders, serves, state_of, weak_entry
from ..native import probes
from ..process import announce_trainer, fix, here, unless_a_worker_died

_SETTINGS = ("num_workers", "pin_memory", "prefetch_factor", "persistent_workers")
_clock = time.monotonic_ns
_done = []
_buried = set()  # workers whose death is on record


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
        info = weak_entry(loaders, loader, LoaderInfo())
        info.location = _location(frame, loader)
        info.dataset_id = id(getattr(loader, "dataset", None))
        fix.loader_built(loader, info.number)


def _location(frame, loader):
    """Where the user built this loader. One rebuilt by a framework goes back to the loader it was made from."""
    user, through_library = frames.user_frame(frame.f_back)
    if through_library:
        dataset = id(getattr(loader, "dataset", None))
        for info in reversed(list(loaders.values())):
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
            self.file, self.line = frames.user_place(sys._getframe(1).f_back)
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
            if state.loader_info.iterations == 1 and abi.active():
                for path in datapaths.named_by(getattr(self.loader, "dataset", None)):
                    emit.data_path(path)
        except Exception as failure:
            unless_a_worker_died(failure)
        try:
            if error is None:
                fix.iterator_created(self.loader, self.iterator)
        except Exception as failure:
            unless_a_worker_died(failure)
        return error is not None



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
        state.has_queue = bool(getattr(loader, "num_workers", 0))  # --fix may turn back an iterator within its next()
        serves(state.loader_info.number)

    def guarded(self, iterator):
        try:
            return fix.guards(iterator)
        except Exception as error:
            fail(error)
            return False

    def first_batch(self, iterator):
        return fix.first_batch(iterator, iterator._next_data)

    # Within every next(): in C, see native.py.
    next = probes.next
    yielded = probes.yielded
    sampling, sampled = probes.sampling, probes.sampled
    waiting, arrived = probes.waiting, probes.arrived
    pinning, pinned = probes.pinning, probes.pinned
    taking, processing = probes.taking, probes.processing

    @observes
    def failing(self):
        """torch tries out whether files can still be opened, in the `except` clause of a failed receive."""
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and here.__dict__.get("failure") != id(error):
            here.failure = id(error)  # it is tried out ten times for one error
            emit.failure(error)

    @observes
    def worker_died(self, iterator, worker):
        _note_death(iterator, worker)

    @contexts
    def ending(self, iterator):
        for worker in getattr(iterator, "_workers", ()):
            _note_death(iterator, worker)


_PROBE = _Probe()


def _note_death(iterator, worker):
    """A worker that has ended although nobody told it to: one that was told ends with 0, and later than this."""
    code = worker.exitcode
    if not code or worker.pid in _buried or not abi.active():
        return
    _buried.add(worker.pid)
    number = iterator._workers.index(worker)
    abi.write(records.worker_exit(_clock(), worker.pid, number, records.known32(code), state_of(iterator).loader))


def _rules():
    """{(class, method): rules}. The names are those of torch 1.13 to 2.15."""
    wait = ("queue_wait", "self._data_queue.get(*_)", "waiting", "arrived", ())
    sample = ("sampler", "next(self._sampler_iter)", "sampling", "sampled", ())
    # Only run when a batch could not be received; torch 1.13 to 2.15 all look for the limit of open files there.
    failed = ("", "tempfile.NamedTemporaryFile()", "failing", None, ())
    pin = ("pin", "_utils.pin_memory.pin_memory(*_)", "pinning", "pinned", ())
    # Batches arrive in order unless in_order=False, where the index is told by this.
    take = ("", "self._task_info.pop(idx)", "taking", None, ("idx",))
    # Before torch 2.6 the worker is only known from the task that was asked for.
    process = ("", "self._process_data(data, worker_id, *_)", "processing", None, ("worker_id",))
    died = ("worker_exit", "failed_workers.append(w)", "worker_died", None, ("self", "w"))
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
        ("_MultiProcessingDataLoaderIter", "_try_get_data"): rewrite.Rules(_PROBE, around=[wait, died, failed]),
        ("_MultiProcessingDataLoaderIter", "_shutdown_workers"): rewrite.Rules(_PROBE, context=("ending", ("self",))),
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
