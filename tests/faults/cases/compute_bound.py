"""Rows of a table that fits in memory, and a model that needs all the time: nothing to gain at the input."""
import torch
from accelerator import Accelerator


def main():
    dataset = torch.utils.data.TensorDataset(torch.randn(3200, 256), torch.randint(10, (3200,)))
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)
    model = Accelerator(step_ms=100)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for rows, labels in loader:
        loss = model(rows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
