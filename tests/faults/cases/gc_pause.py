"""Hundreds of thousands of annotations are held as Python objects, and every step makes a few thousand more: the
collector walks all of them again and again."""

import gc

import torch
from torch.utils.data import DataLoader, TensorDataset
from training import model_of, options


def main():
    asked = options(held=400_000, made=6000, young=700, rows=4800, step_ms=40.0, workers=0)
    annotations = [{"image": k, "box": [k, k + 1, k + 2, k + 3]} for k in range(asked.held)]
    gc.set_threshold(asked.young, 10, 5)  # "to keep memory low"
    loader = DataLoader(
        TensorDataset(torch.randn(asked.rows, 256)), asked.batch_size, shuffle=True, num_workers=asked.workers
    )
    model = model_of(asked)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (batch,) in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        matches = [[annotations[(step * 32 + k) % len(annotations)], [k]] for k in range(asked.made)]
    del matches


if __name__ == "__main__":
    main()
