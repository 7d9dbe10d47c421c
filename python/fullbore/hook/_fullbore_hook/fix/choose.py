"""The rule of --fix: from the settings a loader has, the limits of the machine and a probe, to the settings it gets.

Pure: the same numbers give the same choice, so every limit has its test. Whatever is not changed is as informative as
what is: each setting that was looked at comes back with its reason.
"""

import math
from typing import Dict, NamedTuple, Optional, Tuple

# What handing one batch from a worker costs the training process: queue, shared memory, unpickling.
HANDOFF_SECONDS = 0.001
HANDOFF_BYTES_PER_SECOND = 4e9
# A worker process forks in about 20 ms per loader and worker; spawned, it imports the script and torch again.
START_SECONDS = {"fork": 0.1, "spawn": 4.0, "forkserver": 4.0}
# Beyond this one loader's hand-over in the training process is the limit on every machine tried.
MOST_WORKERS = 16
SHM_SHARE = 0.8
MEMORY_SHARE = 0.5
MIB = 1 << 20


class Settings(NamedTuple):
    num_workers: int
    prefetch_factor: Optional[int]
    persistent_workers: bool
    pin_memory: bool
    # No arguments of a DataLoader: what its workers do when they start.
    keep_freed_memory: bool = False
    worker_threads: Optional[int] = None  # for each library, None for what it takes by itself

    def arguments(self):
        """Those that DataLoader has, by name."""
        return dict(zip(ARGUMENTS, self))

    def starting(self):
        return self[len(ARGUMENTS) :]


ARGUMENTS = ("num_workers", "prefetch_factor", "persistent_workers", "pin_memory")


class Limits(NamedTuple):
    """What this rank may use. Bytes and cores are of the whole host: they are divided by `ranks` here."""

    cores: int
    quota: Optional[float] = None
    ranks: int = 1
    shm_free: Optional[int] = None
    memory_available: Optional[int] = None
    cuda: bool = False
    no_cuda: str = "no CUDA device is in use"


class Probe(NamedTuple):
    """What a child process measured on a few samples. Seconds and bytes are per batch."""

    batch_seconds: float
    batch_bytes: int
    cpu_share: float = 1.0
    spread: float = 1.0  # 95th percentile of the samples over their median
    batches: Optional[int] = None  # of one pass
    worker_bytes: int = 64 * MIB  # memory that one worker needs for itself
    start_method: str = "fork"


Reasons = Dict[str, str]


def choose(
    settings: Settings,
    limits: Limits,
    probe: Optional[Probe],
    mode: str = "plain",
    wanted: Optional[Settings] = None,
    movable: str = "",
    persistent: str = "",
    prefetch: str = "",
) -> Tuple[Settings, Reasons]:
    """New settings, and for each setting that was considered why it is as it is.

    `mode`: exact, plain or run (then `wanted` holds what the run recommends). `movable`, `persistent` and `prefetch`
    are reasons not to touch the workers, their persistence and the prefetch depth; empty: nothing speaks against it.
    """
    reasons: Reasons = {}
    chosen = settings
    if mode != "exact":
        chosen = _workers(chosen, limits, probe, wanted, movable, reasons)
        chosen = _persistent(settings, chosen, wanted, persistent, reasons)
        chosen = _starting(settings, chosen, wanted, reasons)
    chosen = _prefetch(settings, chosen, limits, probe, wanted, prefetch, reasons)
    return _pin(chosen, limits, wanted, reasons), reasons


def worker_cap(limits: Limits) -> Tuple[int, str]:
    """Most workers for one loader of this rank, and the limit that sets it."""
    cores, why = float(limits.cores), "%d usable cores" % limits.cores
    if limits.quota is not None and limits.quota < cores:
        cores, why = limits.quota, "a CPU quota of %.1f cores" % limits.quota
    share = max(1, int(cores / limits.ranks + 1e-6))
    if limits.ranks > 1:
        why += " for %d ranks" % limits.ranks
    if share >= 3:
        share, why = share - 1, why + ", one left to the training thread"
    return min(share, MOST_WORKERS), why


def handoff_seconds(probe: Probe) -> float:
    return HANDOFF_SECONDS + probe.batch_bytes / HANDOFF_BYTES_PER_SECOND


def room(workers: int, depth: int, limits: Limits, probe: Probe) -> str:
    """Empty if so many batches and workers fit into shared memory and memory; otherwise what is too small."""
    held = (workers * depth + 2) * probe.batch_bytes  # one more in the user's hands and one on its way there
    if limits.shm_free is not None and held > SHM_SHARE * limits.shm_free / limits.ranks:
        return "%s of batches in flight do not fit into /dev/shm (%s free%s)" % (
            _size(held),
            _size(limits.shm_free),
            _ranks(limits),
        )
    needed = held + workers * probe.worker_bytes
    if limits.memory_available is not None and needed > MEMORY_SHARE * limits.memory_available / limits.ranks:
        return "%s for workers and batches is more than half of the memory available (%s%s)" % (
            _size(needed),
            _size(limits.memory_available),
            _ranks(limits),
        )
    return ""


