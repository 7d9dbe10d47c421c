"""fullbore.ImageLoader: what torch and NumPy get, and that pixels are Pillow's."""

import gc
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")

import fullbore  # noqa: E402

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TRAIN = [fullbore.RandomResizedCrop((24, 32)), fullbore.RandomHorizontalFlip()]
EVAL = [fullbore.Resize(64), fullbore.CenterCrop(56)]


def make(folder, transform=TRAIN, batch_size=8, **options):
    return fullbore.ImageLoader(folder, batch_size, transform=transform, **{"threads": 2, "seed": 3, **options})


def resize(image, size):
    """Pillow's, horizontal pass first, whatever its version."""
    return image.resize((size[0], image.height), Image.BILINEAR).resize(size, Image.BILINEAR)


def evaluated(path):
    """Resize(64) and CenterCrop(56) by torchvision's rules."""
    image = Image.open(path).convert("RGB")
    width, height = image.size
    size = (64, int(64 * height / width)) if width <= height else (int(64 * width / height), 64)
    left, top = int(round((size[0] - 56) / 2.0)), int(round((size[1] - 56) / 2.0))
    return np.asarray(resize(image, size).crop((left, top, left + 56, top + 56)))


def test_a_pass_has_every_sample_once_with_its_label(folder):
    loader = make(folder)
    assert len(loader) == 5
    ids = []
    for images, labels in (batches := iter(loader)):
        assert images.shape == (8, 3, 24, 32) and images.dtype == torch.float32
        assert labels.dtype == torch.int64
        ids += labels.tolist()
    assert sorted(ids) == [0] * 20 + [1] * 20
    assert next(batches, None) is None
    assert loader.class_to_idx == {"cat": 0, "dog": 1}


def test_evaluation_pixels_are_those_of_pillow(folder):
    for batch in make(folder, EVAL, dtype="uint8", layout="NHWC", shuffle=False):
        for pixels, path in zip(batch.images.numpy(), batch.paths):
            np.testing.assert_array_equal(pixels, evaluated(path), err_msg=path)


def test_normalised_values_are_those_of_torch(folder):
    plain = make(folder, EVAL, dtype="uint8", layout="NCHW", shuffle=False)
    for dtype in ("float32", "float16", "bfloat16"):
        for layout in ("NCHW", "NHWC"):
            loader = make(folder, [*EVAL, fullbore.Normalize(MEAN, STD)], dtype=dtype, layout=layout, shuffle=False)
            for (raw, _), (images, _) in zip(plain, loader):
                value = raw.float().mul_(1.0 / 255)
                mean, std = (torch.tensor(v).view(3, 1, 1) for v in (MEAN, STD))
                expected = value.sub_(mean).div_(std).to(getattr(torch, dtype))
                got = images.permute(0, 3, 1, 2) if layout == "NHWC" else images
                assert torch.equal(got, expected)


