"""Starting a command with and without Fullbore, with every kind of standard stream, and seeing how it ended."""

import contextlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import textwrap
import time

# Counts signals into a file until told to end; the file "ready" says that the handlers are there.
COUNTING = textwrap.dedent(
    """
    import os, signal, sys, time
    counts = {}
    def count(number, frame):
        counts[number] = counts.get(number, 0) + 1
        with open("counts.new", "w") as file:
            file.write(repr(counts))
        os.rename("counts.new", "counts")
    for name in ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "ALRM", "WINCH", "CONT"):
        signal.signal(getattr(signal, "SIG" + name), count)
    open("ready", "w").close()
    while not os.path.exists("end"):
        time.sleep(0.01)
    sys.exit(9)
    """
)
WAITING = textwrap.dedent(
    """
    import os, time
    open("ready", "w").close()
    while not os.path.exists("end"):
        time.sleep(0.01)
    open("done", "w").close()
    """
)
STREAMS = ("pipe", "file", "pty", "devnull", "closed")
STDIN = b"first line\nsecond line\n"


class Ended:
    """How a command ended: its wait status as subprocess tells it, and all that came out of it (bash names a pid)."""

    def __init__(self, code, out, err):
        self.code = code
        self.out, self.err = (re.sub(rb"(line \d+: +)\d+", rb"\1PID", text) for text in (out, err))

    def __eq__(self, other):
        return (self.code, self.out, self.err) == (other.code, other.out, other.err)

    def __repr__(self):
        return "code %r\nout %r\nerr %r" % (self.code, self.out, self.err)


def run(command, streams="pipe", folder=".", **popen):
    """Runs to the end with stdin, stdout and stderr of one kind."""
    if streams == "pipe":
        done = subprocess.run(command, input=STDIN, capture_output=True, timeout=60, **popen)
        return Ended(done.returncode, done.stdout, done.stderr)
    if streams == "pty":
        return run_in_pty(command, **popen)
    if streams == "file":
        return run_in_files(command, str(folder), **popen)
    if streams == "devnull":
        null = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        return Ended(subprocess.run(command, timeout=60, **null, **popen).returncode, b"", b"")
    closing = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"] + list(command)
    return Ended(subprocess.run(closing, timeout=60, **popen).returncode, b"", b"")


def run_in_files(command, folder, **popen):
    paths = {name: os.path.join(folder, "stream." + name) for name in ("in", "out", "err")}
    with open(paths["in"], "wb") as file:
        file.write(STDIN)
    with open(paths["in"], "rb") as into, open(paths["out"], "wb") as out, open(paths["err"], "wb") as err:
        code = subprocess.run(command, stdin=into, stdout=out, stderr=err, timeout=60, **popen).returncode
    return Ended(code, read(paths["out"]), read(paths["err"]))


def run_in_pty(command, **popen):
    outer, inner = pty.openpty()
    process = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, **popen)
    os.close(inner)
    os.write(outer, STDIN + b"\x04")
    out = b""
    with contextlib.suppress(OSError):  # EIO: the last one who held the terminal has ended
        while select.select([outer], [], [], 60)[0]:
            out += os.read(outer, 65536)
    os.close(outer)
    return Ended(process.wait(60), out, b"")


def read(path, mode="rb"):
    with open(path, mode) as file:
        return file.read()


def wait_for(condition, what, seconds=30):
    """The first true value of `condition`; fails after some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError, ProcessLookupError):
            value = condition()
            if value:
                return value
        time.sleep(0.01)
    raise AssertionError("waited %d s for %s" % (seconds, what))


def run_json(folder):
    return json.loads(read(os.path.join(str(folder), "run.json"), "r"))


def missing(folder):
    """{signal: why} of a run folder."""
    return {entry["signal"]: entry["why"] for entry in run_json(folder)["missing"]}


def children(pid):
    return [int(word) for word in read("/proc/%d/task/%d/children" % (pid, pid), "r").split()]


def collector_of(launcher_pid):
    """Pid of the collector that a launcher started."""

    def find():
        names = {child: read("/proc/%d/comm" % child, "r").strip() for child in children(launcher_pid)}
        return next((child for child, name in names.items() if name == "fullbore-collec"), None)

    return wait_for(find, "the collector")


def state_of(pid):
    """R, S, T, Z ... of a process."""
    return read("/proc/%d/stat" % pid, "r").rpartition(")")[2].split()[0]


def ring_folders():
    return {name for name in os.listdir("/dev/shm") if name.startswith("fullbore-rings-")}


class Watched:
    """A command under fullbore in a process group of its own."""

    def __init__(self, fullbore, folder, script, options=("--quiet",), **popen):
        self.folder, self.run = folder, folder / "run"
        command = [fullbore, "run", "--out", str(self.run), *options, "--", sys.executable, "-c", script]
        popen.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen(command, cwd=str(folder), start_new_session=True, **popen)
        self.pid = self.process.pid
        wait_for((folder / "ready").exists, "the command to be ready")
        self.collector = collector_of(self.pid)
        self.command = next(child for child in children(self.pid) if child != self.collector)

    def counts(self):
        return eval((self.folder / "counts").read_text())

    def end(self):
        (self.folder / "end").touch()
        self.err = self.process.communicate(timeout=60)[1]
        return self.process.returncode


def counts_in(tmp_path):
    return eval((tmp_path / "counts").read_text())


def settle():
    """Time for a wrong second delivery to arrive: nothing can be waited for that must not come."""
    time.sleep(0.15)


def watch(fullbore, tmp_path, *command, options=(), **popen):
    """Exit code and lines on stderr."""
    whole = [fullbore, "run", "--out", str(tmp_path / "run"), *options, "--", *command]
    done = subprocess.run(whole, capture_output=True, text=True, timeout=60, cwd=str(tmp_path), **popen)
    return done.returncode, done.stderr.splitlines()


def make_script(path, text, mode=0o755):
    path.write_text(text)
    path.chmod(mode)
    return str(path)
