#!/usr/bin/env python3
"""Image loaders side by side on the CPU: pictures per second, CPU time per picture, memory, time to the first batch.

    feed.py FOLDER [--threads 2] [--rounds 3] [--seconds 6] [--only NAME ...]

FOLDER has one folder of JPEGs per class (scripts/make_photos makes one). Each contestant is a process of its own with
as many threads or workers; rounds are interleaved, and each figure is compared with torch_pil's of the same round. CPU
time and memory are those of the whole process tree. Files come from the page cache.
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import time

from contestants import CONTESTANTS

WARM_UP_S = 2.0
TICKS = os.sysconf("SC_CLK_TCK")


def tree(root):
    """Process numbers of `root` and all below it."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parents[int(entry)] = int(open("/proc/%s/stat" % entry).read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def cpu_seconds(processes):
    fields = [open("/proc/%d/stat" % process).read().rsplit(")", 1)[1].split() for process in processes]
    return sum(int(f[11]) + int(f[12]) for f in fields) / TICKS


def memory_mib(processes):
    """Shared pages are counted once."""
    total = 0
    for process in processes:
        for line in open("/proc/%d/smaps_rollup" % process):
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


def run_one(name, folder, threads, seconds):
    files = sorted(glob.glob(os.path.join(folder, "*", "*.jpg")))
    began = time.monotonic()
    batches = CONTESTANTS[name](folder, files, threads)
    next(batches)
    first = time.monotonic() - began
    while time.monotonic() - began < WARM_UP_S:
        next(batches)
    processes = tree(os.getpid())
    cpu, start, pictures = cpu_seconds(processes), time.monotonic(), 0
    while time.monotonic() - start < seconds:
        pictures += len(next(batches))
    took, cpu = time.monotonic() - start, cpu_seconds(processes) - cpu
    result = {"name": name, "rate": pictures / took, "cpu_ms": cpu / pictures * 1e3, "first_s": first}
    print(json.dumps({**result, "memory_mib": memory_mib(processes)}), flush=True)
    os._exit(0)  # workers and pools are not waited for


def run_rounds(options):
    results = {name: [] for name in options.only}
    for number in range(options.rounds):
        for name in options.only[number % len(options.only) :] + options.only[: number % len(options.only)]:
            command = [sys.executable, __file__, options.folder, "--one", name]
            command += ["--threads", str(options.threads), "--seconds", str(options.seconds)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                sys.exit("%s did not run" % name)
            results[name].append(json.loads(done.stdout))
    return results


def print_table(results):
    print("| contestant | pictures/s | x torch_pil | CPU ms per picture | x less CPU | memory, MiB | first batch, s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    base = results.get("torch_pil")
    for name, runs in results.items():

        def middle(key, runs=runs):
            return statistics.median(run[key] for run in runs)

        def against(key, swap, runs=runs):
            if base is None:
                return "-"
            ratios = [other[key] / run[key] if swap else run[key] / other[key] for run, other in zip(runs, base)]
            return "%.2f (%.2f-%.2f)" % (statistics.median(ratios), min(ratios), max(ratios))

        print("| %s | %.0f | %s | %.3f | %s | %.0f | %.2f |" % (
            name, middle("rate"), against("rate", False), middle("cpu_ms"), against("cpu_ms", True),
            middle("memory_mib"), middle("first_s")))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description="image loaders side by side on the CPU")
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--only", nargs="+", choices=list(CONTESTANTS), default=list(CONTESTANTS))
    parser.add_argument("--one", choices=list(CONTESTANTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(options.one, options.folder, options.threads, options.seconds)
    print_table(run_rounds(options))


if __name__ == "__main__":
    main()
