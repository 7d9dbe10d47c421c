"""Decides for one loader: gathers what speaks against a change, measures what is needed, applies the rule of choose.py
and knows how to put the decision into a loader and out of it again."""
import ast
import multiprocessing
import os
import sys
import threading
from typing import Any, NamedTuple, Optional

from . import handles, probe, snapshot
from .choose import Limits, Settings, choose, worker_cap, START_SECONDS

_CONTEXT = "_DataLoader__multiprocessing_context"
# Samplers that draw all their random numbers when they are started: looking further ahead changes no draw.
_PRIVATE_INDICES = ("SequentialSampler", "RandomSampler", "DistributedSampler", "_InfiniteConstantSampler")


class View(NamedTuple):
    """A loader as --fix sees it, before or after its construction."""
    settings: Settings
    dataset: Any
    iterable: bool
    index_sampler: Any
    batch_size: Optional[int]
    auto_collation: bool
    drop_last: bool
    collate: Any
    worker_init: Any
    context: Any
    loader_type: Any
    kept: dict                # attributes that put_back() writes again


class Decision(NamedTuple):
    before: Settings
    after: Settings
    reasons: dict
    kept: dict
    context: Any = None       # start method to use instead of the default
    first_batch_seconds: Optional[float] = None

    def apply(self, loader):
        """Past DataLoader.__setattr__, which refuses some names after construction."""
        if self.before != self.after:
            loader.__dict__.update(self.after._asdict())
            if self.context is not None:
                loader.__dict__[_CONTEXT] = self.context

    def arguments(self, present):
        """What DataLoader.__init__ is to be given instead, of the names that it has here."""
        return {name: value for name, value in self.after._asdict().items()
                if value != getattr(self.before, name) and name in present}

    def put_back(self, loader):
        loader.__dict__.update(self.kept)
        if not self.before.persistent_workers:
            loader.__dict__["_iterator"] = None


def from_loader(loader):
    index_sampler, batch_size = _indices(loader.batch_sampler, loader.sampler, loader.batch_size)
    names = ("num_workers", "prefetch_factor", "persistent_workers", "pin_memory", _CONTEXT)
    return View(
        settings=_settings(loader.num_workers, loader.prefetch_factor, loader.persistent_workers, loader.pin_memory),
        dataset=loader.dataset, iterable=_is_iterable(loader.dataset), index_sampler=index_sampler,
        batch_size=batch_size, auto_collation=loader.batch_sampler is not None or loader.batch_size is not None,
        drop_last=loader.drop_last, collate=loader.collate_fn, worker_init=loader.worker_init_fn,
        context=loader.__dict__.get(_CONTEXT), loader_type=type(loader),
        kept={name: loader.__dict__[name] for name in names if name in loader.__dict__})


def from_arguments(arguments):
    get = arguments.get
    workers, prefetch = get("num_workers", 0), get("prefetch_factor")
    settings = _settings(workers, prefetch, get("persistent_workers", False), get("pin_memory", False))
    kept = settings._asdict()
    kept["prefetch_factor"] = prefetch if workers == 0 else settings.prefetch_factor
    kept[_CONTEXT] = get("multiprocessing_context")
    whole = get("batch_sampler") is not None
    given = None if whole else get("batch_size", 1)
    index_sampler, batch_size = _indices(get("batch_sampler"), get("sampler"), given)
    return View(settings=settings, dataset=get("dataset"), iterable=_is_iterable(get("dataset")),
                index_sampler=index_sampler, batch_size=batch_size,
                auto_collation=whole or given is not None, drop_last=get("drop_last", False),
                collate=get("collate_fn") or _default_collate(), worker_init=get("worker_init_fn"),
                context=get("multiprocessing_context"), loader_type=type(get("self")) if "self" in arguments else None, kept=kept)


def _settings(workers, prefetch, persistent, pin):
    depth = None if workers == 0 else 2 if prefetch is None else prefetch
    return Settings(int(workers), depth, bool(persistent), bool(pin))


