"""Fullbore: why is my GPU waiting, and how do I stop it?

A script needs none of this to be watched: `fullbore run -- python train.py`. These are for loops without a DataLoader
(`step`, `observe`) and for notebooks (`watching`). Where nobody watches they do nothing.

`PrefetchDataLoader` and `build_optimized_dataloader` make a loader feed a GPU; they import torch when first used.
`decode_jpeg` decodes no more of a photograph than a crop needs; it needs NumPy.
"""

from .steps import observe, step
from .watching import watching

__all__ = [
    "BatchTiming",
    "PrefetchDataLoader",
    "build_optimized_dataloader",
    "decode_jpeg",
    "jpeg_checkpoints",
    "jpeg_header",
    "observe",
    "step",
    "watching",
]

_LAZY = {
    "BatchTiming": ".prefetch",
    "PrefetchDataLoader": ".prefetch",
    "build_optimized_dataloader": ".optimized",
    "decode_jpeg": ".jpeg",
    "jpeg_checkpoints": ".jpeg",
    "jpeg_header": ".jpeg",
}


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError("module 'fullbore' has no attribute %r" % name)
    import importlib

    return getattr(importlib.import_module(_LAZY[name], __name__), name)
