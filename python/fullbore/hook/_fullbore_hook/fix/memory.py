"""Lets this process keep the memory that it frees.

glibc gives large blocks back to the kernel as soon as they are freed, and the top of the heap when 128 kB of it are
free. A loader worker frees the arrays of a sample after each sample, so the next one begins with new pages, each of
which costs a fault and is zeroed: a third of a worker's CPU time and more (docs/performance.md).
"""

import os
import sys

# mallopt(3). The threshold cannot be set higher than 32 MiB; blocks above it are mapped and returned as before.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_MMAP_THRESHOLD = 32 << 20
_TRIM_THRESHOLD = 1 << 30
_OTHER_ALLOCATORS = ("jemalloc", "tcmalloc", "mimalloc")


def keep_freed():
    """'' if this process keeps the memory that it frees from now on, else why it was left as it is. Never raises."""
    try:
        return _why_not() or _set()
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)


def _why_not():
    preloaded = os.environ.get("LD_PRELOAD", "")
    for name in _OTHER_ALLOCATORS:
        if name in preloaded:
            return "%s is loaded in place of glibc's malloc" % name
    for name in os.environ:
        if name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"):
            return "%s is set already" % name
    if "glibc.malloc." in os.environ.get("GLIBC_TUNABLES", ""):
        return "GLIBC_TUNABLES sets malloc already"
    return "" if sys.platform.startswith("linux") else "only glibc's malloc can be told"


def _set():
    import ctypes

    libc = ctypes.CDLL(None)
    mallopt = getattr(libc, "mallopt", None)
    if mallopt is None or not hasattr(libc, "gnu_get_libc_version"):
        return "this is not glibc's malloc"
    for option, value in ((_M_MMAP_THRESHOLD, _MMAP_THRESHOLD), (_M_TRIM_THRESHOLD, _TRIM_THRESHOLD)):
        if mallopt(option, value) != 1:
            return "mallopt refused option %d" % option
    return ""
