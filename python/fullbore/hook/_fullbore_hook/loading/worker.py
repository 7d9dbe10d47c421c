"""Watches batches being made: in the workers of a loader, and in the training process when there are none."""

import sys
import time

from .. import abi, emit, fail, records, rewrite
from ..guard import contexts, observes, passes
from .iterators import served_loader
from .maker import Maker
from ..native import probes
from ..process import announce, here, profile

_clock = time.monotonic_ns
_done = []


class _Working:
    """Around the loop of a worker."""

    __slots__ = ("base_seed", "worker")

    def __init__(self, base_seed, worker):
        self.base_seed = base_seed
        self.worker = worker

    def __enter__(self):
        try:
            here.maker = Maker(served_loader(), self.worker)
            announce(records.WORKER, self.worker, self.base_seed)
        except Exception as error:
            fail(error)
        return self

    def __exit__(self, kind, error, traceback):
        try:
            profile.flush(here.maker.loader, True)
            here.maker = None
            abi.close_thread()
        except Exception as error:
            fail(error)
        return False


class _Probe:
    """The calls that the changed functions of the fetch, worker and dataset modules make."""

    @contexts
    def working(self, base_seed, worker_id):
        return _Working(base_seed, worker_id) if abi.active() else None

    @passes
    def got(self, task):
        maker = here.maker
        if type(task) is tuple and len(task) == 2:
            maker.begin(*task)
        elif type(task).__name__ == "_ResumeIteration":
            maker.epoch += 1
            maker.idle_since = _clock()

    @passes
    def put(self, nothing):
        maker = here.maker
        if maker is not None and maker.open:
            maker.finish(_clock())
            profile.flush(maker.loader, False)

    @observes
    def failing(self):
        """In the `except` clause of a worker's loop: the error is about to be sent to the training process."""
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and here.maker is not None:
            emit.failure(error, here.maker.worker)

    @contexts
    def fetching(self, fetcher, possibly_batched_index):
        maker, state = here.maker, probes.running()
        if state is None:
            return maker if maker is not None and maker.open else None
        if not abi.active():
            return None
        if maker is None:
            maker = here.maker = Maker()
        maker.loader, maker.epoch = state.loader, state.epoch
        maker.idle_since = state.begin_ns
        maker.begin(state.count, possibly_batched_index, state)
        return maker

    def making(self, dataset_holder, index):
        maker = here.maker
        try:
            if maker is not None and maker.open:
                maker.sample(dataset_holder.dataset, index)
        except Exception as error:
            fail(error)

    def made(self, sample):
        maker = here.maker
        try:
            if maker is not None and maker.sample_begin:
                maker.sampled()
        except Exception as error:
            fail(error)
        return sample

    @observes
    def drawing(self, fetcher):
        if here.maker is not None and here.maker.open:
            here.maker.sample(fetcher.dataset, None)

    @observes
    def making_many(self, fetcher, indices):
        maker = here.maker
        if maker is not None and maker.open and not _makes_one_by_one(fetcher.dataset):
            maker.many = len(indices)
            if profile.sample_begin(fetcher.dataset):
                maker.traced = True

    @passes
    def made_many(self, samples):
        maker = here.maker
        if maker is not None and maker.open and maker.many is not None:
            profile.sample_end()

    @observes
    def collating(self, fetcher):
        if here.maker is not None and here.maker.open:
            here.maker.collate(fetcher.collate_fn, hasattr(fetcher, "dataset_iter"))

    @passes
    def collated(self, batch):
        if here.maker is not None and here.maker.open:
            here.maker.collated(batch)


_PROBE = _Probe()


def _makes_one_by_one(dataset):
    """torch's Subset over a dataset without `__getitems__`: its own loop is timed instead."""
    kind = type(dataset)
    own = getattr(kind, "__getitems__", None)
    return own in _one_by_one and not hasattr(type(getattr(dataset, "dataset", None)), "__getitems__")


_one_by_one = []


def install_fetch(module):
    collate = ("collate", "self.collate_fn(data)", "collating", "collated", ("self",))
    one = ("sample", "self.dataset[idx]", "making", "made", ("self", "idx"))
    whole = (
        "batch_as_sample",
        "self.dataset[possibly_batched_index]",
        "making",
        "made",
        ("self", "possibly_batched_index"),
    )
    draw = ("sample", "next(self.dataset_iter)", "drawing", "made", ("self",))
    many = (
        "",  # torch before 2.0 has none
        "self.dataset.__getitems__(possibly_batched_index)",
        "making_many",
        "made_many",
        ("self", "possibly_batched_index"),
    )
    context = ("fetching", ("self", "possibly_batched_index"))
    mapped = rewrite.Rules(_PROBE, context=context, around=[one, whole, many, collate])
    iterable = rewrite.Rules(_PROBE, context=context, around=[draw, collate])
    _apply(module, [("_MapDatasetFetcher", "fetch", mapped), ("_IterableDatasetFetcher", "fetch", iterable)])


def install_worker(module):
    get = ("worker_idle", "index_queue.get(*_)", None, "got", ())
    put = ("worker_put", "data_queue.put((idx, _))", None, "put", ())
    failed = ("worker_failure", "ExceptionWrapper(*_)", "failing", None, ())
    rules = rewrite.Rules(_PROBE, context=("working", ("base_seed", "worker_id")), around=[get, put, failed])
    _apply(module, [(None, "_worker_loop", rules)])


def install_dataset(module):
    one = ("sample", "self.dataset[self.indices[idx]]", "making", "made", ("self", "idx"))
    _apply(module, [("Subset", "__getitems__", rewrite.Rules(_PROBE, around=[one]))])
    _one_by_one.extend(function for function, _ in _done if function.__qualname__ == "Subset.__getitems__")


def _apply(module, rules):
    wanted = []
    for owner, name, rule in rules:
        function = vars(getattr(module, owner, object) if owner else module).get(name)
        if hasattr(function, "__code__"):
            wanted.append((function, rule))
        else:
            abi.missing(name if owner is None else owner + "." + name, "this torch has no such function")
    done, problems = rewrite.instrument(module, wanted)
    _done.extend(done)
    for signal, why in problems:
        abi.missing(signal, why)


def uninstall():
    rewrite.restore(_done)
    del _done[:], _one_by_one[:]
