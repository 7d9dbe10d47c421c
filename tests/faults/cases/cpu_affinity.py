"""Two workers, and the job may run on one core of the machine only."""
import sys

import torch
from accelerator import Accelerator
from photos import Photos


def main():
    dataset = Photos(sys.argv[1])
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, shuffle=True, drop_last=True, num_workers=2, persistent_workers=True)
    model = Accelerator(step_ms=10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = 0
    while step < 60:
        for images, labels in loader:
            loss = model(images)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step == 60:
                break


if __name__ == "__main__":
    main()
