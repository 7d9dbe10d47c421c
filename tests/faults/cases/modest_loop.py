"""A loop with everything that a loop has, each as it should be: a validation pass and a checkpoint now and then, the
loss read and printed every few steps."""

import os
import tempfile

import torch
from torch.utils.data import DataLoader, TensorDataset
from training import model_of, options
from validation_pause import validate


def main():
    asked = options(
        every=40, print_every=10, read_every=10, rows=2560, held_out=32, batch_size=16, step_ms=60.0, workers=0
    )
    train = DataLoader(
        TensorDataset(torch.randn(asked.rows, 256)), asked.batch_size, shuffle=True, num_workers=asked.workers
    )
    test = DataLoader(TensorDataset(torch.randn(asked.held_out, 256)), asked.batch_size)
    model = model_of(asked)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with tempfile.TemporaryDirectory() as folder:
        for step, (batch,) in enumerate(train, start=1):
            loss = model(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            value = loss.item() if step % asked.read_every == 0 else None
            if step % asked.print_every == 0:
                print("step %d: %s" % (step, value))
            if step % asked.every == 0:
                validate(model, test)
                torch.save(model.state_dict(), os.path.join(folder, "last.pt"))


if __name__ == "__main__":
    main()
