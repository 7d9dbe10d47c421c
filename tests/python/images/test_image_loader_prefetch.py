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


def test_on_the_cpu_batches_pass_as_they_are(folder):
    for (images, labels), batch in zip(fullbore.PrefetchDataLoader(make(folder), "cpu"), make(folder)):
        assert torch.equal(images, batch.images) and torch.equal(labels, batch.labels)
