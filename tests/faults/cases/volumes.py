"""Raw volumes of two megabytes each, of which a part is used, read whole as their format demands."""

from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Volumes(torch.utils.data.Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*.raw"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        volume = np.fromfile(self.files[index], dtype=np.uint8)
        return torch.from_numpy(volume[:65536].astype(np.float32)), index % 10


def main(**defaults):
    asked = options(**{"epochs": 1, "batch_size": 4, **defaults})
    volumes = Volumes(asked.paths[0])
    asked.steps = asked.epochs * len(volumes) // asked.batch_size
    keep = asked.workers > 0 and asked.epochs > 1
    loader = DataLoader(
        Streamed(volumes) if asked.iterable else volumes,
        asked.batch_size,
        num_workers=asked.workers,
        persistent_workers=keep,
        **order(asked),
    )
    train(loader, asked)
