"""Watches DistributedDataParallel being made: over how many ranks the gradients of this process are averaged."""

from . import abi, environment, fail, rewrite
from .guard import contexts

_done = []
_seen = {"replicas": 0}


def replicas():
    """Ranks that the widest DistributedDataParallel of this process averages over; 0 if none was made."""
    return _seen["replicas"]


class _Wrapping:
    """Around DistributedDataParallel.__init__."""

    __slots__ = ("model",)

    def __init__(self, model):
        self.model = model

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        try:
            group = self.model.__dict__.get("process_group")
            if kind is None and group is not None:
                _seen["replicas"] = max(_seen["replicas"], group.size())
        except Exception as failure:
            fail(failure)
        self.model = None
        return False


class _Probe:
    @contexts
    def wrapping(self, model):
        return _Wrapping(model) if abi.active() else None


_PROBE = _Probe()


def install(module):
    if (environment.world_size() or 1) < 2:
        return  # nothing to average over, and to change a function costs time at every import of torch
    function = vars(getattr(module, "DistributedDataParallel", object)).get("__init__")
    if not hasattr(function, "__code__"):
        return abi.missing("data_parallel", "this torch has no such function")
    done, problems = rewrite.instrument(
        module, [(function, rewrite.Rules(_PROBE, context=("wrapping", ("self",))))]
    )
    _done.extend(done)
    for name, why in problems:
        abi.missing(name, why)


def uninstall():
    rewrite.restore(_done)
    del _done[:]
