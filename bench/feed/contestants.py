"""Loaders that do one job: JPEG files, a random resized crop of 224, a flip, uint8 batches of 64, without end.

Each is a generator of batches, given the files and a number of threads or workers. Crops are by torchvision's rule.
"""

import concurrent.futures
import itertools
import math
import random

BATCH = 64
SIZE = 224


def crop_box(width, height, draw=random):
    """x, y, width, height: ten tries at an area and a ratio; then the whole picture, which these never need."""
    for _ in range(10):
        area = width * height * draw.uniform(0.08, 1.0)
        ratio = math.exp(draw.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return draw.randint(0, width - w), draw.randint(0, height - h), w, h
    return 0, 0, width, height


def fullbore(folder, files, threads):
    import fullbore

    transform = [fullbore.RandomResizedCrop(SIZE), fullbore.RandomHorizontalFlip()]
    loader = fullbore.ImageLoader(folder, BATCH, transform=transform, dtype="uint8", layout="NHWC", threads=threads,
                                  output="numpy")  # fmt: skip
    while True:
        for images, _ in loader:
            yield images


def fullbore_plain(folder, files, threads):
    """Without what it keeps from earlier epochs."""
    import fullbore

    transform = [fullbore.RandomResizedCrop(SIZE), fullbore.RandomHorizontalFlip()]
    loader = fullbore.ImageLoader(folder, BATCH, transform=transform, dtype="uint8", layout="NHWC", threads=threads,
                                  index=None, index_memory=0, output="numpy")  # fmt: skip
    while True:
        for images, _ in loader:
            yield images


def open_with_pil(path):
    import numpy
    from PIL import Image

    with Image.open(path) as picture:
        picture = picture.convert("RGB")
    x, y, w, h = crop_box(*picture.size)
    small = picture.crop((x, y, x + w, y + h)).resize((SIZE, SIZE), Image.BILINEAR)
    if random.random() < 0.5:
        small = small.transpose(Image.FLIP_LEFT_RIGHT)
    return numpy.array(small)


class PilFiles:
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        import torch

        return torch.from_numpy(open_with_pil(self.files[index]))


def torch_pil(folder, files, threads):
    """The usual recipe: a DataLoader with worker processes, Pillow in each."""
    import torch

    loader = torch.utils.data.DataLoader(
        PilFiles(files), BATCH, shuffle=True, drop_last=True, num_workers=threads, persistent_workers=True
    )
    while True:
        yield from loader


def open_with_cv2(path):
    import cv2

    picture = cv2.imread(path)
    x, y, w, h = crop_box(picture.shape[1], picture.shape[0])
    smaller = w > SIZE or h > SIZE
    small = cv2.resize(picture[y : y + h, x : x + w], (SIZE, SIZE),
                       interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)  # fmt: skip
    small = cv2.cvtColor(small, cv2.COLOR_BGR2RGB)
    return cv2.flip(small, 1) if random.random() < 0.5 else small


def cv2_threads(folder, files, threads):
    """OpenCV in a pool of threads, area filter where it shrinks: other pixels than Pillow's."""
    import cv2
    import numpy

    cv2.setNumThreads(0)

    def endless():
        while True:
            yield from random.sample(files, len(files))

    def make(paths):
        return numpy.stack([open_with_cv2(path) for path in paths])

    paths = endless()
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        waiting = [pool.submit(make, list(itertools.islice(paths, BATCH))) for _ in range(2 * threads)]
        while True:
            yield waiting.pop(0).result()
            waiting.append(pool.submit(make, list(itertools.islice(paths, BATCH))))


CONTESTANTS = {run.__name__: run for run in (fullbore, fullbore_plain, torch_pil, cv2_threads)}
