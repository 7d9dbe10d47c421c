"""Short epochs with spawned workers that are not kept: every epoch starts Python anew in each of them."""
import torch
from accelerator import Accelerator


def main():
    dataset = torch.utils.data.TensorDataset(torch.randn(320, 256))
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, shuffle=True, num_workers=2, multiprocessing_context="spawn")
    model = Accelerator(step_ms=80)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(5):
        for (batch,) in loader:
            loss = model(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
