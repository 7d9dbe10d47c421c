#!/usr/bin/env python3
"""Whether a network ends at the same accuracy from ImageLoader as from a DataLoader with Pillow.

    accuracy.py FOLDER [--seeds 5] [--epochs 6] [--per-class 64]

FOLDER has one folder of pictures per class (scripts/make_photos makes one). Of each class three quarters are trained on
and one is judged by. The network and both feeders are those of examples/train_with_image_loader.py; a seed is that of
the network, of the order and of the crops. Printed are the shares that are right after the last epoch, and the
difference of the means with its 95 % interval (Welch's, by the normal distribution: for few seeds it is too narrow).
"""

import argparse
import random
import statistics
import sys
import tempfile
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "examples"))
import train_with_image_loader as example  # noqa: E402


def split(source, target, per_class):
    """Links to the pictures, in target/train and target/validation."""
    for kind in sorted(path for path in Path(source).iterdir() if path.is_dir()):
        for number, file in enumerate(sorted(kind.iterdir())[:per_class]):
            place = target / ("validation" if number % 4 == 3 else "train") / kind.name
            place.mkdir(parents=True, exist_ok=True)
            (place / file.name).symlink_to(file.resolve())
    return target / "train", target / "validation"


def run(feeder, folders, epochs, seed):
    torch.manual_seed(seed)
    random.seed(seed)
    train, validation = feeder(*folders, "cpu", seed)
    model = example.network(sum(path.is_dir() for path in folders[0].iterdir()))
    optimizer = example.optimizer_of(model)
    # Towards a small rate, because the last steps of a large one would scatter the result.
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, epochs)
    for _ in range(epochs):
        example.train_epoch(model, optimizer, train, "cpu")
        schedule.step()
    return example.accuracy(model, validation, "cpu")


def main():
    parser = argparse.ArgumentParser(description="accuracy from ImageLoader and from Pillow")
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--per-class", type=int, default=64)
    args = parser.parse_args()

    torch.set_num_threads(1)
    feeders = {"ImageLoader": example.with_image_loader, "Pillow": example.with_pillow}
    right = {name: [] for name in feeders}
    with tempfile.TemporaryDirectory() as folder:
        folders = split(args.folder, Path(folder), args.per_class)
        for seed in range(args.seeds):
            for name, feeder in feeders.items():
                right[name].append(run(feeder, folders, args.epochs, seed))
                print("seed %d, %s: %.1f %%" % (seed, name, 100 * right[name][-1]), flush=True)
    ours, theirs = right.values()
    for name, values in right.items():
        print("%s: mean %.1f %%, deviation %.1f" % (name, 100 * statistics.mean(values), 100 * statistics.stdev(values)))
    error = ((statistics.variance(ours) + statistics.variance(theirs)) / args.seeds) ** 0.5
    difference = statistics.mean(ours) - statistics.mean(theirs)
    print("difference %+.1f points, from %+.1f to %+.1f" % tuple(
        100 * value for value in (difference, difference - 1.96 * error, difference + 1.96 * error)))  # fmt: skip


if __name__ == "__main__":
    main()
