"""Fullbore: why is my GPU waiting, and how do I stop it?

A script needs none of this to be watched: `fullbore run -- python train.py`. These are for loops without a DataLoader
(`step`, `observe`) and for notebooks (`watching`). Where nobody watches they do nothing.

`PrefetchDataLoader` makes a loader feed a GPU; it imports torch when it is first used.
"""

from .steps import observe, step
from .watching import watching

__all__ = ["BatchTiming", "PrefetchDataLoader", "observe", "step", "watching"]

_LAZY = {"BatchTiming": ".prefetch", "PrefetchDataLoader": ".prefetch"}


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError("module 'fullbore' has no attribute %r" % name)
    import importlib

    return getattr(importlib.import_module(_LAZY[name], __name__), name)
