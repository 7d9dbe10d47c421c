"""The JPEG decoder's finished pictures are those of Pillow: crop, resize, flip.

Pillow resizes in two passes with 8 bits in between. Up to version 12 it always takes the horizontal pass first, which
is what the decoder promises; asking for each pass by itself makes the comparison independent of Pillow's version.
"""

import io
import random
import re
import threading
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

fullbore = pytest.importorskip("fullbore")
FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}


def decode(path, box, size, name, flip):
    x, y, width, height = box
    size = (size[1], size[0]) if size[0] else None
    return fullbore.decode_jpeg(path.read_bytes(), crop=(y, x, height, width), size=size, filter=name, flip=flip)


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
def test_finished_pictures_are_those_of_pillow(pictures, name):
    draw = random.Random(name)
    for number in range(150):
        path = draw.choice(pictures)
        with Image.open(path) as picture:
            width, height = picture.size
        w, h = draw.randint(1, width), draw.randint(1, height)
        box = (draw.randint(0, width - w), draw.randint(0, height - h), w, h)
        size = draw.choice([(224, 224), (draw.randint(1, 300), draw.randint(1, 300)), (w, h)])
        job = (path, box, size, name, draw.random() < 0.5)
        np.testing.assert_array_equal(decode(*job), reference(*job), err_msg=repr(job))


def test_progressive_pictures_go_the_same_way(tmp_path):
    path = tmp_path / "progressive.jpg"
    noise = np.random.default_rng(2).integers(0, 255, (120, 200, 3), np.uint8)
    Image.fromarray(noise).save(path, progressive=True)
    job = (path, (11, 7, 150, 100), (64, 48), "bilinear", True)
    np.testing.assert_array_equal(decode(*job), reference(*job))


def test_a_damaged_file_is_refused_with_a_reason(tmp_path):
    whole = io.BytesIO()
    Image.new("RGB", (64, 64), (200, 10, 10)).save(whole, "JPEG")
    path = tmp_path / "half.jpg"
    path.write_bytes(whole.getvalue()[:-40])
    with pytest.raises(ValueError, match="the data end inside row|no end marker"):
        decode(path, (0, 0, 64, 64), (0, 0), "bilinear", False)


def test_checkpoints_change_where_decoding_begins_and_no_pixel(pictures):
    for path in pictures:
        data = path.read_bytes()
        checkpoints = fullbore.jpeg_checkpoints(data)
        assert 0 < len(checkpoints) < len(data)
        header = fullbore.jpeg_header(data)
        crop = (header.height // 2, header.width // 2, header.height - header.height // 2, header.width - header.width // 2)
        there = fullbore.decode_jpeg(data, crop=crop, checkpoints=checkpoints)
        np.testing.assert_array_equal(there, fullbore.decode_jpeg(data, crop=crop))


def test_a_header_says_size_and_kind(pictures, tmp_path):
    header = fullbore.jpeg_header(pictures[0].read_bytes()[:1000])
    assert (header.height, header.width, header.channels, header.coding, header.native) == (375, 500, 3, "baseline", True)
    Image.new("CMYK", (30, 20)).save(tmp_path / "x.jpg", progressive=True)
    data = (tmp_path / "x.jpg").read_bytes()
    header = fullbore.jpeg_header(data)
    assert (header.channels, header.coding, header.native) == (4, "progressive", False)
    assert fullbore.decode_jpeg(data).shape == (20, 30, 4)
    assert fullbore.jpeg_checkpoints(data) == b""


@pytest.mark.parametrize(
    "options, words",
    [
        ({"crop": (0, 0, 376, 500)}, "376"),
        ({"size": (0, 10)}, "0"),
        ({"size": (8, 8), "filter": "nearest"}, "no filter 'nearest'; there are bilinear and bicubic"),
        ({"checkpoints": b"nonsense"}, "checkpoints"),
    ],
)
def test_wrong_arguments_are_refused_by_name(pictures, options, words):
    with pytest.raises(ValueError, match=words):
        fullbore.decode_jpeg(pictures[0].read_bytes(), **options)


def test_what_is_no_file_is_refused():
    for data in (b"", b"GIF89a", bytearray(3)):
        with pytest.raises(ValueError):
            fullbore.decode_jpeg(data)
    with pytest.raises(TypeError):
        fullbore.decode_jpeg("photo.jpg")


def test_threads_decode_side_by_side(pictures):
    files = [path.read_bytes() for path in pictures]
    alone = [fullbore.decode_jpeg(data) for data in files]
    wrong = []

    def work():
        for _ in range(5):
            for data, expected in zip(files, alone):
                if not np.array_equal(fullbore.decode_jpeg(data), expected):
                    wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_code_of_the_page_runs(tmp_path, monkeypatch, pictures):
    pytest.importorskip("torch")
    page = (Path(__file__).resolve().parents[2] / "docs/jpeg.md").read_text()
    (tmp_path / "photo.jpg").write_bytes(pictures[0].read_bytes())
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(code, names)
    assert tuple(names["image"].shape) == (224, 224, 3) and names["checkpoints"]
    assert np.array_equal(names["pixels"][:, ::-1], names["image"].numpy())
