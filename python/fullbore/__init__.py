"""Fullbore: why is my GPU waiting, and how do I stop it?

A script needs none of this to be watched: `fullbore run -- python train.py`. These are for loops without a DataLoader
(`step`, `observe`) and for notebooks (`watching`). Where nobody watches they do nothing.

`ImageLoader` makes batches of pictures by threads of C++. `PrefetchDataLoader` and `build_optimized_dataloader` make any
loader of torch feed a GPU; they import torch when first used.
`decode_jpeg` decodes no more of a photograph than a crop needs; it needs NumPy.
"""

from .steps import observe, step
from .watching import watching

_LAZY = {
    "BatchTiming": ".prefetch",
    "CenterCrop": ".images",
    "ColorJitter": ".images",
    "ImageBatch": ".images",
    "ImageLoader": ".images",
    "Normalize": ".images",
    "Pad": ".images",
    "PrefetchDataLoader": ".prefetch",
    "RandomErasing": ".images",
    "RandomGrayscale": ".images",
    "RandomHorizontalFlip": ".images",
    "RandomResizedCrop": ".images",
    "Resize": ".images",
    "ToDtype": ".images",
    "__version__": "._core",
    "build_optimized_dataloader": ".optimized",
    "decode_jpeg": ".jpeg",
    "jpeg_checkpoints": ".jpeg",
    "jpeg_header": ".jpeg",
    "keep_freed_memory": ".workers",
}

__all__ = [*_LAZY, "observe", "step", "watching"]


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError("module 'fullbore' has no attribute %r" % name)
    import importlib

    return getattr(importlib.import_module(_LAZY[name], __name__), name)
