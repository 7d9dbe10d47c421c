"""The loss is read in every step for the running mean, and only then are the labels of the next report prepared."""
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.append(str(Path(__file__).resolve().parents[1] / "site-packages"))
from queued_accelerator import QueuedAccelerator  # noqa: E402


def confusion(rng):
    """Class statistics of the batch, on the host."""
    scores = rng.random((256, 1000), dtype=np.float32)
    return np.bincount(scores.argsort(axis=1)[:, -5:].ravel(), minlength=1000)


def main():
    dataset = torch.utils.data.TensorDataset(torch.randn(4800, 256))
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)
    model = QueuedAccelerator(step_ms=40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rng = np.random.default_rng(0)
    mean = 0.0
    for step, (batch,) in enumerate(loader, start=1):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean += (loss.item() - mean) / step
        confusion(rng)


if __name__ == "__main__":
    main()
