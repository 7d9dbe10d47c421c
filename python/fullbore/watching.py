"""`with fullbore.watching():` watches this very process, for notebooks: the same records and report."""

import contextlib
import json
import linecache
import os
import shutil
import subprocess
import sys
import tempfile
import time

from . import steps

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_PROGRAM = os.path.join(_PACKAGE, "bin", "fullbore")
_LIBRARY = os.path.join(_PACKAGE, "lib", "libfullbore_record.so")
_HOOK = os.path.join(_PACKAGE, "hook")
_RING_BYTES = 1 << 20
_COLLECTOR_ENDS_S = 30  # with the report of hours


@contextlib.contextmanager
def watching(out=None):
    """Watches the training inside the `with` block, then prints the report to stderr.

    out: run folder to write; by default a new one in ./fullbore-runs. It is the value of the `with` statement, or None
    where `fullbore run` watches this process already: then this does nothing.
    Raises RuntimeError if the fullbore program is not installed beside this package, or cannot start collecting.
    """
    if os.environ.get("FULLBORE_RINGS"):
        yield None
        return
    for needed in (_PROGRAM, _LIBRARY):
        if not os.path.exists(needed):
            raise RuntimeError("cannot watch: %s is missing; reinstall fullbore" % needed)
    out = os.path.abspath(out or os.path.join("fullbore-runs", _new_name()))
    os.makedirs(os.path.dirname(out), mode=0o700, exist_ok=True)
    rings = tempfile.mkdtemp(prefix="fullbore-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        collector = subprocess.Popen(
            [_PROGRAM, "collect", "--rings", rings, "--out", out, "--pid", str(os.getpid())], stdin=subprocess.PIPE
        )
        try:
            with _environment(rings):
                yield out
        finally:
            with contextlib.suppress(OSError):  # it may have died
                collector.stdin.write(json.dumps(_cells()).encode())
                collector.stdin.close()  # asks it to finish
            code = _wait(collector)
    finally:
        shutil.rmtree(rings, ignore_errors=True)
    if code != 0:
        raise RuntimeError("the collector ended with status %s; the run in %s is not complete" % (code, out))
    report = subprocess.run([_PROGRAM, "report", out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(report.stdout, end="", file=sys.stderr)


def _cells():
    """Source by name of code that lies in no file: the cells of a notebook."""
    kept = [(name, entry) for name, entry in list(linecache.cache.items()) if len(entry) == 4]
    return {name: "".join(entry[2]) for name, entry in kept if entry[1] is None or not os.path.exists(name)}


def _new_name():
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return "%s-%d-%s" % (moment, os.getpid(), os.urandom(4).hex())


@contextlib.contextmanager
def _environment(rings):
    """The hook on in this process, and what a spawned worker needs to find it."""
    settings = {
        "FULLBORE_RINGS": rings,
        "FULLBORE_RECORD_LIB": _LIBRARY,
        "FULLBORE_HOOK": _HOOK,
        "FULLBORE_RING_BYTES": str(_RING_BYTES),
        "PYTHONPATH": os.pathsep.join(filter(None, [_HOOK, os.environ.get("PYTHONPATH")])),
    }
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    hook = _hook()
    try:
        hook.restart(rings, _LIBRARY, _RING_BYTES)
        steps.connect()
        yield
    finally:
        steps.disconnect()
        hook.stop()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _hook():
    sys.path.insert(0, _HOOK)
    try:
        import _fullbore_hook
    finally:
        sys.path.remove(_HOOK)
    return _fullbore_hook


def _wait(collector):
    try:
        return collector.wait(_COLLECTOR_ENDS_S)
    except subprocess.TimeoutExpired:
        collector.kill()
        return collector.wait()
