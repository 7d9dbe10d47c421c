"""Batches of pictures for training, made by threads of C++: the loader, and the transforms that it knows."""

from .loader import ImageBatch, ImageLoader
from .transforms import (
    CenterCrop,
    ColorJitter,
    Normalize,
    Pad,
    RandomErasing,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomResizedCrop,
    Resize,
    ToDtype,
)

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "ImageBatch",
    "ImageLoader",
    "Normalize",
    "Pad",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "Resize",
    "ToDtype",
]
