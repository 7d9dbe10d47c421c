"""The first steps take long, as with a model that is compiled or tuned first; after that nothing waits for anything."""

import time

import torch
from accelerator import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from training import options


class Compiled(Accelerator):
    def __init__(self, step_ms, first, first_ms):
        super().__init__(step_ms)
        self.left, self.first_s = first, first_ms / 1e3

    def forward(self, batch):
        if self.left > 0:
            self.left -= 1
            time.sleep(self.first_s)
        return super().forward(batch)


def main():
    asked = options(first=5, first_ms=700.0, rows=3200, step_ms=60.0, workers=0)
    loader = DataLoader(
        TensorDataset(torch.randn(asked.rows, 256)), asked.batch_size, shuffle=True, num_workers=asked.workers
    )
    model = Compiled(asked.step_ms, asked.first, asked.first_ms)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for (batch,) in loader:
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
