"""A dataset that keeps every sample that it has made, in each worker, and is never done growing."""

import numpy as np
import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Remembering(torch.utils.data.Dataset):
    def __init__(self, kilobytes):
        self.kilobytes, self.made = kilobytes, {}

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if index not in self.made:
            rng = np.random.default_rng(index)
            self.made[index] = rng.integers(0, 255, 1000 * self.kilobytes, dtype=np.uint8)
        return torch.from_numpy(self.made[index][:5000].copy()), index % 10


def main():
    asked = options(kilobytes=500, batch_size=4, step_ms=40.0, steps=1400)
    remembering = Remembering(asked.kilobytes)
    loader = DataLoader(
        Streamed(remembering) if asked.iterable else remembering,
        asked.batch_size,
        num_workers=asked.workers,
        **order(asked),
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
