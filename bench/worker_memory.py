"""What it costs that loader workers give the memory of each sample back: the same DataLoader with and without
worker_init_fn=fullbore.keep_freed_memory, in turns, over samples of three kinds.

    python bench/worker_memory.py [--rounds 5] [--batches 40] [--workers 2]

Prints, per kind, batches per second of both, the ratio with its range over the rounds, and page faults per batch.
"""

import argparse
import io
import resource
import statistics
import time

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

import fullbore


class Photographs(Dataset):
    """Decoded, cut and made smaller by Pillow, as most people do it: 1200x900, 4.3 MB when decoded."""

    def __init__(self):
        rng = np.random.default_rng(0)
        picture = Image.fromarray(rng.integers(0, 256, (150, 200, 3), np.uint8)).resize((1200, 900))
        self.jpeg = io.BytesIO()
        picture.save(self.jpeg, "JPEG", quality=92)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        picture = Image.open(io.BytesIO(self.jpeg.getvalue())).convert("RGB")
        picture = picture.resize((224, 224), box=(100, 50, 900, 650))
        return torch.from_numpy(np.array(picture)).permute(2, 0, 1), index % 10


class Floats(Photographs):
    """Arithmetic on floats, as augmentation does it."""

    def __getitem__(self, index):
        picture = np.full((448, 448, 3), index & 255, np.uint8).astype(np.float32)
        picture = (picture / 255 - 0.5) / 0.25
        return torch.from_numpy(picture[::2, ::2].copy()).permute(2, 0, 1), index % 10


class Table(Photographs):
    """A row of 64 numbers: nothing that is given back."""

    def __getitem__(self, index):
        row = np.arange(64, dtype=np.float32)
        for _ in range(40):
            row = np.sqrt(row * row + index)
        return torch.from_numpy(row), index % 10


def run(dataset, arguments, init):
    """(batches per second, page faults of all workers per batch), the first ten batches left out."""
    loader = DataLoader(dataset, batch_size=32, num_workers=arguments.workers, worker_init_fn=init)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    began = 0.0
    for number, _ in enumerate(loader):
        if number == 10:
            began = time.perf_counter()
        if number == 10 + arguments.batches:
            break
    seconds = time.perf_counter() - began
    del loader
    faults = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before
    return arguments.batches / seconds, faults / (11 + arguments.batches)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for dataset in (Photographs(), Floats(), Table()):
        plain, kept, ratios = [], [], []
        for _ in range(arguments.rounds):
            plain.append(run(dataset, arguments, None))
            kept.append(run(dataset, arguments, fullbore.keep_freed_memory))
            ratios.append(kept[-1][0] / plain[-1][0])
        rate = [statistics.median(one[0] for one in runs) for runs in (plain, kept)]
        faults = [statistics.median(one[1] for one in runs) for runs in (plain, kept)]
        print(
            "%-12s %7.1f -> %7.1f batches/s, %.2fx (%.2f to %.2f); %7.0f -> %5.0f faults per batch"
            % (type(dataset).__name__.lower(), *rate, statistics.median(ratios), min(ratios), max(ratios), *faults)
        )


if __name__ == "__main__":
    main()
