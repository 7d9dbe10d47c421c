"""exif_orientation: pictures upright as Pillow's ImageOps.exif_transpose makes them."""

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")

import fullbore  # noqa: E402

EVAL = [fullbore.Resize(64), fullbore.CenterCrop((56, 48))]


def make(root, transform, **options):
    options = {"threads": 2, "dtype": "uint8", "layout": "NHWC", "output": "numpy", "drop_last": False, **options}
    return fullbore.ImageLoader(root, 8, transform=transform, shuffle=False, **options)


@pytest.fixture(scope="module")
def turned(tmp_path_factory):
    """Pictures of all orientations and formats, and one that says nothing."""
    root = tmp_path_factory.mktemp("turned")
    (root / "a").mkdir()
    image = Image.fromarray(np.random.default_rng(3).integers(0, 255, (131, 230, 3), np.uint8)).resize((231, 130))
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        for kind in ("jpg", "png", "webp"):
            options = {"progressive": orientation == 7, "quality": 92} if kind == "jpg" else {}
            image.save(root / "a" / ("%d.%s" % (orientation, kind)), exif=exif.tobytes(), **options)
    gray = Image.Exif()
    gray[0x0112] = 6
    image.convert("CMYK").save(root / "a" / "cmyk.jpg", exif=gray.tobytes())
    image.save(root / "a" / "plain.jpg")
    return root


def resized(image, size):
    """Pillow's, horizontal pass first, whatever its version."""
    return image.resize((size[0], image.height), Image.BILINEAR).resize(size, Image.BILINEAR)


def evaluated(image):
    width, height = image.size
    size = (64, int(64 * height / width)) if width <= height else (int(64 * width / height), 64)
    left, top = int(round((size[0] - 48) / 2.0)), int(round((size[1] - 56) / 2.0))
    return np.asarray(resized(image, size).crop((left, top, left + 48, top + 56)))


@pytest.mark.parametrize("upright", [True, False])
def test_pictures_are_turned_as_pillow_turns_them(turned, upright):
    seen = 0
    for batch in make(turned, EVAL, exif_orientation=upright):
        for pixels, path in zip(batch.images, batch.paths):
            image = Image.open(path)
            image = (ImageOps.exif_transpose(image) if upright else image).convert("RGB")
            np.testing.assert_array_equal(pixels, evaluated(image), err_msg=path)
            seen += 1
    assert seen == 26


def test_random_crops_are_windows_of_the_upright_picture(turned, tmp_path):
    """The same crop as from a file whose pixels are stored upright."""
    (tmp_path / "a").mkdir()
    for path in sorted((turned / "a").iterdir()):
        upright = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
        upright.save(tmp_path / "a" / path.name, format="PNG", exif=b"")
    crop = [fullbore.RandomResizedCrop(40), fullbore.RandomHorizontalFlip()]
    for ours, stored in zip(make(turned, crop, exif_orientation=True), make(tmp_path, crop)):
        np.testing.assert_array_equal(ours.images, stored.images)


def test_with_checkpoints_later_epochs_give_the_same_pixels(turned):
    crop = [fullbore.RandomResizedCrop(40)]
    keeping = make(turned, crop, exif_orientation=True)
    forgetful = make(turned, crop, exif_orientation=True, index_memory=0)
    for _ in range(3):
        for ours, other in zip(keeping, forgetful):
            np.testing.assert_array_equal(ours.images, other.images)
