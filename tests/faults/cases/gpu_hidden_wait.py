"""A batch takes a third as long to make as the GPU needs for one, in the training process: the loop waits for it, but
kernels of the steps before are queued meanwhile, and the GPU never notices."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from training import options


class Noisy(Dataset):
    """Whole batches of a table, each time with other noise."""

    def __init__(self, asked):
        self.steps = asked.steps
        self.rng = np.random.default_rng(29)
        self.rows = self.rng.standard_normal((1024, asked.columns), dtype=np.float32)

    def __len__(self):
        return self.steps

    def __getitem__(self, index):
        return torch.from_numpy(self.rows + self.rng.standard_normal(self.rows.shape, dtype=np.float32))


def main():
    asked = options(columns=1536, width=8192, layers=8, steps=140, read_late=0)
    loader = DataLoader(Noisy(asked), batch_size=None, shuffle=True, pin_memory=True)
    model = torch.nn.Sequential(
        torch.nn.Linear(asked.columns, asked.width), torch.nn.ReLU(),
        *[layer for _ in range(asked.layers) for layer in (torch.nn.Linear(asked.width, asked.width), torch.nn.ReLU())],
        torch.nn.Linear(asked.width, 1),
    ).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    seen, value, total = torch.cuda.Event(), None, 0.0
    for rows in loader:
        rows = rows.to("cuda", non_blocking=True)
        loss = model(rows).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if asked.read_late:  # of the step before; item() would wait for this one as well
            if value is not None:
                seen.synchronize()
                total += float(value)
            value = loss.detach().to("cpu", non_blocking=True)
            seen.record()


if __name__ == "__main__":
    main()
