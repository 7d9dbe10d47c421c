"""What is done to pixels once a picture has its size: Pillow's and NumPy's results, for whatever was drawn."""

import itertools

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")
ImageEnhance = pytest.importorskip("PIL.ImageEnhance")

import fullbore  # noqa: E402

EVAL = [fullbore.Resize((40, 52))]
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def make(folder, transform, **options):
    return fullbore.ImageLoader(folder, 8, transform=transform, **{"threads": 2, "seed": 3, **options})


def pixels(folder, transform, epochs=1, **options):
    """[(path, pixels)] of some epochs, 8 bits, height x width x 3."""
    loader = make(folder, transform, dtype="uint8", layout="NHWC", output="numpy", shuffle=False, **options)
    return [pair for _ in range(epochs) for batch in loader for pair in zip(batch.paths, batch.images)]


@pytest.fixture(scope="module")
def plain(folder):
    return dict(pixels(folder, EVAL))


def hue_turned(image, turn):
    """By Pillow's HSV, whose bytes run over: what torchvision does to a picture of Pillow."""
    hue, saturation, value = image.convert("HSV").split()
    hue = Image.fromarray((np.asarray(hue).astype(int) + int(turn * 255)).astype(np.uint8))
    return Image.merge("HSV", (hue, saturation, value)).convert("RGB")


