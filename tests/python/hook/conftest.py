"""Runs a script twice, alone and with the hook, and reads what the hook recorded."""

import collections
import functools
import os
import subprocess
import sys

import pytest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import pythons  # noqa: E402
import rings  # noqa: E402

Watched = collections.namedtuple("Watched", "code out err records")


class Bench:
    """A folder with a script, and the two ways to run it."""

    def __init__(self, folder, package):
        self.folder = folder
        self.package = package

    def write(self, text, name="train.py"):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def _run(self, command, environment, search, stdin=None):
        env = {key: value for key, value in os.environ.items() if not key.startswith(("FULLBORE_", "PYTHON"))}
        env.update(environment)
        if search:
            env["PYTHONPATH"] = os.pathsep.join(search)
        done = subprocess.run(command, cwd=str(self.folder), env=env, capture_output=True, text=True, timeout=120)
        return done

    def alone(self, *command, path=(), env=None):
        return self._run(command, env or {}, list(path))

    def watched(self, *command, path=(), env=None):
        folder = self.folder / "rings"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        hook = os.path.join(self.package, "hook")
        environment = {
            "FULLBORE_RINGS": str(folder),
            "FULLBORE_RECORD_LIB": os.path.join(self.package, "lib", "libfullbore_record.so"),
            "FULLBORE_HOOK": hook,
            "FULLBORE_RING_BYTES": str(1 << 22),
        }
        environment.update(env or {})
        done = self._run(command, environment, [hook] + list(path))
        return Watched(done.returncode, done.stdout, done.stderr, rings.read(folder))

    def both(self, *command, path=(), env=None):
        """Runs it both ways and asserts that nobody could tell from outside; returns the watched one."""
        alone = self.alone(*command, path=path, env=env)
        watched = self.watched(*command, path=path, env=env)
        assert watched.err.split("\n") == alone.stderr.split("\n")
        assert (watched.code, watched.out) == (alone.returncode, alone.stdout)
        return watched


@pytest.fixture
def bench(tmp_path, package):
    return Bench(tmp_path, package)


@functools.lru_cache(None)
def has_torch():
    return subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0


def _loaders():
    """Every torch there is: the stand-in on each Python, and the real one."""
    bare = [pytest.param((version, path), id="standin-" + version) for version, path in pythons.interpreters()]
    return bare + [pytest.param(("torch", sys.executable), id="torch")]


@pytest.fixture(params=_loaders())
def torch_run(request, bench):
    """Calls `watched` or `both` of the bench with a Python that has torch or its stand-in."""
    name, python = request.param
    if python is None:
        pytest.skip("Python %s is not installed" % name)
    if name == "torch" and not has_torch():
        pytest.skip("torch is not installed for this Python")
    path = [] if name == "torch" else [pythons.STANDIN]

    def run(script, *arguments, way="watched", env=None):
        return getattr(bench, way)(python, bench.write(script), *arguments, path=path, env=env)

    run.real = name == "torch"
    return run
