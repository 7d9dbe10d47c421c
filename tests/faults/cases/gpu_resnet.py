"""A large batch from memory, and a model that keeps the GPU busy: launching a step takes half as long as the step."""

import torch
from gpu_images import Pixels
from torch.utils.data import DataLoader
from torchvision.models import resnet50
from training import options


def main():
    asked = options(batch_size=256, steps=180)
    loader = DataLoader(Pixels(asked.steps, asked.batch_size), batch_size=None, shuffle=True)
    model = resnet50(num_classes=10).to("cuda", memory_format=torch.channels_last)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True).float().div_(255)
        labels = labels.to("cuda", non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
