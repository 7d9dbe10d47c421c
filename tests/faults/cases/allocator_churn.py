"""Memory of the GPU is given back to the driver and taken again in every step: because the loop says so, or because
sentences of ever other lengths do not fit the memory that is left."""

import copy

import torch
from gpu_images import Pixels
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet18
from training import options


class Sentences(Dataset):
    """Batches of vectors, each of another length, in page-locked memory."""

    def __init__(self, asked):
        self.steps = asked.steps
        lengths = (torch.randperm(384)[:96] + 128).tolist()
        self.batches = [torch.randn(64, length, 256).pin_memory() for length in lengths]

    def __len__(self):
        return self.steps

    def __getitem__(self, index):
        return self.batches[index % len(self.batches)]


def lengths(asked):
    torch.cuda.set_per_process_memory_fraction(asked.mib * 2**20 / torch.cuda.get_device_properties(0).total_memory)
    loader = DataLoader(Sentences(asked), batch_size=None, shuffle=True)
    layer = torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)
    model = torch.nn.Sequential(*[copy.deepcopy(part) for _ in range(6) for part in layer]).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for batch in loader:
        loss = model(batch.to("cuda", non_blocking=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def emptied(asked):
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


def main():
    asked = options(how="emptied", batch_size=128, mib=2600, steps=300)
    {"emptied": emptied, "lengths": lengths}[asked.how](asked)


if __name__ == "__main__":
    main()
