"""Batches of the image loader go through the prefetcher, which copies them to a device."""

import glob
import os

import pytest

torch = pytest.importorskip("torch")

import fullbore  # noqa: E402

TESTING = os.path.join(os.path.dirname(os.path.dirname(fullbore.__file__)), "testing")
needs_fake = pytest.mark.skipif(not glob.glob(TESTING + "/_fullbore_fake*"), reason="the fake driver is not built")


def make(folder):
    return fullbore.ImageLoader(folder, 8, transform=[fullbore.RandomResizedCrop(24)], dtype="uint8", threads=2)


@needs_fake
def test_copies_have_the_pixels_and_the_batch_its_attributes(folder, monkeypatch):
    monkeypatch.syspath_prepend(TESTING)
    import _fullbore_fake as fake
    from fake_device import FakeDevice

    fake.reset(seed=1)
    expected = [(batch.ids, batch.images.clone(), batch.labels.clone()) for batch in make(folder)]
    loader = fullbore.PrefetchDataLoader(make(folder), FakeDevice(), with_timing=True)
    assert len(loader) == 5
    for (batch, timing), (ids, images, labels) in zip(loader, expected, strict=True):
        timing.wait()
        assert torch.equal(batch.images, images) and torch.equal(batch.labels, labels)
        assert batch.ids == ids and len(batch.paths) == 8


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16", "bfloat16"])
def test_torchs_operations_finish_as_the_cpu_does(folder, dtype, layout):
    from fullbore.images.on_device import Finish

    crop = fullbore.RandomResizedCrop(24)
    mean, std = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)) if dtype != "uint8" else ((0, 0, 0), (1, 1, 1))
    transform = [crop] if dtype == "uint8" else [crop, fullbore.Normalize(mean, std)]
    plain = fullbore.ImageLoader(folder, 8, transform=[crop], dtype="uint8", layout="NHWC", threads=1)
    wanted = fullbore.ImageLoader(folder, 8, transform=transform, dtype=dtype, layout=layout, threads=1)
    finish = Finish(getattr(torch, dtype), layout, mean, std, 1.0 / 255)
    for (raw, _), (images, _) in zip(plain, wanted):
        done = finish(raw)
        assert torch.equal(done, images) and done.is_contiguous()


def test_on_a_machine_without_a_device_it_is_the_cpu(folder):
    if torch.cuda.is_available():
        pytest.skip("there is a device")
    transform = [fullbore.RandomResizedCrop(24), fullbore.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))]
    loader = fullbore.ImageLoader(folder, 8, transform=transform, device="cuda", threads=1)
    assert type(loader) is fullbore.ImageLoader and next(iter(loader)).images.dtype == torch.float32


def test_on_the_cpu_batches_pass_as_they_are(folder):
    for (images, labels), batch in zip(fullbore.PrefetchDataLoader(make(folder), "cpu"), make(folder)):
        assert torch.equal(images, batch.images) and torch.equal(labels, batch.labels)
