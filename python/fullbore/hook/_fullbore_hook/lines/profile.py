"""Line timing of the user's own code, as the rest of the hook calls it.

Every function here is called from torch's loader code in the watched job. None raises: a fault of ours ends the line
timing of this process, is reported by why_not(), and the job goes on.
"""

import sys
import time

from .. import at_fork, is_ours
from . import stages
from .watcher import Watcher

_watcher = None
_why_not = "line timing was not started"
_fork_hooked = False
_FOREVER = 1 << 30


def start(emit, worker=False, clock=time.monotonic_ns, wake=None):
    """Begins line timing in this process; again in a forked child, whose parent's windows end here.

    `emit` has profile(), data_path() and interval(), as the module emit; `worker`: what is made here does not hold up a
    training thread; `clock` returns ns; `wake` is called when the coming iteration must be told of despite next_rest().
    """
    global _watcher, _why_not, _fork_hooked
    try:
        tracer = _watcher.tracer if _watcher is not None else None
        if tracer is not None:
            tracer.forget()
        else:
            tracer, _why_not = make_tracer(clock)
        _watcher = Watcher(emit, tracer, clock, worker, wake) if tracer is not None else None
        if _watcher is not None and not _fork_hooked:
            at_fork(_after_fork)
            _fork_hooked = True
    except Exception as problem:
        _give_up(problem)


def make_tracer(clock):
    """(tracer, "") of this Python, or (None, why not)."""
    if hasattr(sys, "monitoring"):
        from .monitoring import Monitoring

        return Monitoring.acquire(clock)
    from .windows import Windows

    return Windows(clock), ""


def stop():
    """Ends line timing in this process and gives back what it held."""
    global _watcher, _why_not
    watcher, _watcher = _watcher, None
    _why_not = "line timing has ended"
    if watcher is not None:
        try:
            watcher.tracer.close()
        except Exception as problem:
            _give_up(problem)


def tier():
    """"monitoring", "windows", or "" (why_not() says why)."""
    return _watcher.tracer.tier if _watcher is not None else ""


def why_not():
    """Why lines are not timed, or were not at the last attempt; "" when they are."""
    return _why_not if _watcher is None else _watcher.why_not


def next_begin(frame, since_ns=0, skipped=0):
    """next(iterator) begins to wait; `frame` is torch's, or the caller's. True if the iteration that ends here was slowed
    by tracing. It began at `since_ns`; `skipped` iterations before it were not told of, as next_rest() allowed.
    """
    watcher = _watcher
    if watcher is None:
        return False
    try:
        return watcher.next_begin(frame, since_ns, skipped)
    except Exception as problem:
        return bool(_give_up(problem))


def next_rest():
    """So many iterations after the one that has begun need not be told of, unless wake() is called."""
    watcher = _watcher
    if watcher is None:
        return _FOREVER
    try:
        return watcher.next_rest()
    except Exception as problem:
        return int(_give_up(problem))


def next_end(frame):
    """The wait is over: a batch, the end or an error is handed to `frame`."""
    watcher = _watcher
    if watcher is not None:
        try:
            watcher.next_end(frame)
        except Exception as problem:
            _give_up(problem)


def sample_begin(dataset, skipped=0, skipped_ns=0):
    """The dataset is about to be called on this thread; True if the call is slowed by tracing. So many calls before it,
    which took `skipped_ns` together, were not told of, as sample_end() allowed.
    """
    watcher = _watcher
    if watcher is None:
        return False
    try:
        return watcher.call_begin(stages.DATASET, dataset, skipped, skipped_ns)
    except Exception as problem:
        return bool(_give_up(problem))


def sample_end():
    """Returns how many calls of the dataset after this one need not be told of."""
    watcher = _watcher
    if watcher is None:
        return _FOREVER
    try:
        return watcher.call_end(stages.DATASET)
    except Exception as problem:
        return int(_give_up(problem))


def collate_begin(function):
    """The collate function is about to be called on this thread; True if the call is slowed by tracing."""
    watcher = _watcher
    if watcher is None:
        return False
    try:
        return watcher.call_begin(stages.COLLATE_FN, function)
    except Exception as problem:
        return bool(_give_up(problem))


def collate_end():
    watcher = _watcher
    if watcher is not None:
        try:
            watcher.call_end(stages.COLLATE_FN)
        except Exception as problem:
            _give_up(problem)


def flush(loader, force=False):
    """Emits what was timed since the last flush, every 0.5 s; `force` at the end of an iterator."""
    watcher = _watcher
    if watcher is not None:
        try:
            watcher.flush(loader, force)
        except Exception as problem:
            _give_up(problem)


def _give_up(problem):
    global _watcher, _why_not
    if not is_ours(problem):
        raise problem
    watcher, _watcher = _watcher, None
    _why_not = "line timing failed: {}: {}".format(type(problem).__name__, problem)
    if watcher is not None:
        try:
            watcher.tracer.forget()
        except Exception:
            pass
    return False


def _after_fork():
    watcher = _watcher
    if watcher is not None:
        try:
            watcher.forget()
        except Exception as problem:
            _give_up(problem)
