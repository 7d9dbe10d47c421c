"""Short epochs and sixteen workers on a few cores: each epoch begins with sixteen batches made at a crawl."""
import sys

import torch
from accelerator import Accelerator
from photos import Photos


def main():
    dataset = Photos(sys.argv[1])
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, shuffle=True, num_workers=16, persistent_workers=True)
    model = Accelerator(step_ms=60)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(6):
        for images, labels in loader:
            loss = model(images)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
