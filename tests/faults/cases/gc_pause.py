"""Hundreds of thousands of annotations are held as Python objects, and every step makes a few thousand more: the collector walks all of
them again and again."""
import gc

import torch
from accelerator import Accelerator


def main():
    annotations = [{"image": k, "box": [k, k + 1, k + 2, k + 3]} for k in range(400_000)]
    gc.set_threshold(700, 10, 5)  # "to keep memory low"
    dataset = torch.utils.data.TensorDataset(torch.randn(4800, 256))
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)
    model = Accelerator(step_ms=40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (batch,) in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        matches = [[annotations[(step * 32 + k) % len(annotations)], [k]] for k in range(6000)]
    del matches


if __name__ == "__main__":
    main()
