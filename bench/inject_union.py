"""How long kernels run per step: by this tracer, and by torch.profiler over the same steps of the same process. Only
one of them can have CUPTI at a time, so they take turns, five blocks each.

    python bench/inject_union.py PACKAGE      # a package folder such as build/release/fullbore

Number to reach: 1 %."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests" / "python"
sys.path.insert(0, str(TESTS))
import gpu_union  # noqa: E402
import rings  # noqa: E402


def traced(package, folder):
    """(ns per step of each block by torch.profiler, ns of each step by the tracer)."""
    environment = dict(
        os.environ,
        FULLBORE_RINGS=folder,
        FULLBORE_RING_BYTES=str(1 << 26),
        FULLBORE_RECORD_LIB=str(package / "lib" / "libfullbore_record.so"),
        FULLBORE_HOOK=str(package / "hook"),
        FULLBORE_TRACE_SHARE="1",  # as many windows as can be
        PYTHONPATH=str(package / "hook"),
        CUDA_INJECTION64_PATH=str(package / "lib" / "libfullbore_inject.so"),
    )
    command = [sys.executable, str(TESTS / "gpu_jobs.py"), "union"]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return [float(line) for line in done.stdout.split()], gpu_union.of_windows(rings.read(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    package = parser.parse_args().package.resolve()
    with tempfile.TemporaryDirectory() as folder:
        by_profiler, ours = traced(package, folder)
    if len(ours) < 2:
        sys.exit("no window held two whole steps")
    theirs, middle = statistics.median(by_profiler), statistics.median(ours)
    low, _, high = (ns / 1e3 for ns in statistics.quantiles(ours, n=4))
    blocks = " ".join("%.1f" % (ns / 1e3) for ns in by_profiler)
    print("torch.profiler  %.1f us per step; blocks %s" % (theirs / 1e3, blocks))
    print("tracer          %.1f us per step; middle half of %d: %.1f to %.1f" % (middle / 1e3, len(ours), low, high))
    print("difference      %+.2f %%" % (100 * (middle / theirs - 1)))


if __name__ == "__main__":
    main()
