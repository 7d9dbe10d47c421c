"""Copies are made from page-locked memory with non_blocking, but on the stream of the kernels: those wait meanwhile."""
import torch
from gpu_images import Pixels, network


def main():
    loader = torch.utils.data.DataLoader(Pixels(1000, 1024), batch_size=None, shuffle=True)
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