def decide(view, options, advice):
    """The Decision for this loader. `advice`: settings of a report as text, or None for the rule of this machine."""
    mode = options.get("mode", "plain")
    limits = limits_here(options)
    wanted = None if advice is None else _parsed(advice, view.settings)
    method, context, movable = _start_method(view)
    movable = movable or _why_left_alone(view, method)
    measured = None
    if _needs_probe(view.settings, mode, limits, movable, wanted):
        measured = probe.measure(_work(view, method))
        if isinstance(measured, probe.Failed):
            movable, measured = measured.why, None
    ahead = "" if _draws_at_start(view) or mode != "exact" else "its sampler may draw random numbers batch by batch"
    after, reasons = choose(view.settings, limits, measured, mode, wanted, movable, prefetch=ahead)
    if movable and after.num_workers == view.settings.num_workers == 0:
        reasons["num_workers"] = movable
    grown = view.settings.num_workers == 0 and after.num_workers > 0
    return Decision(view.settings, after, reasons, view.kept, context if grown else None,
                    _first_batch_seconds(measured, method) if grown else None)


def limits_here(options):
    """The limits that the launcher found, narrowed to this process."""
    torch = sys.modules["torch"]
    cores = options.get("usable_cores") or os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = min(cores, len(os.sched_getaffinity(0)))
    cuda, why = _cuda(torch)
    return Limits(cores=cores, quota=options.get("quota_cores"), ranks=_ranks(),
                  shm_free=options.get("shm_free"), memory_available=options.get("memory_available"),
                  cuda=cuda, no_cuda=why)


def _ranks():
    text = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, int(text)) if text.isdigit() else 1


def _cuda(torch):
    """Whether pages can be locked for a GPU, without initialising CUDA (workers forked after that cannot use it)."""
    if torch.cuda.is_initialized():
        return True, ""
    if getattr(torch.version, "cuda", None) is None and getattr(torch.version, "hip", None) is None:
        return False, "this torch is built without CUDA"
    count = getattr(torch.cuda, "_device_count_nvml", None)
    try:
        return (True, "") if count is not None and count() > 0 else (False, "no CUDA device is in use")
    except Exception as error:
        return False, "whether a CUDA device is there could not be told (%s)" % one_line(error)


def _needs_probe(settings, mode, limits, movable, wanted):
    if mode == "exact":
        return settings.num_workers > 0 and (settings.prefetch_factor or 2) < 2
    if movable:
        return False
    if settings.num_workers == 0:
        return wanted is None or wanted.num_workers > 0
    return settings.num_workers > worker_cap(limits)[0] or (wanted or settings).num_workers > settings.num_workers


def _work(view, method):
    return probe.Work(view.dataset, view.iterable, view.index_sampler, view.batch_size, view.collate, method,
                      (view.dataset, view.collate, view.worker_init))


def _first_batch_seconds(measured, method):
    return None if measured is None else measured.batch_seconds + START_SECONDS.get(method, 4.0)


def _parsed(advice, present):
    """Settings from a report's text; what it does not name stays."""
    def value(name, otherwise):
        text = advice.get(name)
        try:
            return otherwise if text is None else ast.literal_eval(str(text))
        except (ValueError, SyntaxError):
            return otherwise
    workers = value("num_workers", present.num_workers)
    return Settings(int(workers), value("prefetch_factor", present.prefetch_factor),
                    bool(value("persistent_workers", present.persistent_workers)),
                    bool(value("pin_memory", present.pin_memory)))


# What speaks against more workers

def _why_left_alone(view, method):
    data = sys.modules["torch.utils.data"]
    if multiprocessing.current_process().daemon:
        return "this process is daemonic and may not start workers"
    if view.loader_type is not None and _own_iterators(view.loader_type, data.DataLoader):
        return "%s makes iterators of its own kind" % view.loader_type.__name__
    if not view.auto_collation:
        return "batch_size=None: the dataset makes the batches itself"
    pipe = _datapipe(view.dataset)
    if pipe:
        return pipe
    if view.iterable:
        why = _why_iterable(view)
        if why:
            return why
    if method != "fork" and _in_unreachable_main(view):
        return "the dataset is defined in a program that a worker started by %s cannot import" % method
    parts = ((view.dataset, "dataset"), (view.collate, "collate_fn"), (view.worker_init, "worker_init_fn"))
    for part, name in parts:
        why = handles.why_not_shared(part, name) if part is not None else None
        if why:
            return why
    return _why_sampler(view.index_sampler)


def _why_iterable(view):
    if not handles.shards_itself(view.dataset):
        return "an iterable dataset that does not share its samples out between workers: each would give all of them"
    if view.drop_last:
        return "drop_last with an iterable dataset: every worker would drop its own last batch"
    if any("__len__" in vars(cls) for cls in type(view.dataset).__mro__):
        return "an iterable dataset with a length: the number of batches would differ from len(loader)"
    return ""


