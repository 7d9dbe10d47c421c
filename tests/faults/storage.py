"""Real storage for the length of a `with`: a slow FUSE file system, a device with few requests, a neighbour that reads
the same disk, files dropped from the page cache. Each raises Refused with the reason where this machine says no."""

import contextlib
import ctypes
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .conditions import Refused, _group, block_device, disk_rate

HERE = Path(__file__).resolve().parent


def _tool(name):
    found = shutil.which(name)
    if found is None:
        raise Refused("%s is not installed" % name)
    return found


def _slowfs(cache):
    """The file system, compiled once."""
    program, source = cache / "slowfs", HERE / "slowfs.c"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        flags = subprocess.run([_tool("pkg-config"), "--cflags", "--libs", "fuse3"], capture_output=True, text=True)
        if flags.returncode:
            raise Refused("libfuse3-dev is not installed")
        cache.mkdir(parents=True, exist_ok=True)
        command = [_tool("cc"), "-O2", "-o", str(program), str(source)] + flags.stdout.split()
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode:
            raise Refused("slowfs does not compile: " + built.stderr.strip()[:200])
    return program


@contextlib.contextmanager
def slow_mount(cache, folder, open_ms, read_ms):
    """Shows `folder` at cache/remote through a file system that takes its time."""
    program, point = _slowfs(cache), cache / "remote"
    point.mkdir(exist_ok=True)
    command = [
        str(program),
        str(folder),
        str(int(open_ms * 1000)),
        str(int(read_ms * 1000)),
        str(point),
        "-f",
        "-o",
        "allow_other,default_permissions,subtype=slowfs,max_threads=64",
    ]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 10
        while not os.path.ismount(point):
            if server.poll() is not None or time.monotonic() > deadline:
                raise Refused(
                    "cannot mount slowfs: " + (server.stderr.read() if server.poll() is not None else "timeout")
                )
            time.sleep(0.05)
        yield lambda: None
    finally:
        subprocess.run(["fusermount3", "-uz", str(point)], check=False, stderr=subprocess.DEVNULL)
        server.terminate()
        server.wait()


@contextlib.contextmanager
def uncached(*folders):
    """Drops the files of these folders from the page cache, and no others."""
    for folder in folders:
        for file in [folder] if folder.is_file() else sorted(folder.rglob("*")):
            if not file.is_file():
                continue
            descriptor = os.open(file, os.O_RDONLY)
            try:
                os.fdatasync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
    yield lambda: None


def disk_requests(per_s, path):
    """At most so many read requests a second from the disk under `path`."""
    number = block_device(path)
    limit = "%s %d" % (number, per_s)
    return _group(
        "blkio" if Path("/sys/fs/cgroup/blkio").is_dir() else "io",
        {"v1": {"blkio.throttle.read_iops_device": limit}, "v2": {"io.max": limit.replace(" ", " riops=")}},
    )


def memory_limit(mib):
    """At most so much memory for the job, its page cache included."""
    limit = str(mib << 20)
    return _group("memory", {"v1": {"memory.limit_in_bytes": limit}, "v2": {"memory.max": limit}})


@contextlib.contextmanager
def shared_disk(mb_per_s, folder, readers=8):
    """The job and other programs share a disk of so many MB/s, as jobs of one host share its volume: both are in the
    group that has the limit. The others read files of `folder` past the page cache, all the time."""
    with disk_rate(mb_per_s, folder) as enter:
        files = [str(file) for file in sorted(folder.iterdir()) if file.is_file()]
        command = [sys.executable, str(HERE / "reader.py")]
        others = [subprocess.Popen(command + files[k::readers], preexec_fn=enter) for k in range(readers)]
        try:
            yield enter
        finally:
            for other in others:
                other.kill()
                other.wait()


@contextlib.contextmanager
def swap(mib):
    """Compressed swap space in memory; a machine with swap of its own needs none."""
    if len(Path("/proc/swaps").read_text().splitlines()) > 1:
        yield lambda: None
        return
    made = subprocess.run([_tool("zramctl"), "--find", "--size", "%dM" % mib], capture_output=True, text=True)
    device = made.stdout.strip()
    if made.returncode or not device:
        raise Refused("no swap space can be made: " + made.stderr.strip())
    try:
        for command in (["mkswap", device], ["swapon", device]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise Refused("no swap space can be made: " + done.stderr.strip())
        yield lambda: None
    finally:
        subprocess.run(["swapoff", device], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["zramctl", "--reset", device], check=False)


@contextlib.contextmanager
def shared_memory(mib):
    """A /dev/shm of this size for the job alone, as containers have it: a mount namespace of its own."""
    _tool("mount")

    def enter():
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x00020000):  # CLONE_NEWNS
            raise OSError(ctypes.get_errno(), "unshare")
        for command in (
            ["mount", "--make-rprivate", "/"],
            ["mount", "-t", "tmpfs", "-o", "size=%dm" % mib, "tmpfs", "/dev/shm"],
        ):
            subprocess.run(command, check=True)

    if os.geteuid():
        raise Refused("a mount namespace needs root")
    yield enter


@contextlib.contextmanager
def open_files(most):
    """As `ulimit -n` of a login shell."""
    yield lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
