"""Statistics of every batch are kept by threads of the training process, in plain Python: while they count, nothing is
trained."""

import queue
import threading

import torch
from torch.utils.data import DataLoader, TensorDataset
from training import model_of, options


def count(batches):
    """Words of each batch, by how often they occur."""
    frequencies = {}
    while (batch := batches.get()) is not None:
        for word in batch.flatten().tolist():
            frequencies[word] = frequencies.get(word, 0) + 1


def main():
    asked = options(threads=1, words=2048, layers=150, rows=9600, step_ms=5.0, workers=0)
    dataset = TensorDataset(torch.randint(50_000, (asked.rows, asked.words), dtype=torch.int32))
    loader = DataLoader(dataset, asked.batch_size, shuffle=True, num_workers=asked.workers)
    model = model_of(asked)
    layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(asked.layers))
    optimizer = torch.optim.SGD([*model.parameters(), *layers.parameters()], lr=0.1)
    batches = queue.Queue()
    counters = [threading.Thread(target=count, args=(batches,), daemon=True) for _ in range(asked.threads)]
    for counter in counters:
        counter.start()
    hidden = torch.randn(4, 8)
    for step, (batch,) in enumerate(loader):
        for _ in counters:
            batches.put(batch)
        loss = model(batch)
        out = hidden
        for layer in layers:
            out = layer(out)
        optimizer.zero_grad()
        (loss + out.square().mean()).backward()
        optimizer.step()
    for _ in counters:
        batches.put(None)


if __name__ == "__main__":
    main()
