"""The drop-in prefetcher: wraps a loader, hands out its batches on the device, copies the next ones meanwhile."""

from .loader import PrefetchDataLoader
from .timing import BatchTiming

__all__ = ["BatchTiming", "PrefetchDataLoader"]
