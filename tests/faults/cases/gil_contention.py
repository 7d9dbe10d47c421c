"""Statistics of every batch are kept by a thread of the training process, in plain Python: while it counts, nothing is
trained."""
import queue
import threading

import torch
from accelerator import Accelerator


def count(batches):
    """Words of each batch, by how often they occur."""
    frequencies = {}
    while (batch := batches.get()) is not None:
        for word in batch.flatten().tolist():
            frequencies[word] = frequencies.get(word, 0) + 1


def main():
    dataset = torch.utils.data.TensorDataset(torch.randint(50_000, (9600, 2048), dtype=torch.int32))
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)
    model = Accelerator(step_ms=5)
    layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(150))
    optimizer = torch.optim.SGD([*model.parameters(), *layers.parameters()], lr=0.1)
    batches = queue.Queue()
    counter = threading.Thread(target=count, args=(batches,), daemon=True)
    counter.start()
    hidden = torch.randn(4, 8)
    for step, (batch,) in enumerate(loader):
        batches.put(batch)
        loss = model(batch)
        out = hidden
        for layer in layers:
            out = layer(out)
        optimizer.zero_grad()
        (loss + out.square().mean()).backward()
        optimizer.step()
    batches.put(None)


if __name__ == "__main__":
    main()
