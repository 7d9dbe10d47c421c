"""Rows drawn at random from one large file, a small read each, on a disk that answers few requests a second."""

import os

import numpy as np
import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train

ROW = 4096


class Rows(torch.utils.data.Dataset):
    def __init__(self, path, reads):
        self.path, self.reads = path, reads
        self.rows = os.path.getsize(path) // ROW
        self.file = None

    def __len__(self):
        return 6400

    def __getitem__(self, index):
        if self.file is None:
            self.file = open(self.path, "rb", buffering=0)
        draw = np.random.default_rng(index)
        rows = [os.pread(self.file.fileno(), ROW, int(row) * ROW) for row in draw.integers(0, self.rows, self.reads)]
        return torch.from_numpy(np.frombuffer(b"".join(rows), dtype=np.uint8).astype(np.float32)), index % 10


def main():
    asked = options(reads=2, batch_size=16, step_ms=40.0, steps=120)
    rows = Rows(asked.paths[0], asked.reads)
    loader = DataLoader(
        Streamed(rows) if asked.iterable else rows, asked.batch_size, num_workers=asked.workers, **order(asked)
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
