"""Pictures as tensors and a small network for them: what the scripts that need a GPU share."""
import torch

SHAPE = (3, 224, 224)


class Images(torch.utils.data.Dataset):
    """A few pictures as bytes, handed out again and again: making a sample costs nothing."""

    def __init__(self, length):
        self.length = length
        self.images = torch.randint(256, (64, *SHAPE), dtype=torch.uint8)

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.images[index % 64], index % 10


class Pixels(torch.utils.data.Dataset):
    """Batches of bytes made beforehand, in page-locked memory: to ask for one costs nothing."""

    def __init__(self, length, batch_size):
        self.length = length
        self.batches = [
            (
                torch.randint(256, (batch_size, *SHAPE), dtype=torch.uint8).pin_memory(),
                torch.randint(10, (batch_size,)).pin_memory(),
            )
            for _ in range(4)
        ]

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.batches[index % 4]


def network(stride=4):
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 7, stride=stride, padding=3), torch.nn.ReLU(),
        torch.nn.Conv2d(64, 128, 3, stride=2, padding=1), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(128, 10),
    ).to("cuda")
