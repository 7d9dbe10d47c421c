"""PrefetchDataLoader: wraps a loader in one line and is it in everything else."""

import os
import weakref

from torch.utils.data import DataLoader, default_collate

from .devices import open_device
from .iterators import Background, Drawing, InThread, close_at_exit
from .transport import Passing, Transport


class PrefetchDataLoader:
    """Hands out the batches of `loader` on `device`, copying the next ones while the present one is used.

        for batch in fullbore.PrefetchDataLoader(loader, "cuda"): ...

    loader: a torch DataLoader, or any iterable of batches. Tensors are found in nested lists, tuples, mappings and data
        classes; an object with a `.to` is moved by it; everything else is handed through. Tensors on the device stay.
    device: a CUDA device ("cuda", "cuda:1", 1, torch.device). "cpu", and any CUDA device on a machine without one: batches
        pass through, so that one script serves both.
    depth: batches drawn ahead in the background (>= 1). At most depth + 1 batches are drawn past the one handed out. In
        the calling thread it is one, whatever the depth.
    with_timing: yields (batch, BatchTiming) instead of batch.
    background: whether a thread calls `next` on the loader. None: if the loader has workers, because then next() only
        waits. True with num_workers=0: samples are made in that thread, beside the training thread; they then draw from
        the random states of Python, NumPy and torch in an order that varies from run to run, and compete for the GIL.

    len(), attributes, set_epoch(), state_dict() and load_state_dict() are the loader's; the state is that after the batch
    that was handed out last, not after the last one drawn. A loader with persistent workers or a state, and one that is its
    own iterator, has one pass at a time: a new one ends the one before. Exceptions of the loader come after the batches
    before them, with their type and traceback.

    close() gives threads and page-locked memory (64 MiB) back; the next iter() takes them again. Also a context manager.
    Raises ValueError for a device that does not exist or a depth below 1, RuntimeError if a copy fails or no memory can be
    page-locked, TypeError when pickled.
    """

    def __init__(self, loader, device, depth=2, with_timing=False, background=None):
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise ValueError("depth is a number of batches ahead, 1 or more, not %r" % (depth,))
        own = self.__dict__
        own["_loader"] = loader
        own["_device"] = open_device(device)
        own["_depth"] = depth
        own["_with_timing"] = bool(with_timing)
        own["_background"] = background
        own["_transport"] = None
        own["_state"] = _State(loader)
        own["_passes"] = weakref.WeakSet()
        own["_threads"] = weakref.WeakSet()
        own["_pid"] = os.getpid()

    def __iter__(self):
        self._refuse_fork()
        if self._one_pass_at_a_time():
            self._end_passes("this pass was ended by a new one: the loader has one iterator at a time", wait=True)
        # Workers are forked here, before any thread of ours exists or CUDA is initialised by us.
        inner = iter(self._loader)
        transport = self._open()
        self._state.begun()
        workers = (getattr(self._loader, "num_workers", 0) or 0) > 0
        drawing = Drawing(inner, transport, self._state.snapshot, _never_overwrites(self._loader, workers))
        common = (drawing, transport, self._with_timing, self._state)
        if self._in_background(workers):
            one = Background(*common, depth=self._depth)
            self._threads.add(one.thread)
        else:
            one = InThread(*common, ahead=self._device is not None)
        self._passes.add(one)
        return one

    def __len__(self):
        return len(self._loader)

    def __bool__(self):
        return True if not hasattr(type(self._loader), "__len__") else bool(self._loader)

    def stats(self):
        """Sums since the loader was made or closed: batches, wait_ms, and of those whose copy is complete copied_batches,
        bytes, pageable_bytes, stage_ms, slot_wait_ms, queue_ms, h2d_ms, h2d_ms_per_batch, h2d_gb_per_s; slots and, if
        fewer could be locked than wanted, shortfall with the reason. None: not measured."""
        transport = self._transport
        if transport is None:
            return {**Passing().totals.as_dict(), "slots": None, "shortfall": None}
        transport.settle()
        return {**transport.totals.as_dict(), "slots": transport.slots, "shortfall": transport.shortfall or None}

    def close(self):
        """Ends passes under way and gives threads and memory back. The loader can be iterated again."""
        if os.getpid() != self._pid:
            return
        self._end_passes("the loader was closed")
        transport, self.__dict__["_transport"] = self._transport, None
        if transport is not None:
            transport.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce_ex__(self, protocol):
        raise TypeError(
            "a PrefetchDataLoader cannot be pickled or copied: its threads and page-locked memory belong to this process; "
            "send the wrapped loader and wrap it there"
        )

    def __getattr__(self, name):
        if "_loader" not in self.__dict__ or name.startswith("__"):
            raise AttributeError(name)
        if name == "set_epoch":
            takers = _with_set_epoch(self._loader)
            if takers:
                return lambda epoch: [taker.set_epoch(epoch) for taker in takers] and None
        value = getattr(self._loader, name)
        if name == "state_dict":
            return self._state.state_dict
        if name == "load_state_dict":
            return self._load_state_dict
        return value

    def __setattr__(self, name, value):
        setattr(self._loader, name, value)

    def __repr__(self):
        return "PrefetchDataLoader(%r, device=%s, depth=%d)" % (
            self._loader,
            "cpu" if self._device is None else getattr(self._device, "device", self._device),
            self._depth,
        )

    def _load_state_dict(self, state):
        self._end_passes("this pass was ended by load_state_dict()", wait=True)
        self._state.finished()
        return self._loader.load_state_dict(state)

    def _open(self):
        if self._transport is None:
            transport = Passing() if self._device is None else Transport(self._device)
            if self._device is not None:
                close_at_exit(transport)
            self.__dict__["_transport"] = transport
        return self._transport

    def _end_passes(self, why, wait=False):
        """`wait`: the loader's one iterator is about to be reset, so nobody may be inside it."""
        for one in list(self._passes):
            one.close(why)
        self._passes.clear()
        if self._one_pass_at_a_time() and wait:
            for thread in list(self._threads):  # of passes that were dropped, too
                thread.join()

    def _one_pass_at_a_time(self):
        kept = getattr(self._loader, "persistent_workers", False) or self._state.exists
        return bool(kept) or hasattr(type(self._loader), "__next__")

    def _in_background(self, workers):
        if self._background is not None:
            return bool(self._background)
        # accelerate's dispatcher broadcasts in next(): from another thread this would cross the training's collectives.
        return workers and self._device is not None and type(self._loader).__name__ != "DataLoaderDispatcher"

    def _refuse_fork(self):
        if self._transport is not None and self._device is not None and os.getpid() != self._pid:
            raise RuntimeError(
                "this PrefetchDataLoader was used in process %d and does not work in a child forked from it, as CUDA does "
                "not; make it in the child, or start the child with multiprocessing.get_context('spawn')" % self._pid
            )


