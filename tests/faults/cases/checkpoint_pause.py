"""The whole model is saved every few steps, in the training loop."""

import os
import tempfile

import torch
from torch.utils.data import DataLoader, TensorDataset
from training import model_of, options


def main():
    asked = options(every=10, embeddings=250_000, rows=1600, batch_size=16, step_ms=40.0, workers=0)
    loader = DataLoader(
        TensorDataset(torch.randn(asked.rows, 256)), asked.batch_size, shuffle=True, num_workers=asked.workers
    )
    model = model_of(asked)
    model.embedding = torch.nn.Embedding(asked.embeddings, 256)
    optimizer = torch.optim.SGD(
        [weight for name, weight in model.named_parameters() if "embedding" not in name], lr=0.1
    )
    with tempfile.TemporaryDirectory() as folder:
        for step, (batch,) in enumerate(loader, start=1):
            loss = model(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % asked.every == 0:
                torch.save(model.state_dict(), os.path.join(folder, "last.pt"))


if __name__ == "__main__":
    main()
