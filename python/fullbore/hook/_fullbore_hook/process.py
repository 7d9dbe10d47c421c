"""What this process is: written when it becomes known. Also the state of each of its threads, and the parts of the hook
that others provide."""

import os
import sys
import threading
import time

from . import abi, at_fork, emit, environment, fail, forks, is_ours, part, records


class _Absent:
    """Stands for a part that could not be loaded (which is on record): all it is asked is answered with nothing."""

    def __getattr__(self, name):
        return lambda *arguments, **named: 0


profile = part("lines.profile") or _Absent()
fix = (part("fix.apply") if environment.FIX else None) or _Absent()
fix.start(emit.fix)


class _Here(threading.local):
    """Per thread: the loader calls that are running right now, innermost last."""

    iterating = None  # loader._Iterating
    maker = None  # worker.Maker


here = _Here()
_announced = set()


def _forget():
    here.__dict__.clear()
    _announced.clear()


at_fork(_forget)


def uninstall():
    profile.stop()


def announce_trainer():
    if records.TRAINER not in _announced and records.WORKER not in _announced:
        announce(records.TRAINER)


def announce(role, worker=None, base_seed=None):
    """Writes the ProcessRecord, and starts the timing of source lines, which it names."""
    _announced.add(role)
    training = part("training")
    if training is not None:
        # a forked worker has inherited the callback
        (training.watch_collections if role == records.TRAINER else training.ignore_collections)()
    native = sys.modules.get(__package__ + ".native")
    profile.start(emit, role == records.WORKER, wake=native.probes.wake if native is not None else None)
    torch = sys.modules.get("torch")
    tier = profile.tier()
    if not tier:
        abi.missing("lines", profile.why_not() or "not timed in this process")
    abi.write(
        records.process(
            time.monotonic_ns(),
            os.getpid(),
            os.getppid(),
            records.known32(environment.rank()),
            records.known32(environment.local_rank()),
            records.known32(environment.world_size()),
            role,
            records.known32(worker),
            start_method(),
            sys.hexversion,
            0,
            records.known(base_seed),
            abi.name(sys.executable or ""),
            abi.name(sys.argv[0] if getattr(sys, "argv", None) else ""),
            abi.name(str(getattr(torch, "__version__", ""))),
            abi.name(tier or ""),
        )
    )


def start_method():
    """How multiprocessing made this process; 0 for one that it did not make."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is None or multiprocessing.parent_process() is None:
        return 0
    try:
        with open("/proc/self/cmdline", "rb") as file:
            command = file.read()
    except OSError:
        return 0
    if b"multiprocessing.forkserver" in command and forks() == 1:
        return records.FORKSERVER
    return records.FORK if forks() else records.SPAWN


def unless_a_worker_died(failure):
    """Ends the hook for an error of ours. torch tells of a dead worker from a signal handler, which may run while we do:
    with --fix that is passed over here, because next() finds the worker dead once more, where the change is taken back.
    """
    if is_ours(failure) or not fix.active():
        fail(failure)
