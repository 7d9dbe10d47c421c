"""Rows drawn at random from one large file, a small read each, on a disk that answers few requests a second."""
import os
import sys

import numpy as np
import torch
from accelerator import Accelerator

ROW = 4096


class Rows(torch.utils.data.Dataset):
    def __init__(self, path):
        self.path = path
        self.rows = os.path.getsize(path) // ROW
        self.file = None

    def __len__(self):
        return 6400

    def __getitem__(self, index):
        if self.file is None:
            self.file = open(self.path, "rb", buffering=0)
        draw = np.random.default_rng(index)
        rows = [os.pread(self.file.fileno(), ROW, int(row) * ROW) for row in draw.integers(0, self.rows, 2)]
        return torch.from_numpy(np.frombuffer(b"".join(rows), dtype=np.uint8).astype(np.float32))


def main():
    loader = torch.utils.data.DataLoader(Rows(sys.argv[1]), batch_size=16, shuffle=True, num_workers=2)
    model = Accelerator(step_ms=40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 120:
            break


if __name__ == "__main__":
    main()
