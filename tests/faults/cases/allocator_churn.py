"""Memory of the GPU is given back to the driver after every step, and taken again in the next."""

import torch
from gpu_images import Pixels
from torch.utils.data import DataLoader
from torchvision.models import resnet18
from training import options


def main():
    asked = options(batch_size=128, steps=300)
    loader = DataLoader(Pixels(asked.steps, asked.batch_size), batch_size=None, shuffle=True)
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
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
