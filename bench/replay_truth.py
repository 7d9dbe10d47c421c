"""How far the replay's predictions are from runs that really had the settings it was asked about.

    python bench/replay_truth.py DATA [--keep FOLDER] [--rounds 1] [--alone]

DATA: a folder with one folder of .jpg files per class, as examples/train_images.py reads it. Three workloads
(bench/replay_loop.py) on an emulated accelerator of 20 and 80 ms run watched at 0, 1, 2, 3 workers and depths of
prefetching of 1, 2, 4; rounds are interleaved over the settings. From the runs at 0 and at 2 workers every other setting is
predicted (build/dev/bin/what_if_bench). Error: |predicted - measured| / measured step. Prints each pair, the quantiles, and
what the rest of the machine took meanwhile.

--alone gives the runs the machine as far as it can (the scheduler's autogroup at nice -20; needs root), for machines that
are busy with something else, and tells the replay so."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FULLBORE = os.environ.get("FULLBORE_BIN") or str(ROOT / "build" / "release" / "fullbore" / "bin" / "fullbore")
WHAT_IF = os.environ.get("WHAT_IF_BIN") or str(ROOT / "build" / "dev" / "bin" / "what_if_bench")
SETTINGS = ["0", "2:2", "1:2", "3:2", "2:1", "2:4", "2:3"]
FROM = ["0", "2:2"]


def take_the_machine():
    os.setsid()
    Path("/proc/self/autogroup").write_text("-20")


def watch(folder, workload, data, step_ms, setting, alone):
    workers, _, prefetch = setting.partition(":")
    command = [FULLBORE, "run", "--quiet", "--out", str(folder), "--", sys.executable, str(ROOT / "bench/replay_loop.py"),
               workload, data, "--workers", workers, "--step-ms", str(step_ms)]
    command += ["--prefetch", prefetch] if prefetch else []
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, preexec_fn=take_the_machine if alone else None)


def what_if(folder, settings, alone):
    command = [WHAT_IF, *(["--alone"] if alone else []), str(folder), *settings]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def judge(folders, name, alone, errors):
    """Errors by starting setting of one workload, step and round; prints each prediction."""
    measured = {setting: what_if(folder, [], alone) for setting, folder in folders.items()}
    print(name, " ".join("%s: %.1f ms, replayed %+.0f %%%s;" % (
        s, m["measured_ms"], 100 * (m["replayed_ms"] / m["measured_ms"] - 1), " (refused)" if m["why"] else "")
        for s, m in measured.items()), "others %.2f cores" % (sum(m["other_cores_seen"] for m in measured.values()) / len(measured)))
    for start in FROM:
        answer = what_if(folders[start], SETTINGS, alone)
        if answer["why"]:
            print("  from %-3s nothing: %s" % (start, answer["why"]))
            continue
        for setting in SETTINGS:
            if setting == start:
                continue
            error = answer["predicted"][setting] / measured[setting]["measured_ms"] - 1
            errors.setdefault(start, []).append(abs(error))
            print("  from %-3s to %-3s predicted %6.1f ms, measured %6.1f ms, %+.1f %%" % (
                start, setting, answer["predicted"][setting], measured[setting]["measured_ms"], 100 * error))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--keep", help="folder for the runs; those already there are not made again")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    errors = {}
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(options.keep or scratch)
        base.mkdir(parents=True, exist_ok=True)
        for number in range(options.rounds):
            for workload in ("photos", "service", "uneven"):
                for step_ms in (20, 80):
                    folders = {}
                    for setting in SETTINGS:
                        folder = folders[setting] = base / ("%s-%d-%s-%d" % (workload, step_ms, setting.replace(":", "x"), number))
                        if not folder.exists():
                            watch(folder, workload, options.data, step_ms, setting, options.alone)
                    judge(folders, "%s, %d ms, round %d:" % (workload, step_ms, number), options.alone, errors)
    for start, found in [*errors.items(), ("all", [error for found in errors.values() for error in found])]:
        print("from %-3s %d predictions: median %.1f %%, 90th percentile %.1f %%, worst %.1f %%" % (
            start, len(found), 100 * quantile(found, 0.5), 100 * quantile(found, 0.9), 100 * max(found)))


if __name__ == "__main__":
    main()
