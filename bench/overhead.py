"""What watching costs the watched: interleaved runs of the same loop, alone and under `fullbore run`.

    python bench/overhead.py [--python PATH ...] [--rounds 7]

An interpreter without torch runs the loop on the stand-in loader of tests/python/standin. Costs of the training thread are its CPU
time, which neighbours on a shared machine disturb least; the figure is the difference of the medians, its spread the
quartiles of the paired differences. The first half of each run is left out: the opening windows of the line timing cost
up to 40 ms once. Numbers to reach: 20 us per step, 5 us per sample made in the training thread,
0.5 % of a 10 ms step, 0.5 s at start-up, collector 64 MiB and 1 % of one core, run folder 2 MB per minute."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOOP = ROOT / "bench" / "overhead_loop.py"


def fullbore():
    return os.environ.get("FULLBORE_BIN") or str(ROOT / "build" / "release" / "fullbore" / "bin" / "fullbore")


def environment(python):
    has_torch = subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    if has_torch:
        return "torch", dict(os.environ)
    return "stand-in", dict(os.environ, PYTHONPATH=str(ROOT / "tests" / "python" / "standin"))


def run(python, env, arguments, watch_folder=None):
    command = [python, str(LOOP), *arguments]
    if watch_folder:
        command = [fullbore(), "run", "--quiet", "--out", watch_folder, "--", *command]
    output = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])


def paired(python, env, arguments, rounds):
    """List of (alone, watched) results, interleaved, the order turned every round."""
    pairs = []
    with tempfile.TemporaryDirectory() as base:
        for k in range(rounds):
            result = {}
            for watched in ((False, True) if k % 2 else (True, False)):
                folder = os.path.join(base, str(k)) if watched else None
                result[watched] = run(python, env, arguments, folder)
            pairs.append((result[False], result[True]))
    return pairs


def difference(pairs, key):
    """Median of the paired differences, and their quartiles."""
    values = sorted(watched[key] - alone[key] for alone, watched in pairs)
    quarter = max(1, len(values) // 4)
    return statistics.median(values), values[quarter - 1], values[-quarter]


def row(name, value, low, high, unit, limit):
    verdict = "met" if value <= limit else "MISSED"
    print("  %-58s %8.2f %-4s (%.2f to %.2f)  limit %g: %s" % (name, value, unit, low, high, limit, verdict), flush=True)


def steps(python, env, rounds):
    one = paired(python, env, ["--batch-size", "1"], rounds)
    many = paired(python, env, ["--batch-size", "64", "--steps", "1500"], rounds)
    workers = paired(python, env, ["--batch-size", "8", "--steps", "3000", "--workers", "1"], rounds)
    long = paired(python, env, ["--steps", "500", "--step-ms", "10", "--workers", "1"], rounds)
    per_step, per_batch = difference(one, "cpu_us"), difference(many, "cpu_us")
    per_sample = [(b - a) / 63 for a, b in zip(per_step, per_batch)]
    with_worker = difference(workers, "cpu_us")
    row("training thread, per step, batches from a worker", *with_worker, "us", 20)
    step_alone = [value - sample for value, sample in zip(per_step, per_sample)]
    row("training thread, per step, num_workers=0, less its sample", *step_alone, "us", 20)
    row("training thread, per sample made there", *per_sample, "us", 5)
    share = [value / 1e4 * 100 for value in difference(long, "wall_us")]
    row("of a 10 ms step", *share, "%", 0.5)


def start_up(python, env, rounds):
    seconds = {False: [], True: []}
    with tempfile.TemporaryDirectory() as base:
        for k in range(rounds):
            for watched in (False, True):
                command = [python, "-c", "pass"]
                if watched:
                    command = [fullbore(), "run", "--quiet", "--out", os.path.join(base, str(k)), "--", *command]
                begin = time.perf_counter()
                subprocess.run(command, env=env, check=True)
                seconds[watched].append(time.perf_counter() - begin)
    extra = sorted(b - a for a, b in zip(seconds[False], seconds[True]))
    row("start-up and end, whole program", statistics.median(extra), extra[0], extra[-1], "s", 0.5)


def collector(python, env):
    """A run of half a minute with a step of 10 ms and two workers: the collector's own cost and the folder's size."""
    with tempfile.TemporaryDirectory() as base:
        folder = os.path.join(base, "run")
        begin = time.perf_counter()
        run(python, env, ["--steps", "3000", "--step-ms", "10", "--workers", "2", "--batch-size", "32"], folder)
        seconds = time.perf_counter() - begin
        info = json.loads(Path(folder, "run.json").read_text())
        size = sum(file.stat().st_size for file in Path(folder).rglob("*.fbr"))
    cpu = info["collector_cpu_s"] / seconds * 100
    row("collector, CPU of one core", cpu, cpu, cpu, "%", 1)
    row("collector, peak memory", info["collector_peak_mib"], info["collector_peak_mib"], info["collector_peak_mib"], "MiB", 64)
    megabytes = size / 1e6 / seconds * 60
    row("run folder per minute", megabytes, megabytes, megabytes, "MB", 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    for python in options.python:
        loader, env = environment(python)
        version = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.strip()
        print("%s, %s loader, %d interleaved rounds" % (version, loader, options.rounds), flush=True)
        steps(python, env, options.rounds)
        start_up(python, env, options.rounds)
        collector(python, env)


if __name__ == "__main__":
    main()
