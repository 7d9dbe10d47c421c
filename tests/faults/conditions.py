"""Real limits for the length of a `with`: a CPU quota, a core mask, a disk rate, a cold page cache. Each raises
Refused with the reason where this machine does not permit it; a case that could not be set up is not run, never
passed."""

import contextlib
import os
import subprocess
import time
from pathlib import Path


class Refused(Exception):
    """The condition cannot be made on this machine."""


CGROUPS = Path("/sys/fs/cgroup")


@contextlib.contextmanager
def _group(controller, settings):
    """A cgroup v1 or v2 with these settings; yields a function for the child to call before it runs."""
    v1 = CGROUPS / controller
    parent = v1 if v1.is_dir() else CGROUPS
    if parent is CGROUPS and controller not in _v2_controllers():
        raise Refused("no %s controller under %s" % (controller, CGROUPS))
    group = parent / ("fullbore-fault-%d" % os.getpid())
    try:
        group.mkdir()
        for name, value in settings["v1" if parent is v1 else "v2"].items():
            (group / name).write_text(value)
    except OSError as error:
        if group.is_dir():
            group.rmdir()
        raise Refused("cannot limit %s: %s" % (controller, error)) from error
    try:
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    finally:
        _remove(group)


def _remove(group):
    """The kernel counts processes of the group for a moment after they were waited for."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _v2_controllers():
    try:
        return (CGROUPS / "cgroup.controllers").read_text().split()
    except OSError:
        return []


def cpu_quota(cores):
    quota, period = int(cores * 100_000), 100_000
    return _group(
        "cpu",
        {
            "v1": {"cpu.cfs_period_us": str(period), "cpu.cfs_quota_us": str(quota)},
            "v2": {"cpu.max": "%d %d" % (quota, period)},
        },
    )


def nvidia_gpu():
    """The script needs one."""
    if not Path("/proc/driver/nvidia/version").exists():
        raise Refused("it needs an NVIDIA GPU")
    return contextlib.nullcontext(lambda: None)


def _near_node():
    """The NUMA node that the first GPU hangs on, -1 where that is not told."""
    for device in sorted(Path("/proc/driver/nvidia/gpus").glob("*")):
        try:
            return int(Path("/sys/bus/pci/devices", device.name, "numa_node").read_text())
        except (OSError, ValueError):
            return -1
    return -1


def far_from_the_gpu():
    """The child may run on the cores of another NUMA node than the GPU's. What is slow there is judged against what
    `fullbore ceilings` has measured, which must have been run near the GPU before."""
    near = _near_node()
    if near < 0:
        raise Refused("it is not known on which NUMA node the GPU hangs")
    allowed = os.sched_getaffinity(0)
    for node in sorted(Path("/sys/devices/system/node").glob("node[0-9]*")):
        cores = {int(core.name[3:]) for core in node.glob("cpu[0-9]*")} & allowed
        if cores and node.name != "node%d" % near:
            return contextlib.nullcontext(lambda: os.sched_setaffinity(0, cores))
    raise Refused("all cores are on the GPU's NUMA node")


@contextlib.contextmanager
def one_core():
    """The child may run on the first core of those it has; there must be another, or nothing is taken from it."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise Refused("this machine gives one core only")
    yield lambda: os.sched_setaffinity(0, {allowed[0]})


@contextlib.contextmanager
def environment(**values):
    """As an `export` in the job's script."""
    yield lambda: os.environ.update({name: str(value) for name, value in values.items()})


def block_device(path):
    """Major and minor number of the whole disk that `path` lies on."""
    device = os.stat(path).st_dev
    sysfs = Path("/sys/dev/block/%d:%d" % (os.major(device), os.minor(device)))
    if not sysfs.exists():
        raise Refused("%s lies on no block device" % path)
    whole = sysfs if (sysfs / "partition").exists() is False else sysfs.resolve().parent
    return (whole / "dev").read_text().strip()


def disk_rate(mb_per_s, path):
    rate = "%s %d" % (block_device(path), mb_per_s * 1_000_000)
    return _group(
        "blkio" if (CGROUPS / "blkio").is_dir() else "io",
        {"v1": {"blkio.throttle.read_bps_device": rate}, "v2": {"io.max": rate.replace(" ", " rbps=")}},
    )


@contextlib.contextmanager
def cold_cache():
    subprocess.run(["sync"], check=True)
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError as error:
        raise Refused("cannot drop the page cache: %s" % error) from error
    yield lambda: None