CHANGES = {
    "brightness": lambda image, factor: ImageEnhance.Brightness(image).enhance(factor),
    "contrast": lambda image, factor: ImageEnhance.Contrast(image).enhance(factor),
    "saturation": lambda image, factor: ImageEnhance.Color(image).enhance(factor),
    "hue": hue_turned,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_color_is_changed_as_pillow_changes_it(folder, plain, name):
    factors = (-0.5, -0.21, 0.003, 0.1, 0.5) if name == "hue" else (0.0, 0.37, 0.9, 1.0, 1.21, 2.0, 7.5)
    for factor in factors:
        jitter = fullbore.ColorJitter(**{name: (factor, factor)})
        for path, got in pixels(folder, [*EVAL, jitter]):
            expected = np.asarray(CHANGES[name](Image.fromarray(plain[path]), factor))
            np.testing.assert_array_equal(got, expected, err_msg="%s by %s of %s" % (name, factor, path))


def test_colors_are_changed_in_every_order(folder, plain):
    factors = {"brightness": 1.3, "contrast": 0.6, "saturation": 1.8, "hue": 0.15}
    jitter = fullbore.ColorJitter(**{name: (factor, factor) for name, factor in factors.items()})
    seen = set()
    for path, got in pixels(folder, [*EVAL, jitter], epochs=6):
        for order in itertools.permutations(factors):
            image = Image.fromarray(plain[path])
            for name in order:
                image = CHANGES[name](image, factors[name])
            if np.array_equal(np.asarray(image), got):
                seen.add(order)
                break
        else:
            pytest.fail("%s is none of the orders" % path)
    assert len(seen) >= 22  # of 24 in 240 draws


def test_numbers_stand_for_the_ranges_of_torchvision(folder, plain):
    """Brightness 0.25 of a picture is a factor of its own, between 0.75 and 1.25."""
    ratios = []
    for path, got in pixels(folder, [*EVAL, fullbore.ColorJitter(brightness=0.25)], epochs=10):
        middle = (plain[path] > 60) & (plain[path] < 190)
        ratios.append((got[middle] / plain[path][middle]).mean())
    assert 0.73 < min(ratios) < 0.79 and 1.2 < max(ratios) < 1.26
    assert len({round(ratio, 3) for ratio in ratios}) > 100


def test_gray_is_pillows_and_as_frequent_as_asked(folder, plain):
    gray = 0
    for path, got in pixels(folder, [*EVAL, fullbore.RandomGrayscale(0.3)], epochs=10):
        expected = np.asarray(Image.fromarray(plain[path]).convert("L").convert("RGB"))
        changed = not np.array_equal(got, plain[path])
        if changed:
            np.testing.assert_array_equal(got, expected)
        gray += changed
    assert 80 < gray < 160  # 120 of 400, and 4.4 deviations


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("padding", [3, (5, 2), (1, 0, 7, 39)])
def test_borders_are_those_of_numpy(folder, plain, mode, padding):
    left, top, right, bottom = {int: lambda p: (p,) * 4, tuple: lambda p: p * 2 if len(p) == 2 else p}[type(padding)](
        padding
    )
    for path, got in pixels(folder, [*EVAL, fullbore.Pad(padding, padding_mode=mode)]):
        expected = np.pad(plain[path], ((top, bottom), (left, right), (0, 0)), mode)
        np.testing.assert_array_equal(got, expected)


def test_borders_are_filled_and_steps_keep_their_order(folder, plain):
    double = fullbore.ColorJitter(brightness=(2.0, 2.0))
    fill = fullbore.Pad(4, fill=(10, 20, 30))
    after, before = (pixels(folder, [*EVAL, *steps])[0][1][0, 0] for steps in ((double, fill), (fill, double)))
    assert after.tolist() == [10, 20, 30] and before.tolist() == [20, 40, 60]


def erased_part(changed):
    """The rectangle of what changed, or None; fails if it is no rectangle."""
    rows, columns = changed.any(1).nonzero()[0], changed.any(0).nonzero()[0]
    if not len(rows):
        return None
    part = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    assert changed[part].all()
    return part


def test_a_rectangle_of_bytes_is_erased(folder, plain):
    erasing = fullbore.RandomErasing(p=0.7, scale=(0.1, 0.2), ratio=(0.5, 2), value=(1, 2, 254))
    count = 0
    for path, got in pixels(folder, [*EVAL, erasing], epochs=5):
        part = erased_part((got == (1, 2, 254)).all(-1))
        expected = plain[path].copy()
        if part:
            expected[part] = (1, 2, 254)
            assert 0.08 < expected[part].shape[0] * expected[part].shape[1] / (40 * 52) < 0.22
            count += 1
        np.testing.assert_array_equal(got, expected)
    assert 110 < count < 170  # 140 of 200


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_what_is_erased_after_the_normalisation_has_the_value(folder, dtype, layout):
    normalise = fullbore.Normalize(MEAN, STD)
    erasing = fullbore.RandomErasing(p=1.0, value=(7.5, -3.25, 100.0))
    clean = make(folder, [*EVAL, normalise], dtype=dtype, layout=layout)
    for (expected, _), (got, _) in zip(clean, make(folder, [*EVAL, normalise, erasing], dtype=dtype, layout=layout)):
        if layout == "NCHW":
            got, expected = got.permute(0, 2, 3, 1), expected.permute(0, 2, 3, 1)
        value = torch.tensor((7.5, -3.25, 100.0)).to(got.dtype)
        for one, before in zip(got, expected.clone()):
            before[erased_part((one == value).all(-1).numpy())] = value
            assert torch.equal(one, before)


def test_random_values_are_normally_distributed(folder):
    erasing = fullbore.RandomErasing(p=1.0, scale=(0.3, 0.3), ratio=(1, 1), value="random")
    black = fullbore.ColorJitter(brightness=(0, 0))
    drawn = [images[images != 0] for images, _ in make(folder, [*EVAL, black, fullbore.ToDtype("float32"), erasing])]
    drawn = torch.cat(drawn).double().sort().values
    count = len(drawn)
    assert count > 60_000 and len(drawn.unique()) > 0.9 * count
    expected = 0.5 * (1 + torch.erf(drawn / 2**0.5))
    distance = (expected - (torch.arange(count) + 0.5) / count).abs().max().item()
    assert distance < 1.95 / count**0.5  # Kolmogorov's bound, p = 0.001


def test_erasing_before_the_normalisation_is_normalised(folder):
    erasing = fullbore.RandomErasing(p=1.0, value=0.25)
    steps = [*EVAL, fullbore.ToDtype(torch.float32, scale=True), erasing, fullbore.Normalize(MEAN, STD)]
    images, _ = next(iter(make(folder, steps)))
    expected = (torch.tensor(0.25) - torch.tensor(MEAN)) / torch.tensor(STD)
    assert all(erased_part((one.permute(1, 2, 0) == expected).all(-1).numpy()) for one in images)


def test_values_have_the_type_and_scale_of_to_dtype(folder):
    raw, _ = next(iter(make(folder, EVAL, dtype="uint8")))
    for step, expected in [
        (fullbore.ToDtype(torch.float32, scale=False), raw.float()),
        (fullbore.ToDtype("float16", scale=True), raw.float().mul(1.0 / 255).half()),
        (fullbore.ToDtype({"Image": torch.bfloat16, "others": None}), raw.bfloat16()),
        (fullbore.ToDtype(torch.uint8, scale=True), raw.float().mul(1.0 / 255)),
    ]:
        images, _ = next(iter(make(folder, [*EVAL, step])))
        assert images.dtype == expected.dtype and torch.equal(images, expected)
    mean, std = (100.0, 110.0, 120.0), (50.0, 60.0, 70.0)
    images, _ = next(iter(make(folder, [*EVAL, fullbore.ToDtype("float32"), fullbore.Normalize(mean, std)])))
    expected = raw.float().sub(torch.tensor(mean).view(3, 1, 1)).div(torch.tensor(std).view(3, 1, 1))
    assert torch.equal(images, expected)


def test_bytes_are_equal_for_any_threads_and_a_resumed_run(folder):
    steps = [
        fullbore.RandomResizedCrop(32),
        fullbore.ColorJitter(0.4, 0.4, 0.4, 0.1),
        fullbore.RandomHorizontalFlip(),
        fullbore.RandomGrayscale(0.2),
        fullbore.Pad(2, padding_mode="reflect"),
        fullbore.RandomErasing(value=9),
        fullbore.Normalize(MEAN, STD),
        fullbore.RandomErasing(value="random"),
    ]
    expected = [images.clone() for images, _ in make(folder, steps, threads=1, depth=1)]
    for threads in (2, 5):
        assert all(map(torch.equal, expected, [images.clone() for images, _ in make(folder, steps, threads=threads)]))
    first, second = make(folder, steps), make(folder, steps)
    batches = iter(first)
    for _ in range(2):
        next(batches)
    second.load_state_dict(first.state_dict())
    assert all(map(torch.equal, expected[2:], [images.clone() for images, _ in second]))
    assert not all(map(torch.equal, expected, [images.clone() for images, _ in make(folder, steps, seed=4)]))


JITTER, ERASING, NORMALIZE = fullbore.ColorJitter(0.4), fullbore.RandomErasing(), fullbore.Normalize(MEAN, STD)


@pytest.mark.parametrize(
    "transform, message",
    [
        ([JITTER, *EVAL], "ColorJitter before the picture has its size"),
        ([fullbore.Resize(64), JITTER, fullbore.CenterCrop(56)], "CenterCrop after ColorJitter; .* put CenterCrop"),
        ([*EVAL, NORMALIZE, JITTER], "ColorJitter after Normalize; it changes 8-bit pixels here"),
        ([*EVAL, fullbore.Pad((1, 0, 2, 0)), fullbore.RandomHorizontalFlip()], "put it before the Pad"),
        ([*EVAL, fullbore.RandomErasing(value="random")], "put it after ToDtype or Normalize"),
        ([*EVAL, fullbore.RandomErasing(value=0.5)], "erasing by 0.5 in 8-bit pixels"),
        ([*EVAL, NORMALIZE, ERASING, ERASING], "twice after Normalize"),
        ([*EVAL, NORMALIZE, fullbore.RandomErasing(value=(1, 2))], "one number, three, or 'random'"),
        ([*EVAL, fullbore.Pad(40, padding_mode="reflect")], "up to 51 and 39 are mirrored"),
        ([*EVAL, fullbore.Pad(-1)], "a padding of -1"),
        ([*EVAL, fullbore.Pad(1, fill=300)], "a fill of 300"),
        ([*EVAL, fullbore.Pad(1, padding_mode="wrap")], "padding_mode 'wrap'; use one of constant, edge"),
        ([*EVAL, fullbore.ColorJitter(hue=0.6)], "a hue of -0.6 to 0.6"),
        ([*EVAL, fullbore.ColorJitter(contrast=(1.5, 1.0))], "a contrast of 1.5 to 1; it is 0 <= low <= high"),
        ([*EVAL, fullbore.ColorJitter(saturation=-1)], "a saturation of -1"),
        ([*EVAL, fullbore.RandomGrayscale(1.5)], "probability of 1.5 to become gray"),
        ([*EVAL, fullbore.RandomErasing(scale=(0.5, 1.5))], "a scale of \\(0.5, 1.5\\) to erase"),
        ([*EVAL, fullbore.ToDtype(torch.int64)], "ToDtype to int64"),
        ([*EVAL, fullbore.ToDtype("float32"), fullbore.ToDtype("uint8")], "to uint8 after ToDtype"),
    ],
)
def test_an_order_or_argument_that_is_not_served_is_refused(folder, transform, message):
    with pytest.raises((ValueError, RuntimeError), match=message):
        make(folder, transform)


def test_a_type_is_given_once(folder):
    with pytest.raises(ValueError, match="dtype float16, and ToDtype to float32; give one of them"):
        make(folder, [*EVAL, fullbore.ToDtype("float32")], dtype="float16")
    with pytest.raises(ValueError, match="RandomErasing after ToTensor with dtype uint8"):
        make(folder, [*EVAL, type("ToTensor", (), {})(), ERASING], dtype="uint8")
