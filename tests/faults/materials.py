"""The files that the fault scripts read, made once under a cache folder: photographs cut from the pictures of Debian's
mate-backgrounds, large ones, small text files, raw volumes."""

import random
from pathlib import Path

BACKGROUNDS = Path("/usr/share/backgrounds/mate/nature")


def _once(folder, make):
    """Calls make(folder) unless a former call came to its end."""
    done = folder.with_suffix(".done")
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
        done.touch()
    return folder


def _cut(source, rng, size):
    from PIL import Image

    width, height = source.size
    wanted = min(width, int(size[0] * rng.uniform(1.0, 2.5)))
    tall = min(height, int(wanted * size[1] / size[0]))
    left, top = rng.randint(0, width - wanted), rng.randint(0, height - tall)
    return source.resize(size, Image.LANCZOS, box=(left, top, left + wanted, top + tall))


def _pictures(folder, count, size):
    from PIL import Image

    if not BACKGROUNDS.is_dir():
        raise SystemExit("no photographs at %s; install Debian's mate-backgrounds" % BACKGROUNDS)
    rng = random.Random(7)
    sources = [Image.open(file).convert("RGB") for file in sorted(BACKGROUNDS.glob("*.jpg"))]
    for k in range(count):
        _cut(sources[k % len(sources)], rng, size).save(folder / ("%05d.jpg" % k), quality=92)


def photos(cache):
    """480 JPEGs of 1200x900, quality 92."""
    return _once(cache / "photos", lambda folder: _pictures(folder, 480, (1200, 900)))


def large_photos(cache):
    """6 JPEGs of 6000x4500, quality 92."""
    return _once(cache / "large", lambda folder: _pictures(folder, 6, (6000, 4500)))


def web_photos(cache):
    """480 JPEGs of 500x375, quality 92."""
    return _once(cache / "web", lambda folder: _pictures(folder, 480, (500, 375)))


def landmarks(cache):
    """1,600 folders of 40 text files of 12 bytes."""

    def make(folder):
        rng = random.Random(3)
        for k in range(1600):
            sample = folder / ("%05d" % k)
            sample.mkdir(exist_ok=True)
            for point in range(40):
                (sample / ("point%02d.txt" % point)).write_bytes(b"%11.6f\n" % (rng.random() * 1e3))

    return _once(cache / "landmarks", make)


def volumes(cache):
    """240 files of 2 MiB of random bytes."""

    def make(folder):
        rng = random.Random(5)
        for k in range(240):
            (folder / ("%03d.raw" % k)).write_bytes(rng.randbytes(2 << 20))

    return _once(cache / "volumes", make)


def arrays(cache):
    """600 numpy files of 64 KiB."""

    def make(folder):
        import numpy as np

        draw = np.random.default_rng(11)
        for k in range(600):
            np.save(folder / ("%03d.npy" % k), draw.integers(0, 255, 65536, dtype=np.uint8))

    return _once(cache / "arrays", make)


def one_file(cache):
    """1.5 GiB of random bytes in one file."""

    def make(folder):
        rng = random.Random(13)
        with open(folder / "rows.bin", "wb") as file:
            for _ in range(192):
                file.write(rng.randbytes(8 << 20))

    return _once(cache / "one", make) / "rows.bin"