def _why_sampler(sampler):
    for path, node in handles.walk(sampler, "sampler") if sampler is not None else ():
        what = None if handles.is_random_generator(node) else handles.describe(node)
        if what is not None:
            return "%s is %s" % (path, what)
    return ""


def _datapipe(dataset):
    for cls in type(dataset).__mro__:
        if cls.__name__ in ("IterDataPipe", "MapDataPipe"):
            return "a DataPipe: how it shares samples out between workers is not looked into"
    return ""


def _own_iterators(kind, base):
    return kind._get_iterator is not base._get_iterator or kind.__module__.startswith("torchdata.")


def _is_iterable(dataset):
    return isinstance(dataset, sys.modules["torch.utils.data"].IterableDataset)


def _indices(batch_sampler, sampler, batch_size):
    """(index sampler, batch size). The sampler is None if indices may be drawn from range(len(dataset)) instead of
    asking it; the size is None if the index sampler yields whole batches."""
    if batch_sampler is not None and not _is_torchs(batch_sampler, ("BatchSampler",)):
        return batch_sampler, None
    inner, size = sampler, batch_size
    if batch_sampler is not None:
        inner, size = batch_sampler.sampler, batch_sampler.batch_size
    if inner is None or _is_torchs(inner, _PRIVATE_INDICES):
        return None, size
    return (inner, size) if batch_sampler is None else (batch_sampler, None)


def _is_torchs(sampler, names):
    kind = type(sampler)
    return kind.__module__.startswith("torch.utils.data") and kind.__name__ in names


def _draws_at_start(view):
    return view.index_sampler is None or type(view.index_sampler).__module__.startswith("torch.utils.data")


def _default_collate():
    return sys.modules["torch.utils.data"]._utils.collate.default_collate


# How workers would be started

def _start_method(view):
    """(start method, context to set instead of the default or None, reason against workers)."""
    chosen = view.context
    if chosen is not None:
        method = chosen if isinstance(chosen, str) else chosen.get_start_method()
    else:
        # With allow_none this does not settle the default, which the script may still want to set.
        method = multiprocessing.get_start_method(allow_none=True)
    explicit = method is not None
    method = method or multiprocessing.get_all_start_methods()[0]
    if method == "fork" or not main_runs_again():
        return method, None, ""
    if not explicit and threading.active_count() == 1:
        return "fork", sys.modules["torch"].multiprocessing.get_context("fork"), ""
    return method, None, ("a worker started by %s would run the script again: it has no `if __name__ == \"__main__\"`"
                          % method)


def main_runs_again():
    """True if a spawned process that imports the script would do its work a second time."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path is None:
        return False
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError):
        return True
    return not any(_is_guard(node) for node in body) and any(_works(node) for node in body)


def _is_guard(node):
    return isinstance(node, ast.If) and any(isinstance(part, ast.Name) and part.id == "__name__"
                                            for part in ast.walk(node.test))


def _works(node):
    """A statement that does more than define: a loop, a call for its effect, a with block."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return isinstance(node, (ast.For, ast.While, ast.With, ast.Try, ast.If))


def _in_unreachable_main(view):
    main = sys.modules.get("__main__")
    if getattr(main, "__file__", None) is not None or getattr(main, "__spec__", None) is not None:
        return False
    return any(getattr(part, "__module__", None) == "__main__" for part in (type(view.dataset), view.collate))


# Persistent workers that we asked for

def renew_persistent(loader, entry):
    """Before iter(): the script did not ask for persistent workers, so it must not notice them. They are started
    anew if it changed the dataset since, and if it still holds an unfinished iterator that a reset would take away."""
    if entry.decision.before.persistent_workers or not entry.decision.after.persistent_workers:
        return
    state = snapshot.snapshot(loader.dataset)
    known, entry.dataset_state = entry.dataset_state, state
    running = loader.__dict__.get("_iterator")
    if running is None:
        return
    held = sys.getrefcount(running) > 3  # the loader, the variable here, and the argument
    if known != state or (held and not _exhausted(running)):
        loader.__dict__["_iterator"] = None


def _exhausted(iterator):
    return iterator._rcvd_idx >= iterator._send_idx and iterator._tasks_outstanding == 0


# Small things

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
