"""Trains an image classifier on a folder-per-class set of JPEG photographs, as many published repositories do.

    python examples/train_images.py DATA [--epochs 3]

With CUDA it trains a ResNet-50. Without, an emulated accelerator takes the model's place (emulated_accelerator.py).
"""

import argparse
import random
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)


def random_resized_crop(image, size=224):
    area = image.width * image.height * random.uniform(0.08, 1.0)
    ratio = random.uniform(3 / 4, 4 / 3)
    width = min(image.width, round((area * ratio) ** 0.5))
    height = min(image.height, round((area / ratio) ** 0.5))
    left = random.randint(0, image.width - width)
    top = random.randint(0, image.height - height)
    return image.resize((size, size), Image.BILINEAR, box=(left, top, left + width, top + height))


def random_flip(image):
    return image.transpose(Image.FLIP_LEFT_RIGHT) if random.random() < 0.5 else image


def to_tensor(image):
    pixels = (np.asarray(image, np.float32) / 255 - MEAN) / STD
    return torch.from_numpy(pixels.transpose(2, 0, 1).copy())


class PhotoFolder(Dataset):
    def __init__(self, root):
        self.classes = sorted(entry.name for entry in Path(root).iterdir() if entry.is_dir())
        self.files = [(path, label) for label, name in enumerate(self.classes) for path in sorted(Path(root, name).glob("*.jpg"))]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        image = Image.open(path).convert("RGB")
        image = random_resized_crop(image)
        image = random_flip(image)
        return to_tensor(image), label


def build_model(device, classes, step_ms):
    if device.type == "cuda":
        try:
            from torchvision.models import resnet50
        except ImportError:
            from resnet import resnet50
        print(f"training a ResNet-50 on {torch.cuda.get_device_name(device)}")
        return resnet50(num_classes=classes).to(device)
    from emulated_accelerator import EmulatedAccelerator

    print(f"no CUDA device: the model is an emulated accelerator that takes {step_ms} ms for each batch")
    return EmulatedAccelerator(classes, step_ms)


def main():
    parser = argparse.ArgumentParser(description="train an image classifier")
    parser.add_argument("data", help="folder with one folder of .jpg files per class")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--steps", type=int, help="stop after so many steps")
    parser.add_argument("--step-ms", type=int, default=40, help="length of a step of the emulated accelerator")
    args = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = PhotoFolder(args.data)
    loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True, num_workers=0, pin_memory=False)
    model = build_model(device, len(dataset.classes), args.step_ms)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)

    step = 0
    for epoch in range(args.epochs):
        started, seen, loss_sum = time.time(), 0, 0.0
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            seen += len(labels)
            loss_sum += loss.item() * len(labels)
            step += 1
            if step == args.steps:
                break
        seconds = time.time() - started
        print(f"epoch {epoch + 1}: loss {loss_sum / seen:.3f}, {seen / seconds:.0f} images/s", flush=True)
        if step == args.steps:
            break


if __name__ == "__main__":
    main()
