"""A loader as --fix sees it, the same before its construction (arguments) and after it (attributes)."""

import sys
from typing import Any, NamedTuple, Optional

from .choose import ARGUMENTS, Settings

CONTEXT = "_DataLoader__multiprocessing_context"
# Samplers over range(len(dataset)): a probe need not start them. torch.randperm over 1e8 samples takes seconds.
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
    kept: dict  # attributes that put_back() writes again


def from_loader(loader):
    index_sampler, batch_size = _indices(loader.batch_sampler, loader.sampler, loader.batch_size)
    return View(
        settings=_settings(loader.num_workers, loader.prefetch_factor, loader.persistent_workers, loader.pin_memory),
        dataset=loader.dataset,
        iterable=_is_iterable(loader.dataset),
        index_sampler=index_sampler,
        batch_size=batch_size,
        auto_collation=loader.batch_sampler is not None or loader.batch_size is not None,
        drop_last=loader.drop_last,
        collate=loader.collate_fn,
        worker_init=loader.worker_init_fn,
        context=loader.__dict__.get(CONTEXT),
        loader_type=type(loader),
        kept={name: loader.__dict__[name] for name in (*ARGUMENTS, "worker_init_fn") if name in loader.__dict__},
    )


def from_arguments(arguments):
    get = arguments.get
    workers, prefetch = get("num_workers", 0), get("prefetch_factor")
    settings = _settings(workers, prefetch, get("persistent_workers", False), get("pin_memory", False))
    kept = dict(settings.arguments(), worker_init_fn=get("worker_init_fn"))
    kept["prefetch_factor"] = prefetch if workers == 0 else settings.prefetch_factor
    whole = get("batch_sampler") is not None
    given = None if whole else get("batch_size", 1)
    index_sampler, batch_size = _indices(get("batch_sampler"), get("sampler"), given)
    return View(
        settings=settings,
        dataset=get("dataset"),
        iterable=_is_iterable(get("dataset")),
        index_sampler=index_sampler,
        batch_size=batch_size,
        auto_collation=whole or given is not None,
        drop_last=get("drop_last", False),
        collate=get("collate_fn") or _default_collate(),
        worker_init=get("worker_init_fn"),
        context=get("multiprocessing_context"),
        loader_type=type(get("self")) if "self" in arguments else None,
        kept=kept,
    )


def _settings(workers, prefetch, persistent, pin):
    depth = None if workers == 0 else 2 if prefetch is None else prefetch
    return Settings(int(workers), depth, bool(persistent), bool(pin))


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


def draws_at_start(view):
    """True if the sampler draws all its random numbers when it is started: looking further ahead changes no draw."""
    return view.index_sampler is None or type(view.index_sampler).__module__.startswith("torch.utils.data")


def _default_collate():
    return sys.modules["torch.utils.data"]._utils.collate.default_collate
