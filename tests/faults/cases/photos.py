"""A folder of photographs as a dataset, decoded and augmented with Pillow."""

import random
from pathlib import Path

import numpy as np
import torch
from PIL import Image


def random_crop(image, size=224):
    width, height = image.size
    side = int(min(width, height) * random.uniform(0.5, 1.0))
    left, top = random.randint(0, width - side), random.randint(0, height - side)
    image = image.resize((size, size), Image.BILINEAR, box=(left, top, left + side, top + side))
    return image.transpose(Image.FLIP_LEFT_RIGHT) if random.random() < 0.5 else image


class Photos(torch.utils.data.Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).rglob("*.jpg"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = Image.open(self.files[index]).convert("RGB")
        image = random_crop(image)
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1)
        return pixels, index % 10
