"""What all Python tests need: the built package, and the interpreters that are installed."""

import contextlib
import glob
import os
import signal
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launching  # noqa: E402
import pythons  # noqa: E402

# A shell without job control starts its background jobs deaf to Ctrl-C, and every program of a test would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def package():
    """Folder of the built package: bin/fullbore, lib/libfullbore_record.so, hook/."""
    named = os.environ.get("FULLBORE_PACKAGE")
    found = [named] if named else glob.glob(os.path.join(ROOT, "build", "*", "fullbore"))
    found = [folder for folder in found if os.path.exists(os.path.join(folder, "lib", "libfullbore_record.so"))]
    if not found:
        pytest.fail("no built package; run cmake --build --preset dev, or name one in FULLBORE_PACKAGE")
    return max(found, key=os.path.getmtime)


@pytest.fixture(params=pythons.interpreters(), ids=lambda found: found[0])
def bare_python(request):
    version, path = request.param
    if path is None:
        pytest.skip("Python %s is not installed" % version)
    return path


@pytest.fixture(scope="session")
def fullbore():
    """Path of the program."""
    return os.environ.get("FULLBORE_BIN") or os.path.join(ROOT, "build", "dev", "fullbore", "bin", "fullbore")


@pytest.fixture
def watched(fullbore, tmp_path):
    started = []

    def start(script=launching.COUNTING, *options, **popen):
        started.append(launching.Watched(fullbore, tmp_path, script, options or ("--quiet",), **popen))
        return started[-1]

    yield start
    for one in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)
