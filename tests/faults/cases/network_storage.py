"""Small files on a file server that takes milliseconds for each request: arrays, or photographs."""

from pathlib import Path

import numpy as np
import torch
from photos import Photos
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Arrays(torch.utils.data.Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return torch.from_numpy(np.load(self.files[index]).astype(np.float32)), index % 10


def main():
    asked = options(data="arrays", batch_size=8, steps=120)
    dataset = Photos(asked.paths[0]) if asked.data == "photos" else Arrays(asked.paths[0])
    loader = DataLoader(
        Streamed(dataset) if asked.iterable else dataset, asked.batch_size, num_workers=asked.workers, **order(asked)
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
