"""Short epochs with workers that are not kept: every epoch starts them anew. Or a loader that is made anew for every
epoch."""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset
from training import Streamed, model_of, options, order


def connect(worker):
    """Opens the worker's way to the feature store."""
    time.sleep(0.8)


def main():
    asked = options(start="spawn", each=0, init=0, rows=320, batch_size=16, step_ms=80.0, epochs=5)
    rows = TensorDataset(torch.randn(asked.rows, 256))
    model = model_of(asked)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def make():
        return DataLoader(
            Streamed(rows) if asked.iterable else rows,
            asked.batch_size,
            num_workers=asked.workers,
            worker_init_fn=connect if asked.init else None,
            **order(asked),
        )

    loader = make()
    for epoch in range(asked.epochs):
        if asked.each:
            loader = make()
        for (batch,) in loader:
            loss = model(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
