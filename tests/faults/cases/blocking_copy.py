"""Batches lie in page-locked memory, but the copy is made without non_blocking: the loop stands still until it is done."""
import torch
from gpu_images import Batches, network


def main():
    loader = torch.utils.data.DataLoader(Batches(1000, 256), batch_size=None, shuffle=True)
    model = network()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        images = images.to("cuda")
        labels = labels.to("cuda")
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
