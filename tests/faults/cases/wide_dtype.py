"""The data are bytes, but each value is copied to the GPU as four or eight of them: pictures that numpy's division made
float64 (or float32), class maps as int64."""

import numpy as np
import torch
from gpu_images import network
from torch.utils.data import DataLoader, Dataset
from training import options

SHAPE = (3, 224, 224)


class Ready(Dataset):
    """A few batches in page-locked memory, handed out again and again."""

    def __init__(self, asked):
        rng = np.random.default_rng(23)
        self.steps = asked.steps
        self.batches = [self.batch(rng, asked) for _ in range(3)]

    def batch(self, rng, asked):
        pixels = rng.integers(0, 256, (asked.batch_size, *SHAPE), dtype=np.uint8)
        if asked.kind == "maps":
            classes = pixels[:, 0].astype(np.int64) % 10
            return torch.from_numpy(pixels).pin_memory(), torch.from_numpy(classes).pin_memory()
        images = pixels / 255.0
        if asked.kind == "float32":
            images = images.astype(np.float32)
        return torch.from_numpy(images).pin_memory(), torch.arange(asked.batch_size).remainder(10).pin_memory()

    def __len__(self):
        return self.steps

    def __getitem__(self, index):
        return self.batches[index % len(self.batches)]


class Segmentation(torch.nn.Module):
    """Ten scores for each of the squares of 8x8 pixels."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 64, 8, stride=8), torch.nn.ReLU(),
            torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.ReLU(),
            torch.nn.Conv2d(64, 10, 1),
        )

    def forward(self, images):
        return self.layers(images)


def main():
    asked = options(kind="float64", stride=4, batch_size=256, steps=700)
    loader = DataLoader(Ready(asked), batch_size=None, shuffle=True)
    model = Segmentation().to("cuda") if asked.kind == "maps" else network(asked.stride)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True)
        labels = labels.to("cuda", non_blocking=True)
        if asked.kind == "maps":
            images, labels = images.float().div_(255), labels[:, ::8, ::8]
        loss = criterion(model(images.float()), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
