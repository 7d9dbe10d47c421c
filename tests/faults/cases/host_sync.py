"""The loss is read in every step for the running mean, and only then are the labels of the next report prepared."""

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset
from training import options

from queued_accelerator import QueuedAccelerator


def confusion(rng, rows):
    """Class statistics of the batch, on the host."""
    scores = rng.random((rows, 1000), dtype=np.float32)
    return np.bincount(scores.argsort(axis=1)[:, -5:].ravel(), minlength=1000)


def main():
    asked = options(read="item", rows=4800, scores=256, step_ms=40.0, workers=0)
    loader = DataLoader(
        TensorDataset(torch.randn(asked.rows, 256)), asked.batch_size, shuffle=True, num_workers=asked.workers
    )
    model = QueuedAccelerator(asked.step_ms)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rng = np.random.default_rng(0)
    mean = 0.0
    for step, (batch,) in enumerate(loader, start=1):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if asked.read == "item":
            mean += (loss.item() - mean) / step
        elif asked.read == "cpu":
            mean += (loss.detach().cpu().numpy() - mean) / step
        else:
            mean += (loss.tolist() - mean) / step
        confusion(rng, asked.scores)


if __name__ == "__main__":
    main()
