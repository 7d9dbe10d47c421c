"""A frozen encoder that is unrolled in Python, and a large layer over the vocabulary that is trained. The loss is read
in every step, so the encoder's many small kernels are launched only when the GPU has nothing left to do."""

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset
from training import options


class Encoder(torch.nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embedding = torch.nn.Embedding(words, width)
        self.cell = torch.nn.GRUCell(width, width)

    @torch.no_grad()
    def forward(self, tokens):
        inputs = self.embedding(tokens)
        hidden = torch.zeros_like(inputs[:, 0])
        states = []
        for k in range(tokens.shape[1]):
            hidden = self.cell(inputs[:, k], hidden)
            states.append(hidden)
        return torch.stack(states, dim=1)


def frequent(rng, rows):
    """Statistics of the batch for the next report, on the host."""
    scores = rng.random((rows, 1000), dtype=np.float32)
    return np.bincount(scores.argsort(axis=1)[:, -5:].ravel(), minlength=1000)


def main():
    asked = options(read="item", words=50_000, width=512, length=64, batch_size=72, steps=500, rows=0)
    text = torch.randint(asked.words, (asked.batch_size * asked.steps, asked.length + 1))
    loader = DataLoader(TensorDataset(text), asked.batch_size, shuffle=True, num_workers=2, pin_memory=True)
    encoder = Encoder(asked.words, asked.width).to("cuda")
    model = torch.nn.Linear(asked.width, asked.words).to("cuda")
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rng = np.random.default_rng(0)
    mean = 0.0
    for step, (tokens,) in enumerate(loader, start=1):
        tokens = tokens.to("cuda", non_blocking=True)
        scores = model(encoder(tokens[:, :-1]))
        loss = criterion(scores.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if asked.read == "item":
            mean += (loss.item() - mean) / step
        else:
            mean += (loss.detach().cpu().numpy() - mean) / step
        if asked.rows:
            frequent(rng, asked.rows)


if __name__ == "__main__":
    main()
