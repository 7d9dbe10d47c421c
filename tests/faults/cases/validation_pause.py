"""A full validation pass after every few training steps."""

import torch
from torch.utils.data import DataLoader, TensorDataset
from training import model_of, options


@torch.no_grad()
def validate(model, loader):
    model.eval()
    total = 0.0
    for (batch,) in loader:
        total += float(model(batch))
    model.train()
    return total / len(loader)


def main():
    asked = options(every=20, held_out=192, rows=1600, batch_size=16, step_ms=50.0, workers=0)
    train = DataLoader(
        TensorDataset(torch.randn(asked.rows, 256)), asked.batch_size, shuffle=True, num_workers=asked.workers
    )
    test = DataLoader(TensorDataset(torch.randn(asked.held_out, 256)), asked.batch_size, num_workers=asked.workers)
    model = model_of(asked)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (batch,) in enumerate(train, start=1):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % asked.every == 0:
            validate(model, test)


if __name__ == "__main__":
    main()
