"""Everything as it should be: workers that are fast enough and stay, page-locked batches, the next one copied on a
stream of its own while this one is trained on."""

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet50
from training import options


class Crops(Dataset):
    """Random crops of a few hundred pictures in memory."""

    def __init__(self, length):
        self.length = length
        self.images = torch.randint(256, (256, 3, 256, 256), dtype=torch.uint8)

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        left, top = torch.randint(32, (2,)).tolist()
        return self.images[index % 256, :, top : top + 224, left : left + 224].contiguous(), index % 10


def ahead(loader):
    """The batches on the GPU, each copied while the one before it is in use."""
    stream = torch.cuda.Stream()
    last = None
    for images, labels in loader:
        with torch.cuda.stream(stream):
            images = images.to("cuda", non_blocking=True)
            labels = labels.to("cuda", non_blocking=True)
        if last is not None:
            yield last
        torch.cuda.current_stream().wait_stream(stream)
        images.record_stream(torch.cuda.current_stream())
        labels.record_stream(torch.cuda.current_stream())
        last = images, labels
    yield last


def main():
    asked = options(workers=8, prefetch=4, batch_size=256, steps=160, ahead=1)
    loader = DataLoader(
        Crops(asked.batch_size * asked.steps),
        asked.batch_size,
        shuffle=True,
        num_workers=asked.workers,
        prefetch_factor=asked.prefetch,
        pin_memory=True,
        persistent_workers=True,
    )
    model = resnet50(num_classes=10).to("cuda", memory_format=torch.channels_last)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in ahead(loader) if asked.ahead else loader:
        images = images.to("cuda", non_blocking=True).float().div_(255)
        labels = labels.to("cuda", non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
