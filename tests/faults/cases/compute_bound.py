"""Rows of a table that fits in memory, and a model that needs all the time: nothing to gain at the input."""

import torch
from torch.utils.data import DataLoader, TensorDataset
from training import options, order, train


def main():
    asked = options(rows=6400, prefetch=2, workers=0, step_ms=100.0, steps=60)
    rows = TensorDataset(torch.randn(asked.rows, 256), torch.randint(10, (asked.rows,)))
    ahead = {"prefetch_factor": asked.prefetch, "persistent_workers": True} if asked.workers else {}
    loader = DataLoader(rows, asked.batch_size, num_workers=asked.workers, **ahead, **order(asked))
    train(loader, asked)


if __name__ == "__main__":
    main()
