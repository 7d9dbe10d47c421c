"""build_optimized_dataloader: settings of a DataLoader that were measured on this machine, and why they are as they are.

The rule, the probe and what forbids workers are those of `fullbore run --fix`. The dataset is touched only in a child
process that makes a few samples and exits: one `dataset[0]` in this process may open a file whose offset all forked
workers would then share.
"""

import json
import math
import os
from typing import Any, Dict, NamedTuple

from torch.utils.data import DataLoader

from .prefetch.devices import open_device
from .prefetch.loader import PrefetchDataLoader
from .watching import _hook
from .workers import keep_freed_memory

AUTO = "auto"
BUDGET_S = 3.0
_SETTINGS = ("num_workers", "prefetch_factor", "persistent_workers", "pin_memory")
# Two cores are kept on machines that can spare them: the thread that launches kernels starves first. On 16 cores 14
# workers fed 1.5 times what 12 did, and 16 half of it.
_CORES_TO_SPARE = 8
_PIN_BYTES = 1 << 20  # below it a copy takes as long as handing a batch to the pinning thread and back


class Choice(NamedTuple):
    settings: Dict[str, Any]
    reasons: Dict[str, str]
    measured: Any  # Probe, or None
    limits: Any
    context: Any
    why_not_measured: str = ""


class OptimizedDataLoader(DataLoader):
    """A DataLoader that knows why it has its settings."""

    def explain(self):
        """Text: each setting with its reason, what was measured and the limits that held."""
        return _explanation(self.__dict__["_fullbore_choice"])


def build_optimized_dataloader(
    dataset,
    batch_size=128,
    *,
    num_workers=AUTO,
    shuffle=None,
    drop_last=False,
    pin_memory=AUTO,
    persistent_workers=AUTO,
    prefetch_factor=AUTO,
    device=None,
    budget=BUDGET_S,
    cache=None,
    **keywords,
):
    """A DataLoader over `dataset` whose settings fit its samples and this machine; loader.explain() says why.

    Measures a few batches in a child process, within `budget` seconds, and chooses workers within the cores that this
    process may use (affinity, quota, shared by LOCAL_WORLD_SIZE ranks), its memory and /dev/shm; one or two cores stay with
    the training thread. Workers keep the memory that they free (fullbore.keep_freed_memory), unless a worker_init_fn is
    given. Whatever is given instead of "auto" is taken as it is. A dataset that holds open files, sockets or
    random generators gets no workers, with the reason.

    batch_size, shuffle, drop_last and further keywords (sampler, batch_sampler, collate_fn, generator, ...): as in torch.
    device: where batches are wanted; the loader is then wrapped in PrefetchDataLoader(loader, device). None: a DataLoader.
    budget: seconds for measuring, more than 0. Starting the child comes on top.
    cache: file that keeps what was measured, by dataset class, length and batch size, for the next start; the choice is
        made anew from it, as limits may have changed. It is not looked at whether samples themselves have changed.

    Measured times are rounded to steps of a factor of 1.41, so that the same inputs give the same choice unless a time lies
    at the edge of a step. Raises ValueError for a budget that is not positive, and what DataLoader raises.
    """
    if not budget > 0:
        raise ValueError("budget is a number of seconds above 0, not %r" % (budget,))
    pinned = {
        name: value
        for name, value in zip(_SETTINGS, (num_workers, prefetch_factor, persistent_workers, pin_memory))
        if not (isinstance(value, str) and value == AUTO)
    }
    arguments = dict(keywords, dataset=dataset, drop_last=drop_last)
    if "batch_sampler" in keywords:
        batch_size, shuffle, drop_last = 1, None, False
    arguments["batch_size"] = batch_size
    target = None if device is None else open_device(device)
    choice = _choose(arguments, pinned, target, device is not None, budget, cache)
    settings = dict(choice.settings)
    if choice.context is not None and "multiprocessing_context" not in keywords:
        settings["multiprocessing_context"] = choice.context
    if settings["num_workers"] > 0 and keywords.get("worker_init_fn") is None:
        keywords["worker_init_fn"] = keep_freed_memory
    if settings["num_workers"] == 0:
        for name in ("prefetch_factor", "multiprocessing_context"):
            if name not in pinned:
                settings.pop(name, None)
    loader = OptimizedDataLoader(
        dataset, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last, **settings, **keywords
    )
    loader.__dict__["_fullbore_choice"] = choice
    return loader if device is None else PrefetchDataLoader(loader, device)


