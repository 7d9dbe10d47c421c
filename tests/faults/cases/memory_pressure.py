"""Workers keep every sample that they have made, and together they hold more than the job may use."""
import sys
from pathlib import Path

import numpy as np
import torch
from accelerator import Accelerator


class Cached(torch.utils.data.Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*.raw"))
        self.kept = {}

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        if index not in self.kept:
            self.kept[index] = np.fromfile(self.files[index], dtype=np.uint8)
        return torch.from_numpy(self.kept[index].reshape(-1, 8).mean(1, dtype=np.float32))


def main():
    loader = torch.utils.data.DataLoader(
        Cached(sys.argv[1]), batch_size=4, shuffle=True, num_workers=2, persistent_workers=True
    )
    model = Accelerator(step_ms=30)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(5):
        for batch in loader:
            loss = model(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
