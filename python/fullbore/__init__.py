"""Fullbore: why is my GPU waiting, and how do I stop it?

A script needs none of this to be watched: `fullbore run -- python train.py`. These are for loops without a DataLoader
(`step`, `observe`) and for notebooks (`watching`). Where nobody watches they do nothing.
"""

from .steps import observe, step
from .watching import watching

__all__ = ["observe", "step", "watching"]
