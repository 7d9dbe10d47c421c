"""Measures what one batch costs, in a child process that makes a few samples and exits.

Never in the training process: one `dataset[0]` there may open a file whose offset all forked workers then share. The
child's output is thrown away, its random draws and everything it opens end with it, and it is killed at the limit.
"""

import contextlib
import itertools
import json
import os
import re
import resource
import select
import signal
import sys
import time
import warnings
from typing import Any, NamedTuple, Optional

from . import snapshot
from .choose import MIB, Probe

LIMIT_SECONDS = 2.0
_SAMPLING_SECONDS = 1.2
_BATCHES = 3
# Cheap samples go on up to here: of three batches of 20 us a single turn of another program makes milliseconds.
_LEAST_SECONDS = 0.05
_MOST_BATCHES = 200
# A worker started afresh imports the script, torch (224 MB for the CPU build) and what the dataset needs.
_FRESH_WORKER_BYTES = 300 * MIB
_FORKED_WORKER_BYTES = 64 * MIB


class Work(NamedTuple):
    """What a loader does for one batch."""

    dataset: Any
    iterable: bool
    indices: Any  # a sampler to ask; None: draw from range(len(dataset))
    batch_size: Optional[int]  # None: `indices` yields whole batches, otherwise single indices
    collate: Any
    start_method: str
    sent: tuple = ()  # what a spawned worker receives by pickle


class Failed(NamedTuple):
    why: str


def measure(work, limit=LIMIT_SECONDS):
    """A Probe, or Failed with the reason. Blocks for at most `limit` seconds; leaves no process behind."""
    try:
        answers = _in_child(work, limit)
    except Exception as error:
        return Failed("no child process could be started to measure the dataset (%s)" % error)
    result = {}
    for line in answers.splitlines():
        with contextlib.suppress(ValueError):
            result.update(json.loads(line))
    return _judge(result, work, limit)


def _judge(result, work, limit):
    if result.get("error"):
        return Failed(result["error"])
    if not result.get("samples"):
        return Failed("no sample was ready within %.1f s in a child process" % limit)
    if result.get("changed"):
        return Failed("making samples changes %s, which workers would not share" % ", ".join(result["changed"][:3]))
    if work.start_method != "fork" and "pickled" not in result:
        return Failed("sending the dataset to a worker takes more than %.1f s" % limit)
    size = result.get("batch_size") or 1
    fresh = work.start_method != "fork"
    own = _FRESH_WORKER_BYTES + result.get("pickled", 0) if fresh else _FORKED_WORKER_BYTES + 2 * result.get("own", 0)
    return Probe(
        batch_seconds=result["mean"] * size + result.get("collate", 0.0),
        batch_bytes=int(result.get("bytes", 0)),
        cpu_share=result.get("cpu_share", 1.0),
        spread=result.get("spread", 1.0),
        batches=result.get("batches"),
        worker_bytes=own,
        start_method=work.start_method,
    )


def _in_child(work, limit):
    deadline = time.monotonic() + limit
    reader, writer = os.pipe()
    with _quiet_fork():
        pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            _child(work, writer, limit)
        finally:
            os._exit(0)
    os.close(writer)
    chunks = []
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([reader], [], [], left)[0]:
                break
            chunk = os.read(reader, 65536)
            if not chunk:
                break
            chunks.append(chunk)
    finally:
        os.close(reader)
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):  # a SIGCHLD handler of the job may have reaped it
            os.waitpid(pid, 0)
    return b"".join(chunks).decode("utf-8", "replace")


@contextlib.contextmanager
def _quiet_fork():
    """Python 3.12+ warns of threads at fork. A filter for this module alone, put in and taken out by hand: the
    functions of `warnings` would make every warning of the job that was already shown be shown again."""
    rule = ("ignore", None, DeprecationWarning, re.compile(re.escape(__name__) + "$"), 0)
    warnings.filters.insert(0, rule)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            warnings.filters.remove(rule)


def _child(work, writer, limit):
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limit + 1)  # ends it even when the parent is gone
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)

    def say(**facts):
        os.write(writer, (json.dumps(facts) + "\n").encode())

    try:
        getattr(sys.modules["torch"], "set_num_threads", int)(1)  # as a loader worker does
        _sample(work, say)
        if work.start_method != "fork":
            say(pickled=_pickled_bytes(work.sent))
    except BaseException as error:
        say(error="in a child process, %s raised %s" % (_stage(error), _one_line(error)))


def _stage(error):
    return "sending the dataset to a worker" if getattr(error, "_while_pickling", False) else "making a sample"


def _one_line(error):
    text = " ".join(str(error).split())
    return "%s: %s" % (type(error).__name__, text[:160]) if text else type(error).__name__


