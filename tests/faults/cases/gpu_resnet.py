"""A large batch from memory, and a model that keeps the GPU busy: launching a step takes half as long as the step.
Where the loss is read in every step, the loop stands still for the other half, and the GPU for the moment that it takes
to launch the first kernel."""

import torch
from gpu_images import Pixels
from torch.utils.data import DataLoader
from torchvision.models import resnet50
from training import options


def main():
    asked = options(batch_size=256, steps=180, read_every=0)
    loader = DataLoader(Pixels(asked.steps, asked.batch_size), batch_size=None, shuffle=True)
    model = resnet50(num_classes=10).to("cuda", memory_format=torch.channels_last)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, (images, labels) in enumerate(loader, start=1):
        images = images.to("cuda", non_blocking=True).float().div_(255)
        labels = labels.to("cuda", non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if asked.read_every and step % asked.read_every == 0:
            print("step %d: %.3f" % (step, loss.item()))


if __name__ == "__main__":
    main()
