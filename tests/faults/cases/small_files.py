"""One sample is a folder of forty small text files: opening them is the work."""

from pathlib import Path

import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Landmarks(torch.utils.data.Dataset):
    def __init__(self, root, points):
        self.folders = sorted(Path(root).iterdir())
        self.points = points

    def __len__(self):
        return len(self.folders)

    def __getitem__(self, index):
        values = []
        for file in sorted(self.folders[index].iterdir())[: self.points]:
            with open(file, "rb") as text:
                values.append(float(text.read(12)))
        return torch.tensor(values), index % 10


def main():
    asked = options(points=40, batch_size=16, workers=1, step_ms=10.0, steps=100)
    landmarks = Landmarks(asked.paths[0], asked.points)
    loader = DataLoader(
        Streamed(landmarks) if asked.iterable else landmarks,
        asked.batch_size,
        num_workers=asked.workers,
        **order(asked),
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
