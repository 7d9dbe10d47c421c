"""Trains a small network on a folder of pictures, fed by fullbore.ImageLoader; prints the accuracy after each epoch.

    python examples/train_with_image_loader.py TRAIN VALIDATION [--epochs 8] [--pillow]

Both folders have one folder of pictures per class. --pillow feeds the same network by a DataLoader with Pillow and the
same transforms, to compare.
"""

import argparse
import math
import random
import time
from pathlib import Path

import torch
from torch import nn

import fullbore

SIZE, BATCH = 64, 32
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NORMALISE = fullbore.Normalize(MEAN, STD)


def with_image_loader(train, validation, device, seed):
    crop = [fullbore.RandomResizedCrop(SIZE, scale=(0.25, 1.0)), fullbore.RandomHorizontalFlip(), NORMALISE]
    center = [fullbore.Resize(SIZE), fullbore.CenterCrop(SIZE), NORMALISE]
    return (
        fullbore.ImageLoader(train, BATCH, transform=crop, device=device, seed=seed),
        fullbore.ImageLoader(validation, BATCH, transform=center, shuffle=False, drop_last=False, device=device),
    )


class Pictures(torch.utils.data.Dataset):
    def __init__(self, root, transform):
        classes = sorted(path for path in Path(root).iterdir() if path.is_dir())
        self.files = [(file, label) for label, path in enumerate(classes) for file in sorted(path.iterdir())]
        self.transform = transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        import numpy as np
        from PIL import Image

        file, label = self.files[index]
        pixels = np.array(self.transform(Image.open(file).convert("RGB")))
        values = torch.from_numpy(pixels).permute(2, 0, 1).float().div(255)
        return values.sub(torch.tensor(MEAN).view(3, 1, 1)).div(torch.tensor(STD).view(3, 1, 1)), label


def random_crop(image):
    from PIL import Image

    while True:
        area = image.width * image.height * random.uniform(0.25, 1.0)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        width, height = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
        if width <= image.width and height <= image.height:
            break
    x, y = random.randint(0, image.width - width), random.randint(0, image.height - height)
    image = image.crop((x, y, x + width, y + height)).resize((SIZE, SIZE), Image.BILINEAR)
    return image.transpose(Image.FLIP_LEFT_RIGHT) if random.random() < 0.5 else image


def centre_crop(image):
    from PIL import Image

    scale = SIZE / min(image.size)
    image = image.resize((max(SIZE, int(image.width * scale)), max(SIZE, int(image.height * scale))), Image.BILINEAR)
    x, y = (image.width - SIZE) // 2, (image.height - SIZE) // 2
    return image.crop((x, y, x + SIZE, y + SIZE))


def with_pillow(train, validation, device, seed):  # its numbers are those of torch and random, seeded
    load = torch.utils.data.DataLoader
    return (
        load(Pictures(train, random_crop), BATCH, shuffle=True, drop_last=True, num_workers=2, persistent_workers=True),
        load(Pictures(validation, centre_crop), BATCH, num_workers=2, persistent_workers=True),
    )


def network(classes):
    def block(before, after):
        return [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]

    return nn.Sequential(*block(3, 16), *block(16, 32), *block(32, 64), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(64, classes))  # fmt: skip


@torch.no_grad()
def accuracy(model, batches, device):
    model.eval()
    right = count = 0
    for images, labels in batches:
        right += (model(images.to(device)).argmax(1) == labels.to(device)).sum().item()
        count += len(labels)
    model.train()
    return right / count


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def train_epoch(model, optimizer, batches, device):
    for images, labels in fullbore.observe(batches):  # `fullbore run` sees its wait; nothing otherwise
        loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser(description="train a small network on a folder of pictures")
    parser.add_argument("train")
    parser.add_argument("validation")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pillow", action="store_true", help="feed it by a DataLoader with Pillow")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    random.seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train, validation = (with_pillow if args.pillow else with_image_loader)(
        args.train, args.validation, device, args.seed)  # fmt: skip
    model = network(sum(path.is_dir() for path in Path(args.train).iterdir())).to(device)
    optimizer = optimizer_of(model)
    for epoch in range(args.epochs):
        started = time.time()
        train_epoch(model, optimizer, train, device)
        seconds = time.time() - started
        print(f"epoch {epoch + 1}: {accuracy(model, validation, device):.3f} right, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
