"""Watches the rest of a training process: optimiser steps, checkpoints, garbage collection, and torch.profiler, which
then owns the tracing. Each is found at the function of torch that does it.
"""

import gc
import hashlib
import os
import sys
import time
import weakref

from . import abi, at_fork, emit, fail, frames, handover, records, rewrite
from .guard import contexts, observes
from .process import announce_trainer

_clock = time.monotonic_ns
_COLLECTION_WORTH_NS = 1000000
_LOGGING_WORTH_NS = 1000000
_done = []
_handles = []
_optimizers = {}  # id(optimizer): (number, weak reference)
_count = [0]
_running = {}  # when it began: a step by id(optimizer), the garbage collection, torch.profiler


def _forget():
    _running.clear()


at_fork(_forget)


# Optimiser steps.


def _number_of(optimizer):
    known = _optimizers.get(id(optimizer))
    if known is None:
        _count[0] += 1
        key = id(optimizer)
        known = (_count[0], weakref.ref(optimizer, lambda _, pop=_optimizers.pop: pop(key, None)))
        _optimizers[key] = known
        announce_trainer()
        _write_model(optimizer, known[0])
    return known[0]


def _write_model(optimizer, number):
    """What it trains, by the shapes and types of its parameters alone."""
    digest, parameters, size, tensors, device = hashlib.blake2b(digest_size=8), 0, 0, 0, ""
    for group in optimizer.param_groups:
        for tensor in group["params"]:
            tensors += 1
            parameters += tensor.numel()
            size += tensor.numel() * tensor.element_size()
            device = device or str(tensor.device)
            digest.update(("%s %s;" % (tuple(tensor.shape), tensor.dtype)).encode())
    hashed = int.from_bytes(digest.digest(), "little")
    kind = type(optimizer)
    abi.write(
        records.model(
            _clock(),
            hashed,
            parameters,
            size,
            tensors,
            number,
            abi.name("%s.%s" % (kind.__module__, kind.__qualname__)),
            abi.name(device),
        )
    )


def _step_began(optimizer):
    try:
        if abi.active():
            _number_of(optimizer)
            _running[id(optimizer)] = _clock()
    except Exception as error:
        fail(error)


def _step_ended(optimizer):
    try:
        begin = _running.pop(id(optimizer), None)
        if begin is not None and abi.active():
            abi.write(records.step(begin, _clock(), _number_of(optimizer), 0))
            handover.stepped()
    except Exception as error:
        fail(error)


def install_optimizer(module):
    """torch 2 has hooks that its compiler understands; before it, the function that wraps every step is changed.

    The hooks stay when the observation ends, as empty calls: to remove one while a step walks over them is an error.
    """
    if _handles:
        return
    install_logging(sys.modules.get("logging"))
    before = getattr(module, "register_optimizer_step_pre_hook", None)
    after = getattr(module, "register_optimizer_step_post_hook", None)
    if before is not None and after is not None:
        _handles.append(before(_make_hook(_step_began)))
        _handles.append(after(_make_hook(_step_ended)))
        return
    function = vars(getattr(module, "Optimizer", object)).get("_hook_for_profile")
    rules = rewrite.Rules(
        _PROBE, around=[("optimizer_step", "func(*args, **kwargs)", "step_begins", "step_returned", ("args",))]
    )
    _apply(module, [(function, rules)], "optimizer_step")


def _make_hook(function):
    def hook(optimizer, args, kwargs):
        # constant while torch.compile traces an optimiser step: it leaves nothing of this in the graph
        torch = sys.modules["torch"]
        if not torch.compiler.is_compiling():
            function(optimizer)

    return hook


# Intervals.


class _Interval:
    """Around a call that takes its thread away from training."""

    __slots__ = ("kind", "name", "path", "begin", "file", "line")

    def __init__(self, kind, name, path=None):
        self.kind = kind
        self.name = name
        self.path = path

    def __enter__(self):
        self.file, self.line = "", None
        try:
            self.file, self.line = frames.user_place(sys._getframe(2))
        except Exception as error:
            fail(error)
        self.begin = _clock()
        return self

    def __exit__(self, kind, error, traceback):
        try:
            emit.interval(self.kind, self.begin, _clock(), self.name, self.file, self.line, _size_of(self.path))
        except Exception as failure:
            fail(failure)
        return False


class _Logged:
    """Around the handling of one log record by all handlers; written down if it took its time."""

    __slots__ = ("begin",)

    def __enter__(self):
        self.begin = _clock()

    def __exit__(self, kind, error, traceback):
        end = _clock()
        if end - self.begin < _LOGGING_WORTH_NS:
            return False
        try:
            emit.interval(records.LOGGING, self.begin, end, "logging", *frames.user_place(sys._getframe(1)))
        except Exception as failure:
            fail(failure)
        return False