def _workers(settings, limits, probe, wanted, movable, reasons):
    name = "num_workers"
    cap, cap_why = worker_cap(limits)
    target, why = _target(settings, probe, wanted, cap, cap_why)
    if target == settings.num_workers:
        reasons[name] = why
        return settings
    if movable and target > settings.num_workers:
        reasons[name] = movable
        return settings
    if target > cap:
        most = max(cap, settings.num_workers) if target > settings.num_workers else cap
        target, why = most, "%d recommended, limited by %s" % (target, cap_why)
    if target > settings.num_workers and probe is not None:
        fitting = target
        while fitting > settings.num_workers and room(fitting, 1, limits, probe):
            fitting -= 1
        if fitting < target:
            target, why = fitting, room(fitting + 1, 1, limits, probe)
    reasons[name] = why
    return settings._replace(num_workers=target)


def _target(settings, probe, wanted, cap, cap_why):
    """The number of workers that the work calls for, before memory is looked at."""
    present = settings.num_workers
    if wanted is not None:
        same = wanted.num_workers == present
        return wanted.num_workers, "as that run recommends" if not same else "already as that run recommends"
    if present > 0:
        if present > cap and probe is not None and probe.cpu_share >= 0.7:
            return cap, "%d workers that compute %.0f %% of the time share %s" % (
                present,
                100 * probe.cpu_share,
                cap_why,
            )
        return present, "the script sets it; no reason to change it was found"
    if probe is None:
        return present, "the work of one batch could not be measured"
    handoff = handoff_seconds(probe)
    if probe.batch_seconds < 2 * handoff:
        return present, "a batch takes %s to make and %s to hand over: workers would not be faster" % (
            _time(probe.batch_seconds),
            _time(handoff),
        )
    start = START_SECONDS.get(probe.start_method, 4.0)
    if probe.batches is not None and probe.batch_seconds * probe.batches < 2 * start:
        return present, "a whole pass takes %s, starting workers %s" % (
            _time(probe.batch_seconds * probe.batches),
            _time(start),
        )
    useful = max(1, int(math.ceil(probe.batch_seconds / handoff)))
    enough = min(useful, probe.batches if probe.batches is not None else useful)
    made = "a batch takes %s to make in one process" % _time(probe.batch_seconds)
    return min(enough, cap), "%s; %s" % (made, cap_why if enough >= cap else "more workers than that would not help")


def _persistent(before, chosen, wanted, persistent, reasons):
    name = "persistent_workers"
    if chosen.num_workers == 0:
        return chosen._replace(persistent_workers=False)
    asked = wanted.persistent_workers if wanted is not None else True
    if asked == before.persistent_workers:
        return chosen
    if asked and persistent:
        reasons[name] = persistent
        return chosen
    reasons[name] = "workers are started once, not in every epoch" if asked else "as that run recommends"
    return chosen._replace(persistent_workers=asked)


def _starting(before, chosen, wanted, reasons):
    """What workers do when they start. Those that the script did not ask for cost it no more than they must."""
    if chosen.num_workers == 0:
        return chosen
    if wanted is not None and wanted.keep_freed_memory:
        reasons["keep_freed_memory"] = "as that run recommends"
        chosen = chosen._replace(keep_freed_memory=True)
    elif before.num_workers == 0:
        reasons["keep_freed_memory"] = "a worker would give the memory of each sample back and fetch it again"
        chosen = chosen._replace(keep_freed_memory=True)
    if wanted is not None and wanted.worker_threads is not None:
        reasons["worker_threads"] = "as that run recommends"
        chosen = chosen._replace(worker_threads=wanted.worker_threads)
    return chosen


def _prefetch(before, chosen, limits, probe, wanted, prefetch, reasons):
    name = "prefetch_factor"
    if chosen.num_workers == 0:
        return chosen
    present = before.prefetch_factor if before.num_workers > 0 else None
    if wanted is not None and wanted.prefetch_factor:
        depth, why = wanted.prefetch_factor, "as that run recommends"
    elif present is not None and present >= 2:
        return chosen
    else:
        deep = before.num_workers == 0 and probe is not None and probe.spread >= 4
        depth = 4 if deep else 2
        why = "one sample in twenty takes %.0fx the median" % probe.spread if deep else "two batches ahead per worker"
    if depth == present:
        return chosen
    if prefetch and present is not None:
        reasons[name] = prefetch
        return chosen
    depth, clipped = _fitting_depth(depth, present, chosen.num_workers, limits, probe)
    reasons[name] = clipped or why
    return chosen._replace(prefetch_factor=depth)


def _fitting_depth(depth, present, workers, limits, probe):
    least = present if present is not None else 1
    if probe is None:
        return depth, ""
    clipped = ""
    while depth > least and room(workers, depth, limits, probe):
        clipped = room(workers, depth, limits, probe)
        depth -= 1
    return depth, clipped


def _pin(chosen, limits, wanted, reasons):
    asked = wanted.pin_memory if wanted is not None else True
    if asked == chosen.pin_memory:
        return chosen
    if asked and not limits.cuda:
        reasons["pin_memory"] = limits.no_cuda
        return chosen
    reasons["pin_memory"] = "copies to the GPU start from page-locked memory" if asked else "as that run recommends"
    return chosen._replace(pin_memory=asked)


def _ranks(limits):
    return " for %d ranks" % limits.ranks if limits.ranks > 1 else ""


def _size(count):
    return "%.0f MB" % (count / 1e6) if count < 10e9 else "%.0f GB" % (count / 1e9)


def _time(seconds):
    return "%.1f ms" % (seconds * 1e3) if seconds < 1 else "%.1f s" % seconds
