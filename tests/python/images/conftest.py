"""The image loader's tests need the package with its extension, and a folder of pictures."""

import os
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
package = os.environ.get("FULLBORE_PACKAGE") or os.path.join(ROOT, "build", "dev", "fullbore")
sys.path.insert(0, os.path.dirname(package))

np = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")


def picture(seed, width, height):
    draw = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    gray = 128 + 80 * np.sin(x / 9.0 + seed) * np.cos(y / 7.0) + draw.normal(0, 15, (height, width))
    return Image.fromarray(np.stack([gray, np.roll(gray, 5, 1), 255 - gray], -1).clip(0, 255).astype(np.uint8))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Two classes of 20 pictures each, of different shapes."""
    root = tmp_path_factory.mktemp("pictures")
    for number in range(40):
        place = root / ("cat" if number < 20 else "dog")
        place.mkdir(exist_ok=True)
        picture(number, 60 + 5 * number, 150 - 2 * number).save(place / ("%02d.jpg" % number), quality=90)
    return root


@pytest.fixture
def photos(tmp_path):
    """A class of 12 pictures, for a test that writes beside them."""
    place = tmp_path / "data" / "cat"
    place.mkdir(parents=True)
    for number in range(12):
        picture(number, 300 + number, 200).save(place / ("%02d.jpg" % number), quality=90)
    return tmp_path / "data"
