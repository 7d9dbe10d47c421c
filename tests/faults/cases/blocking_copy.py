"""Batches lie in page-locked memory, but the copy is made without non_blocking: the loop stands still until it is done."""
import torch
from gpu_images import Pixels, network


def main():
    loader = torch.utils.data.DataLoader(Pixels(1000, 1024), batch_size=None, shuffle=True)
    model = network()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        images = images.to("cuda")
        labels = labels.to("cuda")
        loss = criterion(model(images.float().div_(255)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
