#!/usr/bin/env python3
"""What the first epoch of an ImageLoader pays for writing the index, and what the next run gains: rounds in turns.

    first_epoch.py FOLDER [ROUNDS]

CPU time of the process per picture, one thread, uint8 crops of 224; the index lies in a temporary folder.
"""

import os
import statistics
import sys
import tempfile
import time

import fullbore


def epoch(folder, number, **options):
    transform = [fullbore.RandomResizedCrop(224), fullbore.RandomHorizontalFlip()]
    began = time.process_time()
    with fullbore.ImageLoader(folder, 64, transform=transform, dtype="uint8", layout="NHWC", threads=1, drop_last=False,
                              output="numpy", index_memory=0, **options) as loader:  # fmt: skip
        loader.set_epoch(number)
        pictures = sum(len(labels) for _, labels in loader)
    return (time.process_time() - began) / pictures * 1e3


def main():
    folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    index = os.path.join(tempfile.mkdtemp(), "index")
    epoch(folder, 0, index=None)  # files into the page cache
    times = {"no index": [], "writing it": [], "reading it": []}
    for number in range(rounds):
        times["no index"].append(epoch(folder, number, index=None))
        times["writing it"].append(epoch(folder, number, index=index))
        times["reading it"].append(epoch(folder, number, index=index))
        size = os.path.getsize(index)
        os.remove(index)
    for name, ms in times.items():
        ratios = sorted(a / b for a, b in zip(ms, times["no index"]))
        line = "%-12s %.3f ms of CPU per picture (%.3f to %.3f); %.3f times as long as without (%.3f to %.3f)"
        print(line % (name, statistics.median(ms), min(ms), max(ms), statistics.median(ratios), ratios[0], ratios[-1]))
    print("the index: %d bytes" % size)


if __name__ == "__main__":
    main()