def test_pictures_of_every_mode_are_those_of_pillow(tmp_path):
    (tmp_path / "a").mkdir()
    base = Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 120, 3), np.uint8))
    clear = base.copy()
    clear.putalpha(Image.fromarray(np.random.default_rng(1).integers(0, 255, (90, 120), np.uint8)))
    for name, image, options in [
        ("gray.jpg", base.convert("L"), {}),
        ("cmyk.jpg", base.convert("CMYK"), {}),
        ("progressive.jpg", base, {"progressive": True}),
        ("named-png.png", base, {"format": "JPEG"}),
        ("plain.png", base, {}),
        ("clear.png", clear, {}),
        ("gray.png", base.convert("L"), {}),
        ("gray-alpha.png", clear.convert("LA"), {}),
        ("palette.png", base.quantize(200), {}),
        ("palette-of-9.png", base.quantize(9), {"bits": 4}),
        ("palette-clear.png", base.quantize(16), {"transparency": 3}),
        ("two-levels.png", base.convert("1"), {}),
        ("named-jpg.jpg", base, {"format": "PNG"}),
        ("lossy.webp", base, {"quality": 80}),
        ("lossless.webp", base, {"lossless": True}),
        ("clear.webp", clear, {"lossless": True, "exact": True}),
    ]:
        image.save(tmp_path / "a" / name, **options)
    for batch in make(tmp_path, EVAL, 4, dtype="uint8", layout="NHWC", shuffle=False, drop_last=False):
        for pixels, path in zip(batch.images.numpy(), batch.paths):
            np.testing.assert_array_equal(pixels, evaluated(path), err_msg=path)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of_16_bits(pixels, colour):
    """Big-endian samples [height, width, channels]; Pillow writes no such RGB."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 16, colour, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_a_png_of_16_bits_is_pillows_or_refused(tmp_path):
    (tmp_path / "a").mkdir()
    pixels = np.random.default_rng(0).integers(0, 65535, (90, 120, 3))
    path = tmp_path / "a" / "rgb.png"
    path.write_bytes(png_of_16_bits(pixels, 2))
    batch = next(iter(make(tmp_path, EVAL, 1, dtype="uint8", layout="NHWC")))
    np.testing.assert_array_equal(batch.images[0].numpy(), evaluated(path))
    path.write_bytes(png_of_16_bits(pixels[:, :, :1], 0))
    with pytest.raises(RuntimeError, match="16 bits of gray"):
        next(iter(make(tmp_path, EVAL, 1)))


@pytest.mark.parametrize("name", ["a.png", "a.webp"])
def test_a_file_cut_short_is_refused(tmp_path, name):
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / name
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 120, 3), np.uint8)).save(path)
    whole = path.read_bytes()
    for length in (*range(12, 60), len(whole) // 2, len(whole) - 20):
        path.write_bytes(whole[:length])
        with pytest.raises(RuntimeError, match="cannot decode sample 0"):
            next(iter(make(tmp_path, EVAL, 1)))


def test_tensors_keep_their_memory_and_give_it_back(folder):
    loader = make(folder, memory_limit=2 * 8 * 3 * 24 * 32 * 4)
    kept = [images for _, (images, _) in zip(range(2), loader)]
    copies = [images.clone() for images in kept]
    with pytest.raises(RuntimeError, match="all 2 batches that memory is allowed for are still held"):
        next(iter(loader))
    assert all(torch.equal(a, b) for a, b in zip(kept, copies))
    pointers = {images.data_ptr() for images in kept}
    del kept
    gc.collect()
    assert next(iter(loader)).images.data_ptr() in pointers


def test_a_batch_outlives_a_closed_loader(folder):
    with make(folder) as loader:
        images, _ = next(iter(loader))
    before = images.clone()
    loader.close()
    assert torch.equal(images, before)
    with pytest.raises(RuntimeError, match="was closed"):
        len(loader)


def test_other_outputs(folder):
    images, labels = next(iter(make(folder, output="numpy")))
    assert isinstance(images, np.ndarray) and images.flags.writeable and labels.dtype == np.int64
    given = next(iter(make(folder, output="dlpack", dtype="bfloat16"))).images
    assert torch.from_dlpack(given).dtype == torch.bfloat16
    with pytest.raises(ValueError, match="NumPy has no bfloat16"):
        make(folder, output="numpy", dtype="bfloat16")


def test_a_transform_of_another_library_is_read_by_its_names(folder):
    class Compose:
        def __init__(self, transforms):
            self.transforms = transforms

    class ToTensor:
        pass

    loader = make(folder, Compose([*TRAIN, ToTensor(), fullbore.Normalize(MEAN, STD)]))
    ours = make(folder, [*TRAIN, fullbore.Normalize(MEAN, STD)])
    assert all(torch.equal(a, b) for (a, _), (b, _) in zip(loader, ours))


@pytest.mark.parametrize(
    "transform, options, message",
    [
        ([fullbore.RandomHorizontalFlip()], {}, "use RandomResizedCrop, or Resize"),
        ([fullbore.Resize(64)], {}, "leaves pictures of different shapes"),
        ([*EVAL, fullbore.Normalize((0.5,), (0.5,))], {}, "3"),
        ([*EVAL, object()], {}, "there is no transform object here"),
        ([*EVAL, fullbore.Normalize(MEAN, STD)], {"dtype": "uint8"}, "Normalize with dtype uint8"),
        (EVAL, {"on_error": "ignore"}, "use one of raise, skip, replace"),
        (EVAL, {"rank": 1}, "belong together"),
        ([fullbore.Resize(64, interpolation="nearest"), fullbore.CenterCrop(56)], {}, "'bilinear' or 'bicubic'"),
    ],
)
def test_what_cannot_be_done_is_refused(folder, transform, options, message):
    with pytest.raises(ValueError, match=message):
        make(folder, transform, **options)


def test_ranks_come_from_whoever_started_the_process(folder, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    loader = make(folder, batch_size=4)
    assert (loader.rank, loader.world_size, len(loader)) == (1, 2, 5)
    other = make(folder, batch_size=4, rank=0, world_size=2)
    together = [set(a.ids) | set(b.ids) for a, b in zip(loader, other)]
    assert together == [set(batch.ids) for batch in make(folder, rank=0, world_size=1)]


def test_bad_pictures_are_skipped_reported_and_named(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    bad = tmp_path / "cat" / "07.jpg"
    bad.write_bytes(b"GIF89a not here")
    with pytest.raises(RuntimeError, match="cannot decode sample 7, .*07.jpg: a GIF, which is not decoded here"):
        list(make(tmp_path))
    loader = make(tmp_path, on_error="skip")
    assert [len(batch.labels) for batch in loader] == [8] * 5
    assert loader.bad_samples() == [(7, str(bad), "decode", "a GIF, which is not decoded here")]
    replaced = [place for batch in make(tmp_path, on_error="replace", shuffle=False) for place in batch.replaced]
    assert replaced == [7]


def test_names_that_are_no_utf8_are_given_back(folder, tmp_path):
    (tmp_path / "a").mkdir()
    name = os.fsencode(tmp_path / "a") + b"/\xff\xe4.jpg"
    shutil.copy(folder / "cat" / "00.jpg", name)
    batch = next(iter(make(tmp_path, batch_size=1)))
    assert os.fsencode(batch.paths[0]) == name


def taken():
    """Descriptors and threads of this process; of several looks the least, since a picture may just be read."""
    looks = [(len(os.listdir("/proc/self/fd")), threading.active_count(), len(os.listdir("/proc/self/task")))
             for _ in range(50)]  # fmt: skip
    return [min(values) for values in zip(*looks)]


def test_threads_and_descriptors_do_not_grow_over_passes(folder):
    loader = make(folder)
    list(loader)
    before = taken()
    for number in range(100):
        for batch in loader:
            if number % 3 == 0:
                break
    after = taken()
    # what earlier tests left may be collected meanwhile
    assert all(now <= then for now, then in zip(after, before)), (before, after)


def test_times_are_those_of_the_batch(folder):
    for batch in make(folder):
        times = batch.timing
        assert times.read_ms > 0 and times.decode_ms > 0 and times.finish_ms > 0
        assert times.make_ms > 0 and times.queue_ms >= 0 and times.wait_ms >= 0


def test_a_forked_child_is_told(folder):
    loader = make(folder)
    batches = iter(loader)
    next(batches)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            next(batches)
        except RuntimeError as error:
            code = 0 if "belongs to process" in str(error) else 2
        loader.close()
        os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    next(batches)


SCRIPT = """
import fullbore, sys
loader = fullbore.ImageLoader(sys.argv[1], 8, transform=[fullbore.RandomResizedCrop(32)], threads=2)
kept = next(iter(loader))
"""


def test_an_interpreter_ends_with_a_loader_and_a_batch_alive(folder):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(fullbore.__file__))}
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    ended = subprocess.run(command, env=environment, timeout=60, capture_output=True)
    assert ended.returncode == 0 and ended.stderr == b""


def test_ctrl_c_ends_a_wait(folder, tmp_path):
    (tmp_path / "a").mkdir()
    noise = np.random.default_rng(0).integers(0, 255, (4000, 4000, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "a" / "0.jpg", quality=95, progressive=True)
    for number in range(1, 60):
        os.link(tmp_path / "a" / "0.jpg", tmp_path / "a" / ("%d.jpg" % number))
    loader = make(tmp_path, batch_size=60)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(iter(loader))
    assert time.monotonic() - began < 5
    loader.close()


def test_it_explains_what_limits_the_loop(folder):
    loader = make(folder, threads="auto")
    assert "Not measured yet" in loader.explain()
    for _ in range(3):
        for _ in loader:
            pass
    assert "ms of a thread" in loader.explain() and "The caller waited" in loader.explain()
