"""What tracing costs a job on a GPU that is bound by launching: a step of 2,000 tiny kernels with the tracer loaded, step
by step. What the steps around a window took beyond their neighbours is that window's cost; the machine's own changes of
speed are slower than that.

    python bench/inject.py [--seconds 30] PACKAGE      # a package folder such as build/release/fullbore

Numbers to reach: 2 % of this loop, 64 MiB of the device."""

import argparse
import ctypes
import gc
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python"))
import rings  # noqa: E402

BEFORE_NS, AFTER_NS, NEIGHBOURS_NS = 40_000_000, 150_000_000, 400_000_000


def run(seconds, counters):
    """[(begin_ns, end_ns)] of every step; counted as the hook counts steps of an optimiser."""
    gc.disable()
    target = torch.zeros(1024, device="cuda")
    steps = []
    end_ns = time.monotonic_ns() + int(seconds * 1e9)
    while time.monotonic_ns() < end_ns:
        begin_ns = time.monotonic_ns()
        for _ in range(2000):
            target.add_(1)
        torch.cuda.synchronize()
        steps.append((begin_ns, time.monotonic_ns()))
        counters[1] += 1
    return steps


def cost_of(window, steps):
    """ms that the steps around the window took beyond the middle one of those before and after; None without these."""
    first, last = window.begin_ns - BEFORE_NS, window.end_ns + AFTER_NS
    near = [end - begin for begin, end in steps if first - NEIGHBOURS_NS < begin < first or last < begin < last + NEIGHBOURS_NS]
    within = [end - begin for begin, end in steps if end > first and begin < last]
    if not near or not within:
        return None
    return sum(taken - statistics.median(near) for taken in within) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    library = os.path.abspath(os.path.join(options.package, "lib", "libfullbore_inject.so"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(CUDA_INJECTION64_PATH=library, FULLBORE_RINGS=folder, FULLBORE_RING_BYTES=str(1 << 26))
        tracer, counters = ctypes.CDLL(library), (ctypes.c_uint64 * 2)()
        tracer.fullbore_trace_count(ctypes.c_void_p(ctypes.addressof(counters)))
        tracer.fullbore_trace_allow()  # this loop captures no graphs
        steps = run(options.seconds, counters)
        records = rings.read(folder)
    lost = 0.0
    for window in records.of("TraceWindow"):
        cost = cost_of(window, steps)
        lost += cost or 0.0
        print(
            "window at %7.3f s: %6.1f ms, %5d kernels, %5d calls, cost %s ms, estimated %.1f ms"
            % (
                (window.begin_ns - steps[0][0]) / 1e9,
                (window.end_ns - window.begin_ns) / 1e6,
                window.kernels,
                window.calls,
                "not known" if cost is None else "%.1f" % cost,
                window.cost_ns / 1e6,
            )
        )
    print("lost %.1f ms of %.0f: %.2f %%" % (lost, options.seconds * 1e3, lost / options.seconds / 10))
    for missing in records.of("Missing"):
        print("missing", missing.signal, missing.why)


if __name__ == "__main__":
    main()
