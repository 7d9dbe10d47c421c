"""The part of Fullbore that runs inside a watched Python process. Starting it costs an import finder; the rest is
loaded when torch is. It never raises, prints, or changes what the program can see; an error of its own ends it.

Rooms: loading (torch's loader and its workers), lines (time by source line), fix (--fix); training.py is the loop's side.
Imports: finder -> (loading, training, graphs) -> process -> (lines, fix) -> abi, records, frames, rewrite.
"""

import os
import sys

_state = {"pid": 0, "forks": 0, "children": []}


def start():
    """Begins to watch this process, once; in a child of a fork it is on already."""
    if _state["pid"]:
        return
    _state["pid"] = os.getpid()
    from . import finder

    finder.install()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)


def restart(rings, library, ring_bytes):
    """Begins an observation that this process itself asked for (fullbore.watching), perhaps not the first."""
    from . import abi, finder

    if not abi.reopen(rings, library, ring_bytes):
        raise RuntimeError("cannot make rings in " + rings)
    if _state["pid"]:
        _forget()
        finder.install()
    else:
        start()


def forks():
    """How often this process was forked since the hook started in an ancestor."""
    return _state["forks"]


def at_fork(function):
    """Calls `function()` in every child of a fork and before another observation, to forget what was before."""
    _state["children"].append(function)


def _after_fork():
    try:
        _state["pid"] = os.getpid()
        _state["forks"] += 1
        _forget()
    except Exception as error:
        fail(error)


def _forget():
    for function in _state["children"]:
        function()


def part(name):
    """The module `name` of this package ("lines.profile"), or None with the signal reported as missing."""
    try:
        module = __import__(__name__ + "." + name, fromlist=["_"])
    except Exception as error:
        from . import abi

        abi.missing(name.rpartition(".")[2], "%s: %s" % (type(error).__name__, error))
        return None
    return module


def is_ours(error):
    """False if the exception came from other code: a signal handler that ran while we did. It must go on its way."""
    traceback, own = error.__traceback__, os.path.dirname(__file__) + os.sep
    if traceback is None:
        return True  # raised by a probe in C
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename.startswith(own)


def fail(error):
    """An error of ours ends the hook in this process, with the reason on record; the program goes on."""
    if not is_ours(error):
        raise error
    from . import abi

    line = error.__traceback__.tb_lineno if error.__traceback__ else 0
    abi.missing("hook", "%s: %s (%s)" % (type(error).__name__, error, line))
    fix = sys.modules.get(__name__ + ".fix.apply")
    if fix is not None:
        fix.stop()
    stop()


def stop():
    """Turns the hook off for good: torch's functions get their own code back. What --fix changed stays looked after."""
    abi = sys.modules.get(__name__ + ".abi")
    if abi is not None:
        abi.close()
    profile = sys.modules.get(__name__ + ".lines.profile")
    if profile is not None:
        profile.stop()
    finder = sys.modules.get(__name__ + ".finder")
    if finder is not None:
        fix = sys.modules.get(__name__ + ".fix.apply")
        finder.uninstall(keep=("loading.loader",) if fix is not None and fix.active() else ())
