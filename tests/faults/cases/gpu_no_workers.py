"""Photographs are decoded in the training process, between one step and the next: num_workers is left at 0."""

import torch
from photos import Photos
from torch.utils.data import DataLoader, RandomSampler
from torchvision.models import resnet18
from training import options


def main():
    asked = options(workers=0, batch_size=16, steps=60)
    photos = Photos(asked.paths[0])
    order = RandomSampler(photos, replacement=True, num_samples=asked.batch_size * asked.steps)
    loader = DataLoader(photos, asked.batch_size, sampler=order, num_workers=asked.workers, pin_memory=True)
    model = resnet18(num_classes=10).to("cuda")
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True).float().div_(255)
        labels = labels.to("cuda", non_blocking=True)
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
