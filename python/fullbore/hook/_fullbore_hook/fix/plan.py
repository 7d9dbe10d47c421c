"""Decides for one loader: gathers what speaks against a change, measures what is needed, applies the rule of choose.py
and knows how to put the decision into a loader and out of it again."""

import ast
import os
import sys
from typing import Any, NamedTuple, Optional

from . import probe
from .against import start_method, why_left_alone
from .choose import START_SECONDS, Limits, Settings, choose, worker_cap
from .started import Started
from .view import CONTEXT, draws_at_start


class Decision(NamedTuple):
    before: Settings
    after: Settings
    reasons: dict
    kept: dict
    context: Any = None  # start method to use instead of the default
    first_batch_seconds: Optional[float] = None

    def apply(self, loader):
        """Past DataLoader.__setattr__, which refuses some names after construction."""
        if self.before != self.after:
            loader.__dict__.update(self.after.arguments())
            if self.before.starting() != self.after.starting():
                loader.__dict__["worker_init_fn"] = Started(self.kept.get("worker_init_fn"), *self.after.starting())
            if self.context is not None:  # chosen only where the script gives none
                loader.__dict__[CONTEXT] = self.context

    def arguments(self, present):
        """What DataLoader.__init__ is to be given instead, of the names that it has here."""
        return {
            name: value
            for name, value in self.after.arguments().items()
            if value != getattr(self.before, name) and name in present
        }

    def put_back(self, loader):
        loader.__dict__.update(self.kept)
        if self.context is not None:
            loader.__dict__[CONTEXT] = None
        if not self.before.persistent_workers:
            loader.__dict__["_iterator"] = None


def decide(view, options, advice=None, failed="", measure=probe.measure):
    """The Decision for this loader. `advice`: settings of a report as text, or None for the rule of this machine;
    `failed`: why workers for such a dataset were taken back before; `measure`: a Work -> Probe or Failed."""
    mode = options.get("mode", "plain")
    limits = limits_here(options, constructing=advice is not None)
    present = view.settings
    wanted = None if advice is None else _parsed(advice, present)
    method, context, movable = start_method(view)
    movable = failed or movable or why_left_alone(view, method)
    measured = None
    if not movable and _needs_probe(present, mode, limits, wanted):
        measured = measure(_work(view, method))
        if isinstance(measured, probe.Failed):
            movable, measured = measured.why, None
    after, reasons = choose(
        present,
        limits,
        measured,
        mode,
        wanted,
        movable,
        persistent=movable,
        prefetch=_why_not_deeper(view, mode, measured, _deeper(present, wanted)),
    )
    if movable and after.num_workers == present.num_workers == 0 and mode != "exact":
        reasons["num_workers"] = movable
    grown = present.num_workers == 0 and after.num_workers > 0
    first = measured.batch_seconds + START_SECONDS.get(method, 4.0) if grown and measured is not None else None
    return Decision(present, after, reasons, view.kept, context if grown else None, first)


def _deeper(present, wanted):
    return wanted is not None and present.num_workers > 0 and (wanted.prefetch_factor or 0) > present.prefetch_factor


def _why_not_deeper(view, mode, measured, deeper):
    if mode == "run" and not deeper:
        return ""
    if mode == "exact" and not draws_at_start(view):
        return "its sampler may draw random numbers batch by batch"
    return "" if measured is not None else "the size of a batch could not be measured"


def limits_here(options, constructing):
    """The limits that the launcher found, narrowed to this process."""
    torch = sys.modules["torch"]
    cores = options.get("usable_cores") or os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = min(cores, len(os.sched_getaffinity(0)))
    cuda, why = _cuda(torch, constructing)
    return Limits(
        cores=cores,
        quota=options.get("quota_cores"),
        ranks=_ranks(),
        shm_free=options.get("shm_free"),
        memory_available=options.get("memory_available"),
        cuda=cuda,
        no_cuda=why,
    )


def _ranks():
    text = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, int(text)) if text.isdigit() else 1


def _cuda(torch, constructing):
    """Whether this process feeds a GPU. By its first iter() it has initialised CUDA; when a loader is constructed it may
    not have, and a device that NVML counts is enough. Nothing here initialises CUDA: it would cost a process that trains
    on the CPU a context, and workers forked later could not use it."""
    cuda, version = getattr(torch, "cuda", None), getattr(torch, "version", None)
    if cuda is not None and cuda.is_initialized():
        return True, ""
    if getattr(version, "cuda", None) is None and getattr(version, "hip", None) is None:
        return False, "this torch is built without CUDA"
    if not constructing:
        return False, "this process does not use CUDA"
    count = getattr(cuda, "_device_count_nvml", None)
    try:
        return (True, "") if count is not None and count() > 0 else (False, "no CUDA device is there")
    except Exception as error:
        return False, "whether a CUDA device is there could not be told (%s)" % one_line(error)


def _needs_probe(present, mode, limits, wanted):
    shallow = present.num_workers > 0 and (present.prefetch_factor or 2) < 2
    if mode == "exact":
        return shallow
    if present.num_workers == 0:
        return wanted is None or wanted.num_workers > 0
    asked = present._replace(persistent_workers=True) if wanted is None else wanted
    more = asked.num_workers > present.num_workers or asked.persistent_workers > present.persistent_workers
    return shallow or more or _deeper(present, wanted) or present.num_workers > worker_cap(limits)[0]


def _work(view, method):
    return probe.Work(
        view.dataset,
        view.iterable,
        view.index_sampler,
        view.batch_size,
        view.collate,
        method,
        (view.dataset, view.collate, view.worker_init),
    )


def _parsed(advice, present):
    """Settings from a report's text; what it does not name stays."""

    def value(name, otherwise):
        text = advice.get(name)
        try:
            return otherwise if text is None else ast.literal_eval(str(text))
        except (ValueError, SyntaxError):
            return otherwise

    workers = int(value("num_workers", present.num_workers))
    return Settings(
        max(1, workers) if present.num_workers > 0 else workers,  # fewer, never none: the script asked for some
        value("prefetch_factor", present.prefetch_factor),
        bool(value("persistent_workers", present.persistent_workers)),
        bool(value("pin_memory", present.pin_memory)),
        bool(value("keep_freed_memory", False)),
        value("worker_threads", None),
    )


def one_line(error):
    """Type and message; of an error that a worker sent, its last line, which is the worker's own type and message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and "Original Traceback" in str(error):
        return lines[-1][:200]
    text = " ".join(lines)
    return "%s: %s" % (type(error).__name__, text[:160]) if text else type(error).__name__


def raised_while_pinning(error):
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith("pin_memory.py"):
            return True
        trace = trace.tb_next
    return False
