"""The JPEG decoder's finished pictures are those of Pillow: crop, resize, flip.

Pillow resizes in two passes with 8 bits in between. Up to version 12 it always takes the horizontal pass first, which
is what the decoder promises; asking for each pass by itself makes the comparison independent of Pillow's version.
"""

import io
import os
import random
import subprocess
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

ROOT = Path(__file__).resolve().parents[2]
DUMP = Path(os.environ.get("FULLBORE_JPEG_DUMP", ROOT / "build/dev/bin/jpeg_dump"))
FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}


class Dump:
    """The decoder behind a pipe."""

    def __init__(self):
        self.process = subprocess.Popen([str(DUMP)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def decode(self, path, box, size, name, flip):
        line = "%s\t%d %d %d %d %d %d %s %d\n" % (path, *box, *size, name, flip)
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split(None, 1)
        if answer[0] != b"ok":
            raise ValueError(answer[1].decode())
        width, height, channels = map(int, answer[1].split())
        pixels = self.process.stdout.read(width * height * channels)
        return np.frombuffer(pixels, np.uint8).reshape(height, width, channels)


@pytest.fixture(scope="module")
def dump():
    if not DUMP.exists():
        pytest.fail("%s is not built; run cmake --build --preset dev" % DUMP)
    started = Dump()
    yield started
    started.process.stdin.close()
    assert started.process.wait(10) == 0


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Paths of JPEGs of several sizes and samplings, with edges and noise."""
    folder = tmp_path_factory.mktemp("pictures")
    draw = np.random.default_rng(1)
    paths = []
    for number, (width, height, mode) in enumerate([(500, 375, "RGB"), (37, 411, "RGB"), (640, 90, "L"), (1, 1, "RGB")]):
        y, x = np.mgrid[0:height, 0:width]
        gray = 128 + 90 * np.sign(np.sin(x / 9.0 + y / 23.0)) + draw.normal(0, 20, (height, width))
        pixels = np.stack([gray, np.roll(gray, 5, 1), 255 - gray], -1).clip(0, 255).astype(np.uint8)
        picture = Image.fromarray(pixels).convert(mode)
        for subsampling in (0, 1, 2):
            paths.append(folder / ("%d-%d.jpg" % (number, subsampling)))
            picture.save(paths[-1], quality=90 - 30 * subsampling, subsampling=subsampling)
    return paths


def reference(path, box, size, name, flip):
    x, y, width, height = box
    picture = Image.open(path).convert("RGB").crop((x, y, x + width, y + height))
    if size[0]:
        narrow = picture.resize((size[0], height), FILTERS[name])
        picture = narrow.resize(size, FILTERS[name])
    pixels = np.asarray(picture)
    return pixels[:, ::-1] if flip else pixels


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_finished_pictures_are_those_of_pillow(dump, pictures, name):
    draw = random.Random(name)
    for number in range(150):
        path = draw.choice(pictures)
        with Image.open(path) as picture:
            width, height = picture.size
        w, h = draw.randint(1, width), draw.randint(1, height)
        box = (draw.randint(0, width - w), draw.randint(0, height - h), w, h)
        size = draw.choice([(224, 224), (draw.randint(1, 300), draw.randint(1, 300)), (w, h)])
        job = (path, box, size, name, draw.random() < 0.5)
        np.testing.assert_array_equal(dump.decode(*job), reference(*job), err_msg=repr(job))


def test_progressive_pictures_go_the_same_way(dump, tmp_path):
    path = tmp_path / "progressive.jpg"
    noise = np.random.default_rng(2).integers(0, 255, (120, 200, 3), np.uint8)
    Image.fromarray(noise).save(path, progressive=True)
    job = (path, (11, 7, 150, 100), (64, 48), "bilinear", True)
    np.testing.assert_array_equal(dump.decode(*job), reference(*job))


def test_a_damaged_file_is_refused_with_a_reason(dump, tmp_path):
    whole = io.BytesIO()
    Image.new("RGB", (64, 64), (200, 10, 10)).save(whole, "JPEG")
    path = tmp_path / "half.jpg"
    path.write_bytes(whole.getvalue()[:-40])
    with pytest.raises(ValueError, match="the data end inside row|no end marker"):
        dump.decode(path, (0, 0, 64, 64), (0, 0), "bilinear", False)
