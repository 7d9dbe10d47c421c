#!/usr/bin/env python3
"""Fullbore's decoder and its peers doing the same crops, taking turns: CPU time per picture and the ratio in each round.

    rounds.py FOLDER [--bench build/dev/bin/jpeg_bench] [--rounds 5] [--limit 500] [--target N]

Each contestant is a process of its own with one thread. A peer that cannot be loaded is named with the reason.
--target: one bit of Highway's HWY_* (512 is AVX2): Fullbore's rows with that instruction set alone.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OWN = ["crop 224, no index", "crop 224, writing the file", "crop 224, index from the file", "crop 224, index"]
PEERS = ["torchvision", "pil"]


def own(arguments, mode):
    command = [arguments.bench, "--rounds", "1", "--limit", str(arguments.limit), "--only", mode]
    if arguments.target:
        command += ["--target", str(arguments.target)]
    done = subprocess.run(command + [arguments.folder], capture_output=True, text=True, check=True)
    return float(re.search(r"([\d.]+) ms CPU", done.stdout)[1])


def peer(crops, name):
    done = subprocess.run([sys.executable, os.path.join(HERE, "peers.py"), crops, name], capture_output=True, text=True)
    if done.returncode != 0:
        raise LookupError(done.stderr.strip().splitlines()[-1])
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--bench", default="build/dev/bin/jpeg_bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=500)
    parser.add_argument("--target", type=int)
    arguments = parser.parse_args()
    crops = os.path.join(tempfile.mkdtemp(), "crops.tsv")
    command = [arguments.bench, "--rounds", "1", "--limit", str(arguments.limit), "--crops", crops, "--only", OWN[0]]
    print(subprocess.run(command + [arguments.folder], capture_output=True, text=True, check=True).stdout.splitlines()[0])
    times = {name: [] for name in OWN + PEERS}
    for _ in range(arguments.rounds):
        for name in list(times):
            try:
                times[name].append(peer(crops, name) if name in PEERS else own(arguments, name))
            except LookupError as why:
                print("%s is absent: %s" % (name, why))
                del times[name]
    for name, ms in times.items():
        print("%-30s %.3f ms (%.3f to %.3f)" % (name, statistics.median(ms), min(ms), max(ms)))
    for slow in PEERS:
        for fast in OWN:
            if slow in times:
                ratios = sorted(a / b for a, b in zip(times[slow], times[fast]))
                line = "%s takes %.2f times as long as %s (%.2f to %.2f)"
                print(line % (slow, statistics.median(ratios), fast, ratios[0], ratios[-1]))


if __name__ == "__main__":
    main()