def _choose(arguments, pinned, target, prefetched, budget, cache):
    _hook()
    from _fullbore_hook.fix import against, choose, plan, probe, view

    seen = view.from_arguments(arguments)
    method, context, movable = against.start_method(seen)
    movable = movable or against.why_left_alone(seen, method)
    limits = _limits(choose, target is not None)
    workers_given = pinned.get("num_workers")
    measured, why = None, movable
    if not movable and workers_given != 0:
        measured = _measured(plan._work(seen, method), probe, budget, cache)
        if isinstance(measured, probe.Failed):
            measured, why = None, measured.why
    # A depth of one where workers are given, so that the rule looks for the depth that fits.
    present = choose.Settings(workers_given or 0, 1 if workers_given else None, False, False)
    steady = _rounded(measured) if measured is not None else None
    after, reasons = choose.choose(present, limits, steady, movable=why if workers_given is None else "given", persistent=why)
    settings = after.arguments()
    if workers_given is None:
        _spare_two_cores(settings, reasons, limits)
        if why and not settings["num_workers"]:
            reasons["num_workers"] = why
    else:
        settings["num_workers"] = workers_given
    settings["pin_memory"], reasons["pin_memory"] = _pinning(steady, target is not None, prefetched)
    for name, value in pinned.items():
        settings[name], reasons[name] = value, "given"
    return Choice(settings, reasons, measured, limits, context, why)


def _spare_two_cores(settings, reasons, limits):
    cores = min(limits.cores, limits.quota or limits.cores) / limits.ranks
    most = max(1, int(cores) - 2)
    if cores >= _CORES_TO_SPARE and settings["num_workers"] > most:
        settings["num_workers"] = most
        reasons["num_workers"] += "; two cores are left to the thread that launches kernels and to the copies"


def _pinning(measured, cuda, prefetched):
    if prefetched:
        return False, "the transfer engine stages batches itself, without a thread of Python" if cuda else "no CUDA device"
    import torch

    if torch.cuda.device_count() == 0:
        return False, "there is no CUDA device"
    if measured is None:
        return True, "copies to a GPU start from page-locked memory; the size of a batch is not known"
    if measured.batch_bytes < _PIN_BYTES:
        return False, "a batch of %d kB is copied as fast from pageable memory" % (measured.batch_bytes // 1000)
    return True, "a batch of %.1f MB goes to a GPU faster from page-locked memory" % (measured.batch_bytes / 1e6)


def _limits(choose, cuda):
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    ranks = max(1, int(ranks)) if ranks.isdigit() else 1
    try:
        from ._core import read_limits
    except ImportError:
        # Without the extension control groups are not read; the affinity is what torch itself goes by.
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return choose.Limits(cores=cores, ranks=ranks, cuda=cuda)
    found = read_limits()
    cores = max(1, min(found.affinity_cores, math.ceil(found.usable_cores)))
    return choose.Limits(
        cores=cores,
        quota=found.quota_cores,
        ranks=ranks,
        shm_free=found.shm_free,
        memory_available=found.memory_available,
        cuda=cuda,
    )


def _measured(work, probe, budget, cache):
    key = "%s.%s %s %s" % (type(work.dataset).__module__, type(work.dataset).__qualname__, _length(work), work.batch_size)
    kept = _read_cache(cache)
    if key in kept:
        return probe.Probe(**kept[key])
    measured = probe.measure(work, limit=budget)
    if cache is not None and isinstance(measured, probe.Probe):
        kept[key] = measured._asdict()
        _write_cache(cache, kept)
    return measured


def _length(work):
    return None if work.iterable else len(work.dataset)


def _read_cache(path):
    try:
        with open(path) as file:
            kept = json.load(file)
        return kept if isinstance(kept, dict) else {}
    except (OSError, ValueError, TypeError):
        return {}


def _write_cache(path, kept):
    aside = "%s.%d" % (path, os.getpid())  # several ranks may write at once
    with open(aside, "w") as file:
        json.dump(kept, file, indent=1)
    os.replace(aside, path)


def _rounded(measured):
    """Times in steps of a factor of 1.41: two measurements of one dataset differ by less, mostly."""
    seconds = max(measured.batch_seconds, 1e-6)
    return measured._replace(batch_seconds=2 ** (round(2 * math.log2(seconds)) / 2), spread=float(round(measured.spread)))


def _explanation(choice):
    lines = []
    for name in _SETTINGS:
        value = choice.settings.get(name)
        if name in ("prefetch_factor", "persistent_workers") and choice.settings["num_workers"] == 0:
            continue
        lines.append("%-20s %-6s %s" % (name, value, choice.reasons.get(name, "as torch has it")))
    measured, limits = choice.measured, choice.limits
    if measured is None:
        lines.append("not measured: %s" % (choice.why_not_measured or "num_workers=0 was given"))
    else:
        lines.append(
            "measured in a child process: a batch takes %.1f ms to make (%.0f %% on a CPU), holds %.2f MB; one sample in "
            "twenty takes %.1f times the median" % (measured.batch_seconds * 1e3, measured.cpu_share * 100,
                                                    measured.batch_bytes / 1e6, measured.spread)  # fmt: skip
        )
    lines.append(
        "limits: %d cores%s%s, /dev/shm %s free, memory %s available"
        % (
            limits.cores,
            "" if limits.quota is None else ", a quota of %.1f" % limits.quota,
            "" if limits.ranks == 1 else " for %d ranks" % limits.ranks,
            _size(limits.shm_free),
            _size(limits.memory_available),
        )
    )
    return "\n".join(lines)


def _size(count):
    return "not known" if count is None else "%.1f GB" % (count / 1e9)
