"""Looks at the user's loader and dataset without running any of their code: only what lies in `__dict__` and in types.
(len() of a map dataset is the exception; torch itself has just called it.)
"""

import sys

from .. import abi, emit, frames, parallel, records

_WRAPPED_DEEP = 5
_DEFAULT_START = {"fork": records.FORK, "spawn": records.SPAWN, "forkserver": records.FORKSERVER}


def loader_record(loader, info):
    dataset = getattr(loader, "dataset", None)
    iterable = _is_iterable(loader)
    has_length = not iterable and _is_known(getattr(loader, "sampler", None))
    mine = _user_dataset(dataset)
    function = _maker_of(type(mine), iterable)
    location = info.location or frames.Location("", None, None, "")
    return records.loader(
        info.built_ns,
        info.number,
        _flags(loader, iterable) | (records.FIXED if info.number in emit.fixed_loaders else 0),
        _length(dataset) if has_length else records.UNKNOWN,
        _length(loader) if has_length and _is_known(getattr(loader, "batch_sampler", None)) else records.UNKNOWN,
        records.known32(_batch_size(loader)),
        records.known32(getattr(loader, "num_workers", None)),
        records.known32(getattr(loader, "prefetch_factor", None)),
        records.known32(location.line),
        records.known32(location.end_line),
        records.known32(function.co_firstlineno if function else None),
        _start_method(loader),
        parallel.replicas(),
        abi.name(location.file),
        abi.name(location.code),
        abi.name(type_name(type(mine))),
        abi.name(frames.absolute(function.co_filename) if function else ""),
        abi.name(_function_name(getattr(loader, "collate_fn", None))),
        abi.name(type_name(type(_drawing(loader)))),
    )


def _is_iterable(loader):
    return getattr(loader, "_dataset_kind", None) == 1


def _is_known(sampler):
    """Samplers whose length costs nothing, and that ask the dataset for its own when they start."""
    return sampler is None or type(sampler).__module__.startswith(("torch.utils.data.", "accelerate."))


def _batch_size(loader):
    size = getattr(loader, "batch_size", None)
    if size is None:
        # a framework that shards batches wraps the user's batch sampler in its own
        size = _attribute(getattr(loader, "batch_sampler", None), "batch_size")
    return size if type(size) is int else None


def _drawing(loader):
    """What draws the indices: the sampler, or the script's own batch sampler, beside which the sampler is not used."""
    return getattr(loader, "batch_sampler" if _has_own_batches(loader) else "sampler", None)


def _has_own_batches(loader):
    return getattr(loader, "batch_sampler", None) is not None and getattr(loader, "batch_size", None) is None


def _attribute(thing, name):
    """From `__dict__` alone: a property may be the user's code."""
    return getattr(thing, "__dict__", {}).get(name)


def _flags(loader, iterable):
    batch_sampler = getattr(loader, "batch_sampler", None)
    samplers = [getattr(loader, "sampler", None), batch_sampler]
    for _ in range(_WRAPPED_DEEP):
        samplers += [_attribute(samplers[-1], "sampler") or _attribute(samplers[-1], "batch_sampler")]
    names = {kind.__name__ for sampler in samplers for kind in type(sampler).__mro__}
    flags = 0
    for flag, on in (
        (records.PIN_MEMORY, getattr(loader, "pin_memory", False)),
        (records.PERSISTENT_WORKERS, getattr(loader, "persistent_workers", False)),
        (records.DROP_LAST, getattr(loader, "drop_last", False)),
        (records.IN_ORDER, getattr(loader, "in_order", True)),
        (records.ITERABLE_DATASET, iterable),
        (records.SHUFFLE, "RandomSampler" in names or any(_attribute(one, "shuffle") is True for one in samplers)),
        (records.CUSTOM_BATCH_SAMPLER, _has_own_batches(loader)),
        (records.DISTRIBUTED_SAMPLER, "DistributedSampler" in names),
    ):
        flags |= flag if on else 0
    return flags


def _length(thing):
    try:
        return len(thing)
    except Exception:
        return records.UNKNOWN


def _start_method(loader):
    if not getattr(loader, "num_workers", 0):
        return 0
    context = getattr(loader, "multiprocessing_context", None)
    if context is None:
        context = sys.modules.get("multiprocessing")
    try:
        # allow_none: asking must not decide it
        return _DEFAULT_START.get(context.get_start_method(allow_none=True) or _first_start_method(context), 0)
    except (AttributeError, TypeError):
        return 0


def _first_start_method(context):
    return context.get_all_start_methods()[0]


def _user_dataset(dataset):
    """The user's own dataset inside of torch's Subset and the like; the dataset itself if there is none."""
    inner = dataset
    for _ in range(_WRAPPED_DEEP):
        code = _maker_of(type(inner), False) or _maker_of(type(inner), True)
        if code is not None and frames.is_user_file(code.co_filename):
            return inner
        inner = getattr(inner, "__dict__", {}).get("dataset")
        if inner is None:
            break
    return dataset


def _maker_of(kind, iterable):
    """Code of the function that makes a sample."""
    function = getattr(kind, "__iter__" if iterable else "__getitem__", None)
    for _ in range(_WRAPPED_DEEP):
        if hasattr(function, "__wrapped__"):
            function = function.__wrapped__
    return getattr(function, "__code__", None)


def type_name(kind):
    return "%s.%s" % (kind.__module__, kind.__qualname__)


def _function_name(function):
    if function is None:
        return ""
    if hasattr(function, "__qualname__"):
        return "%s.%s" % (function.__module__, function.__qualname__)
    inner = getattr(function, "func", None)  # functools.partial
    return _function_name(inner) if hasattr(inner, "__qualname__") else type_name(type(function))
