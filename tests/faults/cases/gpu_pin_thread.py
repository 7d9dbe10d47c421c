"""Workers are fast enough, but one thread copies every batch into page-locked memory, and the batches are large."""

import torch
from gpu_images import Images, network
from torch.utils.data import DataLoader
from training import options


def main():
    asked = options(workers=10, batch_size=512, steps=500)
    loader = DataLoader(
        Images(asked.batch_size * asked.steps), asked.batch_size, num_workers=asked.workers, pin_memory=True
    )
    model = network()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True)
        labels = labels.to("cuda", non_blocking=True)
        loss = criterion(model(images.float().div_(255)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
