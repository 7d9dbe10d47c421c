"""Several epochs over volumes that do not fit into the memory that the job may use."""
import sys
from pathlib import Path

import numpy as np
import torch
from accelerator import Accelerator


class Volumes(torch.utils.data.Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*.raw"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        volume = np.fromfile(self.files[index], dtype=np.uint8)
        return torch.from_numpy(volume[:65536].astype(np.float32))


def main():
    loader = torch.utils.data.DataLoader(
        Volumes(sys.argv[1]), batch_size=4, shuffle=True, num_workers=2, persistent_workers=True
    )
    model = Accelerator(step_ms=30)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for batch in loader:
            loss = model(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
