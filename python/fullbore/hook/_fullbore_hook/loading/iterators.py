"""What is kept of the user's loaders and iterators in the training process, and the records that come of it. Kept by
identity and dropped by weak references: nothing is ever set on an object of the user's.
"""

import time
import weakref

from .. import abi, at_fork, emit, fail, forks, records
from . import describe
from ..guard import NOTHING
from ..native import probes
from ..process import profile, unless_a_worker_died

_clock = time.monotonic_ns

loaders = {}  # id(loader): LoaderInfo
_iterators = {}  # id(iterator): IteratorState
_counts = {"loader": 0, "iterator": 0}
_serving = {"loader": 0}
_tensors = {}  # number of a loader: (dtype, shape of a sample) of the last BatchTensorRecord


def _forget():
    """A forked process and a new observation have yet to say which loaders and iterators they use."""
    for info in list(loaders.values()):
        info.written = False
    for state in list(_iterators.values()):
        state.begun = False
    _tensors.clear()
    probes.forget()


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


class Wait(probes.NextState):
    """The context of one hand-out of a batch after the other, as line timing is told of them. Used by one thread at a time.

    What happens within every `next` is in C (src/hook_abi/probes); this is the rest.
    """

    __slots__ = ("frame",)

    def __init__(self):
        self.frame = None

    def wait_begins(self, frame, since_ns, skipped):
        """A wait begins that line timing is to be told of; see profile.next_begin. Returns the number of iterations that
        it need not be told of after this one, times 2; plus 1 if the one that ends here was slowed by tracing.
        """
        self.frame = frame
        traced = profile.next_begin(frame, since_ns, skipped)
        return 2 * profile.next_rest() + bool(traced)

    def first_batch(self, tensor):
        """The largest tensor of the first batch of a pass: its kind is on record, again where it changes."""
        kind = (tensor.dtype, tuple(tensor.shape[1:]))
        if not self.silent and _tensors.get(self.loader) != kind:
            _tensors[self.loader] = kind
            emit.batch_tensor(self.loader, tensor)

    def wait_ends(self, told, stopped):
        frame, self.frame = self.frame, None
        if told:
            profile.next_end(frame)
        profile.flush(self.loader, stopped)


class HandOut(Wait):
    """The waits of a thread for batches that another one draws for it: they stand in the place of that thread's own, as
    the records of the loader that made the batches.
    """

    __slots__ = ()

    def begin(self):
        self.restart(0, 0, False)

    def took(self, drawn, ready, batch):
        """Within the context: `drawn` as probes.drawn() gave it, `ready` batches lay there before, `batch` is handed out."""
        if drawn is None:
            self.silent = True  # no loader of torch's made it
            return
        self.loader, self.number, index, worker = drawn
        self.ready = ready
        probes.taking(index)
        probes.processing(worker)
        probes.yielded(batch)


class IteratorState(Wait):
    """What is kept of one iterator; also the context of its `next`."""

    __slots__ = ("ref", "loader_info", "epoch")

    def __init__(self, loader_info):
        super().__init__()
        self.loader_info = loader_info
        self.epoch = 0

    def begin(self, iterating=None):
        """iter() is done, or a framework called next without it: writes the loader if need be, and the iterator."""
        iterator, info = self.ref(), self.loader_info
        reset = self.begun
        self.restart(info.number, _number("iterator"), hasattr(iterator, "_data_queue"))
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


def state_of(iterator, loader=None):
    state = _iterators.get(id(iterator))
    if state is None:
        info = info_of(loader) if loader is not None else LoaderInfo()
        if loader is None:
            info.ref = weakref.ref(iterator)
            info.written = True
        state = weak_entry(_iterators, iterator, IteratorState(info))
    return state


def _context(iterator):
    """Of an iterator whose `next` runs for the first time."""
    try:
        return state_of(iterator) if abi.active() else NOTHING
    except Exception as error:
        fail(error)
        return NOTHING


def _failed(error, starting):
    """A probe in C met an exception."""
    if starting:
        unless_a_worker_died(error)
    else:
        fail(error)


probes.bind(_iterators, _context, _failed, abi.ended)
abi.serve(probes)
