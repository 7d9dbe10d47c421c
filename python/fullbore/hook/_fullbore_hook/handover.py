"""Lets the tracer of the GPU work, hands CUPTI over to torch.profiler and takes it back. Only one of two can have it:
while ours traced, torch.profiler once got no GPU events at all, and every later session of that process neither.

The library is the one that the CUDA driver loads, or will load: what is said before that is kept.
"""

import ctypes
import os

from . import abi, at_fork

_NAME = "libfullbore_inject.so"
_state = {"library": None, "paused": False, "for_good": False}


def _nothing():
    """In the place of `stepped` where nothing traces."""


stepped = _nothing  # an optimiser's step has ended


def _forget():
    # The child's copy has no thread and traces nothing.
    global stepped
    _state.update(library=None, paused=False, for_good=False)
    stepped = _nothing


at_fork(_forget)


def _library():
    if _state["library"] is None:
        path = os.environ.get("CUDA_INJECTION64_PATH", "")
        if os.path.basename(path) != _NAME or not abi.active():
            return None
        try:
            # CDLL: a pause waits for the tracer's thread, and other Python threads may run meanwhile.
            library = ctypes.CDLL(path)
            for function in ("pause", "resume", "allow", "count"):
                getattr(library, "fullbore_trace_" + function).restype = None
        except (OSError, AttributeError):
            return None
        _state["library"] = library
    return _state["library"]


def is_here():
    """Whether there is a tracer of ours in this process, or will be."""
    return _library() is not None


def allow():
    """Until this was said nothing is traced. Also tells where the loop's iterations are counted: what is traced holds
    whole steps then."""
    library = _library()
    if library is None:
        return
    try:
        from .native import probes
    except (ImportError, OSError):
        probes = None  # which the loader's part reports
    if probes is not None:
        global stepped
        stepped = probes.stepped
        library.fullbore_trace_count(ctypes.c_void_p(probes.loop_counters()))
    library.fullbore_trace_allow()


def give():
    """Returns when the tracer has switched everything off; again is harmless."""
    library = None if _state["paused"] else _library()
    if library is not None:
        _state["paused"] = True
        library.fullbore_trace_pause()


def take_back():
    if _state["paused"] and not _state["for_good"]:
        _state["paused"] = False
        _state["library"].fullbore_trace_resume()


def give_for_good(why):
    if not _state["for_good"] and _library() is not None:
        give()
        _state["for_good"] = True
        abi.missing("gpu.trace", why)
