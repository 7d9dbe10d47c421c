#!/usr/bin/env python3
"""Every JPEG below some folders, each content once, against Pillow: the whole picture, a window, the window from
checkpoints, and the window resampled to 224. Prints what came out of it and every file that differs; exit code 1 then.

    real_files.py FOLDER...

Windows are drawn from the file's bytes. Pillow resamples in two calls, width first, which is the order of Pillow 12.
"""

import collections
import hashlib
import io
import os
import random
import sys

import fullbore
import numpy
from PIL import Image

ENDINGS = (".jpg", ".jpeg", ".jpe")
Image.MAX_IMAGE_PIXELS = None


def files(folders):
    seen = set()
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                if not name.lower().endswith(ENDINGS) or not os.path.isfile(path):
                    continue
                with open(path, "rb") as file:
                    data = file.read()
                digest = hashlib.sha256(data).digest()
                if data and digest not in seen:
                    seen.add(digest)
                    yield path, data, random.Random(digest)


def by_pillow(data):
    picture = Image.open(io.BytesIO(data))
    if picture.format not in ("JPEG", "MPO"):
        raise ValueError("no JPEG by its content: %s" % picture.format)
    return picture if picture.mode == "CMYK" else picture.convert("RGB")


def resampled(picture, window):
    top, left, height, width = window
    part = picture.crop((left, top, left + width, top + height))
    return numpy.asarray(part.resize((224, height), Image.BILINEAR).resize((224, 224), Image.BILINEAR))


def differences(data, draw, picture):
    """Names of the ways that give other pixels than Pillow."""
    # Pillow hands out the complement of Adobe's CMYK, fullbore what is stored.
    whole = numpy.asarray(picture)
    stored = 255 - whole if picture.mode == "CMYK" else whole
    rows, columns = whole.shape[:2]
    height, width = draw.randint(1, rows), draw.randint(1, columns)
    window = (draw.randint(0, rows - height), draw.randint(0, columns - width), height, width)
    top, left = window[:2]
    part = stored[top : top + height, left : left + width]
    checkpoints = fullbore.jpeg_checkpoints(data)
    if not numpy.array_equal(fullbore.decode_jpeg(data), stored):
        yield "whole"
    if not numpy.array_equal(fullbore.decode_jpeg(data, crop=window), part):
        yield "window"
    if checkpoints and not numpy.array_equal(fullbore.decode_jpeg(data, crop=window, checkpoints=checkpoints), part):
        yield "window from checkpoints"
    if picture.mode != "CMYK" and not numpy.array_equal(
        fullbore.decode_jpeg(data, crop=window, size=(224, 224)), resampled(picture, window)
    ):
        yield "resampled"


def outcome(path, data, draw):
    try:
        picture = by_pillow(data)
        picture.load()
    except Exception as why:  # whatever Pillow raises for files that it does not read
        picture = None
        refusal = "Pillow refuses (%s)" % type(why).__name__
    try:
        header = fullbore.jpeg_header(data)
        fullbore.decode_jpeg(data)
    except ValueError as why:
        return ("refused by both" if picture is None else "refused only here: %s" % why), None
    if picture is None:
        return refusal, None
    found = list(differences(data, draw, picture))
    kind = "%s%s" % (header.coding, "" if header.native else ", by libjpeg-turbo")
    return ("DIFFERS: " + ", ".join(found) if found else "equal, " + kind), found


def main():
    outcomes = collections.Counter()
    different = 0
    for path, data, draw in files(sys.argv[1:]):
        result, found = outcome(path, data, draw)
        outcomes[result] += 1
        if found:
            different += 1
            print("%s: %s" % (path, result))
        elif result.startswith("refused only"):
            print("%s: %s" % (path, result))
    for result, count in outcomes.most_common():
        print("%6d %s" % (count, result))
    print("%d files, %d with differences" % (sum(outcomes.values()), different))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
