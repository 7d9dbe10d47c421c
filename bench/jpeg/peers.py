#!/usr/bin/env python3
"""CPU time per picture of other decoders doing the crops that jpeg_bench wrote, one round per peer and call.

    jpeg_bench --crops crops.tsv FOLDER
    peers.py crops.tsv pil|torchvision

Pillow: open, crop, resize, flip. torchvision: decode_jpeg, crop, antialiased resize on tensors, flip. Both on one
thread; files come from the page cache. Alternate calls with those of jpeg_bench --only MODE.
"""

import sys
import time


def jobs(path):
    with open(path) as lines:
        for line in lines:
            name, *numbers = line.rstrip("\n").split("\t")
            yield (name, *map(int, numbers))


def with_pil():
    from PIL import Image

    def run(path, x, y, width, height, flip):
        with Image.open(path) as picture:
            small = picture.convert("RGB").crop((x, y, x + width, y + height)).resize((224, 224), Image.BILINEAR)
        return small.transpose(Image.FLIP_LEFT_RIGHT) if flip else small

    return run


def with_torchvision():
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg, read_file
    from torchvision.transforms.v2 import functional

    torch.set_num_threads(1)

    def run(path, x, y, width, height, flip):
        picture = decode_jpeg(read_file(path), ImageReadMode.RGB)
        small = functional.resized_crop(picture, y, x, height, width, [224, 224], antialias=True)
        return functional.hflip(small) if flip else small

    return run


def main():
    work = list(jobs(sys.argv[1]))
    run = {"pil": with_pil, "torchvision": with_torchvision}[sys.argv[2]]()
    run(*work[0])
    started = time.process_time()
    for job in work:
        run(*job)
    print("%.4f" % ((time.process_time() - started) / len(work) * 1e3))


if __name__ == "__main__":
    main()
