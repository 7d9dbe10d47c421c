"""Batches of pictures for training, made by threads of C++: the loader, and the transforms that it knows."""

from .loader import ImageBatch, ImageLoader
from .transforms import CenterCrop, Normalize, RandomHorizontalFlip, RandomResizedCrop, Resize

__all__ = [
    "CenterCrop",
    "ImageBatch",
    "ImageLoader",
    "Normalize",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "Resize",
]
