"""Gradients of several small batches are accumulated quickly, then comes a long optimiser step: batches are wanted in
bursts, and only two per worker are kept ready."""

import time

import torch
from accelerator import Accelerator
from torch.utils.data import DataLoader
from training import Streamed, options, order


class Remote(torch.utils.data.Dataset):
    def __init__(self, trip_ms):
        self.trip_ms = trip_ms

    def __len__(self):
        return 8000

    def __getitem__(self, index):
        time.sleep(self.trip_ms / 1e3)  # one round trip to the store
        return torch.full((256,), float(index)), index % 10


def main():
    asked = options(trip_ms=5.0, accumulate=8, burst_ms=4.0, step_ms=300.0, batch_size=8, steps=240)
    remote = Remote(asked.trip_ms)
    loader = DataLoader(
        Streamed(remote) if asked.iterable else remote, asked.batch_size, num_workers=asked.workers, **order(asked)
    )
    model, reduce = Accelerator(asked.burst_ms), Accelerator(asked.step_ms)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (batch, labels) in enumerate(loader, start=1):
        loss = model(batch)
        loss.backward()
        if step % asked.accumulate == 0:
            reduce(batch)
            optimizer.step()
            optimizer.zero_grad()
        if step == asked.steps:
            break


if __name__ == "__main__":
    main()
