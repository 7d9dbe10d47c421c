"""Every batch is kept, to look at the hard ones after the epoch."""

import torch
from torch.utils.data import DataLoader
from training import Streamed, model_of, options, order


class Points(torch.utils.data.Dataset):
    def __init__(self, parts):
        self.parts = parts

    def __len__(self):
        return 40000

    def __getitem__(self, index):
        return [torch.full((8,), float(index)) for _ in range(self.parts)], index % 3


def main():
    asked = options(parts=1, batch_size=4, step_ms=5.0)
    points = Points(asked.parts)
    loader = DataLoader(
        Streamed(points) if asked.iterable else points, asked.batch_size, num_workers=asked.workers, **order(asked)
    )
    model = model_of(asked)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = []
    for parts, labels in loader:
        loss = model(parts[0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append((parts, labels, loss.item()))


if __name__ == "__main__":
    main()