def _sample(work, say):
    before = snapshot.snapshot(work.dataset)
    own = _own_bytes()
    walls, cpu, made, size = [], 0.0, [], work.batch_size
    begin = said = time.monotonic()
    for number, batch in enumerate(_batches(work)):
        if number >= _BATCHES and time.monotonic() - begin > _LEAST_SECONDS:
            break
        size = size or len(batch)
        for make in _makers(work, batch):
            cpu -= time.thread_time()
            start = time.monotonic()
            samples = make()
            now = time.monotonic()
            cpu += time.thread_time()
            walls.extend([(now - start) / max(1, len(samples))] * len(samples))
            made = (made + samples)[-size:]
            if now - said > 0.05:
                said = now
                say(samples=len(walls), mean=sum(walls) / len(walls), batch_size=size)
            if now - begin > _SAMPLING_SECONDS:
                break
        if time.monotonic() - begin > _SAMPLING_SECONDS:
            break
    if not walls:
        say(error="the dataset gave no sample")
        return
    ordered = sorted(walls)
    middle = max(ordered[len(walls) // 2], 1e-9)
    say(
        samples=len(walls),
        mean=sum(walls) / len(walls),
        batch_size=size,
        spread=ordered[len(walls) * 95 // 100] / middle,
        cpu_share=min(1.0, cpu / max(sum(walls), 1e-9)),
        batches=_pass_length(work),
        changed=snapshot.changes(before, snapshot.snapshot(work.dataset)),
    )
    batch, collate = _collated(work, made)
    scale = size / float(len(made))
    say(collate=collate * scale, bytes=tensor_bytes(batch) * scale, own=_own_bytes() - own)


def _collated(work, made):
    """The batch and the least seconds of a few tries: the first also imports and fills tables."""
    tries, begin = [], time.monotonic()
    while not tries or (len(tries) < _BATCHES and time.monotonic() - begin < _LEAST_SECONDS):
        start = time.monotonic()
        batch = work.collate(made)
        tries.append(time.monotonic() - start)
    return batch, min(tries)


def _batches(work):
    """Lists of indices of the first batches, as many as are asked for; for an iterable dataset lists of None."""
    if work.iterable:
        for _ in range(_MOST_BATCHES):
            yield [None] * work.batch_size
    elif work.indices is None:
        import random

        draw = random.Random(os.urandom(8))
        length = len(work.dataset)
        for _ in range(_MOST_BATCHES):
            yield [draw.randrange(length) for _ in range(min(work.batch_size, length))]
    else:
        drawn = iter(work.indices)
        for _ in range(_MOST_BATCHES):
            batch = list(next(drawn, ())) if work.batch_size is None else list(itertools.islice(drawn, work.batch_size))
            if batch:
                yield batch


def _makers(work, batch):
    """Functions that make one or more samples each, the way torch's fetchers do."""
    dataset = work.dataset
    if work.iterable:
        samples = iter(dataset)
        return (lambda: [sample for _, sample in zip(range(1), samples)] for _ in batch)
    if callable(getattr(dataset, "__getitems__", None)):
        return [lambda: list(dataset.__getitems__(batch))]
    return ((lambda index=index: [dataset[index]]) for index in batch)


def _pass_length(work):
    try:
        if work.indices is not None and work.batch_size is None:
            return len(work.indices)
        return -(-len(work.dataset if work.indices is None else work.indices) // work.batch_size)
    except Exception:
        return None


def tensor_bytes(batch, depth=6):
    """Bytes of the tensors and arrays in a batch of nested lists, tuples and mappings."""
    if hasattr(batch, "element_size") and hasattr(batch, "nelement"):
        return batch.element_size() * batch.nelement()
    if hasattr(batch, "nbytes") and isinstance(batch.nbytes, int):
        return batch.nbytes
    if depth == 0:
        return 0
    if isinstance(batch, dict) or hasattr(batch, "values") and callable(batch.values):
        return sum(tensor_bytes(value, depth - 1) for value in batch.values())
    if isinstance(batch, (list, tuple)):
        return sum(tensor_bytes(value, depth - 1) for value in batch)
    return len(batch) if isinstance(batch, (str, bytes)) else 0


def _own_bytes():
    """Memory that this process copied or allocated for itself since the fork, from its page faults: what a forked
    worker adds to the machine. /proc/self/smaps_rollup would walk all pages of a large parent."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt * resource.getpagesize()


class _Counter:
    """A file that keeps nothing but the number of bytes written to it."""

    def __init__(self):
        self.count = 0

    def write(self, data):
        self.count += len(data)
        return len(data)


def _pickled_bytes(sent):
    import pickle

    counter = _Counter()
    try:
        pickle.Pickler(counter, pickle.HIGHEST_PROTOCOL).dump(sent)
    except Exception as error:
        error._while_pickling = True
        raise
    return counter.count
