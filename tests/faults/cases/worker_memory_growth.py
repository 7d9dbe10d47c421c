"""A dataset that keeps every sample that it has made, in each worker, and is never done growing."""
import numpy as np
import torch
from accelerator import Accelerator


class Remembering(torch.utils.data.Dataset):
    def __init__(self):
        self.made = {}

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if index not in self.made:
            self.made[index] = np.random.default_rng(index).integers(0, 255, 500_000, dtype=np.uint8)
        return torch.from_numpy(self.made[index][::100].copy())


def main():
    loader = torch.utils.data.DataLoader(Remembering(), batch_size=4, shuffle=True, num_workers=2)
    model = Accelerator(step_ms=40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 1400:
            break


if __name__ == "__main__":
    main()