class _State:
    """The loader's state after the batch that was handed out last, for loaders that have one."""

    def __init__(self, loader):
        self._loader = loader
        self.exists = _has_state(loader)
        self._passing = False
        self._last = None

    def begun(self):
        self._passing = self.exists
        self._last = self.snapshot()

    def snapshot(self):
        return self._loader.state_dict() if self.exists else None

    def yielded(self, state):
        self._last = state

    def finished(self):
        self._passing, self._last = False, None

    def state_dict(self):
        return self._last if self._passing else self._loader.state_dict()


def _has_state(loader):
    """accelerate's loaders have the methods always, and the state only if they were asked to keep one."""
    if not getattr(loader, "use_stateful_dataloader", True):
        return False
    return callable(getattr(loader, "state_dict", None)) and callable(getattr(loader, "load_state_dict", None))


def _with_set_epoch(loader):
    if callable(getattr(loader, "set_epoch", None)):
        return [loader]
    batch_sampler = getattr(loader, "batch_sampler", None)
    found = []
    for one in (getattr(loader, name, None) for name in ("sampler", "batch_sampler", "dataset")):
        found.append(one)
    found.append(getattr(batch_sampler, "sampler", None))
    takers = []
    for one in found:
        if callable(getattr(one, "set_epoch", None)) and all(one is not other for other in takers):
            takers.append(one)
    return takers


def _never_overwrites(loader, workers):
    """True if the loader certainly does not write into a batch that it gave before: then the next one is drawn without
    waiting until the last was read. A reader with a buffer of its own, or a collate function with one, does."""
    if isinstance(loader, (list, tuple)) or getattr(loader, "gives_fresh_memory", False):
        return True
    if not isinstance(loader, DataLoader):
        return False
    return workers or loader.pin_memory or loader.collate_fn is default_collate
