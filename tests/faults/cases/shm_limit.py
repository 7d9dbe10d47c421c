"""Batches of many megabytes in a container with the shared memory that containers have."""

import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Pictures(torch.utils.data.Dataset):
    def __init__(self, side):
        self.side = side

    def __len__(self):
        return 800

    def __getitem__(self, index):
        return torch.full((3, self.side, self.side), float(index % 7)), index % 10


def main():
    asked = options(side=512, batch_size=4, workers=4, prefetch=4, steps=200)
    pictures = Pictures(asked.side)
    loader = DataLoader(
        Streamed(pictures) if asked.iterable else pictures,
        asked.batch_size,
        num_workers=asked.workers,
        prefetch_factor=asked.prefetch,
        **order(asked),
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
