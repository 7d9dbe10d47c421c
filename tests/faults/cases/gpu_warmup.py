"""cuDNN tries which convolution is fastest whenever pictures have a size that it has not seen: they come in groups of
nearly the same size, each group a little larger than the one before."""

import torch
from torch.utils.data import DataLoader
from training import options


class Pictures(torch.utils.data.Dataset):
    """Bytes; `same` of them have the same size."""

    def __init__(self, sizes, same):
        self.sizes, self.same = sizes, same

    def __len__(self):
        return self.sizes * self.same

    def __getitem__(self, index):
        side = 160 + 2 * (index // self.same)
        return torch.full((3, side, side), index % 256, dtype=torch.uint8), index % 10


def network(layers, width):
    blocks = [torch.nn.Conv2d(3, width, 3, stride=2, padding=1)]
    for k in range(layers):
        blocks += [torch.nn.Conv2d(width, width, 1 + 2 * (k % 3), padding=k % 3), torch.nn.BatchNorm2d(width)]
        blocks += [torch.nn.ReLU()]
    return torch.nn.Sequential(*blocks, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(width, 10))


def main():
    asked = options(sizes=30, each=10, layers=20, width=64, batch_size=16, workers=4)
    torch.backends.cudnn.benchmark = True
    pictures = Pictures(asked.sizes, asked.each * asked.batch_size)
    loader = DataLoader(pictures, asked.batch_size, num_workers=asked.workers, pin_memory=True)
    model = network(asked.layers, asked.width).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True).float().div_(255)
        loss = torch.nn.functional.cross_entropy(model(images), labels.to("cuda", non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