def _size_of(path):
    if not isinstance(path, (str, os.PathLike)):
        return records.UNKNOWN
    try:
        return os.stat(path).st_size
    except OSError:
        return records.UNKNOWN


class _Probe:
    """The calls that the changed functions make."""

    @contexts
    def saving(self, path):
        return _Interval(records.CHECKPOINT, "torch.save", path) if abi.active() else None

    @contexts
    def saving_file(self, path):
        return _Interval(records.CHECKPOINT, "safetensors.torch.save_file", path) if abi.active() else None

    @contexts
    def saving_sharded(self, state):
        return _Interval(records.CHECKPOINT, "torch.distributed.checkpoint.save") if abi.active() else None

    @contexts
    def profiler_preparing(self, profiler):
        handover.give()

    @contexts
    def logging(self, logger):
        return _Logged() if abi.active() else None

    @contexts
    def profiler_starting(self, profiler):
        handover.give()
        _running["profiler"] = _clock()

    @contexts
    def profiler_stopping(self, profiler):
        begin = _running.pop("profiler", None)
        if begin is not None and abi.active():
            emit.interval(records.PROFILER, begin, _clock(), "torch.profiler")
        return _PROFILER_END

    @observes
    def step_begins(self, arguments):
        _step_began(arguments[0])
        _running["stepping"] = arguments[0]

    def step_returned(self, result):
        optimizer = _running.pop("stepping", None)
        if optimizer is not None:
            _step_ended(optimizer)
        return result


_PROBE = _Probe()


class _ProfilerEnd:
    """Around the end of a session of torch.profiler: once that is over, the GPU may be traced again."""

    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        try:
            handover.take_back()
        except Exception as failure:
            fail(failure)
        return False


_PROFILER_END = _ProfilerEnd()


def install_logging(module):
    """The standard library's; torch has imported it. Not waited for: that would load all of this where torch is not."""
    function = vars(getattr(module, "Logger", object)).get("handle")
    _apply(module, [(function, rewrite.Rules(_PROBE, context=("logging", ("self",))))], "logging")


def install_save(module):
    """torch.save, safetensors' save_file and torch.distributed.checkpoint.save, by the module they are in."""
    name, method, parameter = {
        "torch.serialization": ("save", "saving", "f"),
        "safetensors.torch": ("save_file", "saving_file", "filename"),
        "torch.distributed.checkpoint.state_dict_saver": ("save", "saving_sharded", "state_dict"),
    }[module.__name__]
    function = getattr(module, name, None)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    _apply(module, [(function, rewrite.Rules(_PROBE, context=(method, (parameter,))))], "checkpoint")


def install_profiler(module):
    methods = vars(getattr(module, "profile", object))
    wanted = [
        (methods.get("_prepare_trace"), rewrite.Rules(_PROBE, context=("profiler_preparing", ("self",)))),
        (methods.get("_start_trace"), rewrite.Rules(_PROBE, context=("profiler_starting", ("self",)))),
        (methods.get("__exit__"), rewrite.Rules(_PROBE, context=("profiler_stopping", ("self",)))),
    ]
    if _apply(module, wanted, "torch_profiler") < len(wanted):
        handover.give_for_good("this torch.profiler cannot be seen to start, so CUPTI is left to it")


def watch_collections():
    if _collected not in gc.callbacks:
        gc.callbacks.append(_collected)


def ignore_collections():
    if _collected in gc.callbacks:
        gc.callbacks.remove(_collected)


def _collected(phase, info):
    try:
        if phase == "start":
            _running["collection"] = _clock()
            return
        begin, end = _running.pop("collection", None), _clock()
        if begin is not None and (info["generation"] == 2 or end - begin > _COLLECTION_WORTH_NS):
            emit.interval(records.GARBAGE_COLLECTION, begin, end, "generation %d" % info["generation"])
    except Exception as error:
        fail(error)


def _apply(module, wanted, signal):
    """How many of the functions were changed."""
    wanted = [(function, rules) for function, rules in wanted if hasattr(function, "__code__")]
    if not wanted:
        abi.missing(signal, "this version of " + getattr(module, "__name__", signal) + " has no such function")
        return 0
    done, problems = rewrite.instrument(module, wanted)
    _done.extend(done)
    for name, why in problems:
        abi.missing(name, why)
    return len(done)


def uninstall():
    rewrite.restore(_done)
    del _done[:]
    ignore_collections()
