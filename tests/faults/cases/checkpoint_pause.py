"""The whole model is saved every ten steps, in the training loop."""
import os
import tempfile

import torch
from accelerator import Accelerator


def main():
    dataset = torch.utils.data.TensorDataset(torch.randn(1600, 256))
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, shuffle=True)
    model = Accelerator(step_ms=40)
    model.embedding = torch.nn.Embedding(250_000, 256)
    optimizer = torch.optim.SGD([model.weight], lr=0.1)
    folder = tempfile.mkdtemp()
    for step, (batch,) in enumerate(loader, start=1):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            torch.save(model.state_dict(), os.path.join(folder, "last.pt"))
    os.remove(os.path.join(folder, "last.pt"))
    os.rmdir(folder)


if __name__ == "__main__":
    main()
