"""Hundreds of small kernels per step, launched one by one: a small transformer with four sentences per batch, or a
network that is unrolled in Python. The GPU is done with each before the next is there; nothing waits."""

import torch
from torch.utils.data import DataLoader, TensorDataset
from training import options


class Unrolled(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = torch.nn.LSTMCell(width, width)

    def forward(self, inputs):
        hidden = state = torch.zeros_like(inputs[:, 0])
        for k in range(inputs.shape[1]):
            hidden, state = self.cell(inputs[:, k], (hidden, state))
        return hidden


def network(asked):
    if asked.net == "unrolled":
        return Unrolled(asked.width)
    layer = torch.nn.TransformerEncoderLayer(asked.width, nhead=4, dim_feedforward=4 * asked.width, batch_first=True)
    return torch.nn.TransformerEncoder(layer, asked.layers)


def main():
    asked = options(net="transformer", layers=12, width=256, length=64, batch_size=4, steps=350)
    sentences = torch.randn(256, asked.length, asked.width)
    order = torch.utils.data.RandomSampler(sentences, replacement=True, num_samples=asked.batch_size * asked.steps)
    loader = DataLoader(TensorDataset(sentences), asked.batch_size, sampler=order, pin_memory=True)
    model = network(asked).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for (batch,) in loader:
        batch = batch.to("cuda", non_blocking=True)
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
