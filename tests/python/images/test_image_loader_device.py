"""ImageLoader(device=...) against a driver that reorders whatever events allow, with the kernel's own code on the CPU."""

import glob
import os

import pytest

torch = pytest.importorskip("torch")

import fullbore  # noqa: E402

TESTING = os.path.join(os.path.dirname(os.path.dirname(fullbore.__file__)), "testing")
pytestmark = pytest.mark.skipif(not glob.glob(TESTING + "/_fullbore_fake*"), reason="the fake driver is not built")

NORMALIZE = fullbore.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.syspath_prepend(TESTING)
    import _fullbore_fake

    if not _fullbore_fake.has_kernels:
        pytest.skip("built without clang, so without kernels")
    _fullbore_fake.reset(seed=1)
    return _fullbore_fake


def make_device(**replaced):
    from fake_device import FakeDevice

    device = FakeDevice()
    for name, method in replaced.items():
        setattr(device, name, method)
    return device


def make(folder, device="cpu", dtype="float32", layout="NCHW", size=24, **options):
    transform = [fullbore.RandomResizedCrop(size), fullbore.RandomHorizontalFlip()]
    if dtype != "uint8":
        transform.append(NORMALIZE)
    return fullbore.ImageLoader(folder, 8, transform=transform, dtype=dtype, layout=layout, device=device, threads=2,
                                index=None, **options)  # fmt: skip


def bits(tensor):
    return tensor.contiguous().view(torch.uint8)


def sums_of_a_delayed_consumer(fake, loader, stream):
    """Of images and labels that are dropped at once, on a stream that comes to them at the end."""
    from fake_device import sum_on

    fake.hold(stream)
    sums = []
    for images, labels in loader:
        sums.append((sum_on(stream, images), sum_on(stream, labels)))
        del images, labels
    fake.release(stream)
    fake.run_until_idle()
    return [tuple(fake.result(one) for one in row) for row in sums]


def sums_of_the_cpu(folder, **options):
    from fake_device import sum_of

    return [(sum_of(images), sum_of(labels)) for images, labels in make(folder, **options)]


@pytest.mark.parametrize("size", [24, 15])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16", "bfloat16"])
def test_values_are_those_of_the_cpu(fake, folder, dtype, layout, size):
    wanted = [(batch.ids, batch.paths, *batch) for batch in make(folder, "cpu", dtype, layout, size)]
    loader = make(folder, make_device(), dtype, layout, size)
    got = list(loader)
    fake.run_until_idle()
    assert len(got) == len(wanted) == len(loader)
    for batch, (ids, paths, images, labels) in zip(got, wanted):
        assert batch.images.dtype == images.dtype and batch.images.shape == images.shape
        assert torch.equal(bits(batch.images), bits(images)) and torch.equal(batch.labels, labels)
        assert (batch.ids, batch.paths) == (ids, paths)
    loader.close()


@pytest.mark.parametrize("seed", range(5))
def test_a_batch_dropped_at_once_is_read_whole_by_a_delayed_consumer(fake, folder, seed):
    fake.reset(seed=seed)
    device = make_device()
    with make(folder, device) as loader:
        assert sums_of_a_delayed_consumer(fake, loader, device.current_stream()) == sums_of_the_cpu(folder)


def test_without_record_stream_the_same_reads_wrong_data(fake, folder):
    device = make_device(record=lambda *_: None)
    with make(folder, device) as loader:
        assert sums_of_a_delayed_consumer(fake, loader, device.current_stream()) != sums_of_the_cpu(folder)


def test_the_stream_that_is_current_at_next_waits(fake, folder):
    from fake_device import sum_of, sum_on

    device = make_device()
    sums = []
    with make(folder, device) as loader:
        for images, _ in loader:
            sums.append(sum_on(device.current_stream(), images))
            device.use_stream(fake.make_stream())
    fake.run_until_idle()
    assert [fake.result(one) for one in sums] == [sum_of(images) for images, _ in make(folder)]


def test_the_state_is_what_was_handed_out_and_is_resumed_twice(fake, folder):
    whole = [batch.ids for batch in make(folder)]
    loader = make(folder, make_device())
    batches = iter(loader)
    ids = [next(batches).ids for _ in range(2)]
    for taken in (2, 3):
        state = loader.state_dict()
        assert state["samples"] == 8 * taken  # handed out, not drawn
        loader.close()
        loader = make(folder, make_device())
        loader.load_state_dict(state)
        batches = iter(loader)
        ids.append(next(batches).ids)
    ids += [batch.ids for batch in batches]
    assert ids == whole
    assert loader.state_dict()["epoch"] == 1
    loader.close()


def test_a_pass_that_was_left_early_does_not_disturb_the_next_one(fake, folder):
    cpu = make(folder)
    cpu.set_epoch(1)
    wanted = [bits(images).clone() for images, _ in cpu]
    loader = make(folder, make_device())
    for _ in loader:
        break
    got = [images for images, _ in loader]
    fake.run_until_idle()
    assert all(torch.equal(bits(a), b) for a, b in zip(got, wanted, strict=True))
    loader.close()


def test_a_bad_picture_is_told_after_the_batches_before_it(fake, folder, tmp_path):
    import shutil

    copy = shutil.copytree(folder, tmp_path / "copy")
    bad = sorted(copy.glob("*/*.jpg"))[20]
    bad.write_bytes(bad.read_bytes()[:300])
    loader = make(copy, make_device(), shuffle=False)
    got = 0
    with pytest.raises(RuntimeError, match="cannot decode sample 20"):
        for _ in loader:
            got += 1
    assert got == 2
    loader.close()


def test_batches_that_are_kept_hold_no_page_locked_memory(fake, folder):
    loader = make(folder, make_device(), depth=1)
    locked = fake.pinned_bytes()
    assert locked == 3 * (8 * 24 * 24 * 3 + 8 * 8)  # one ahead, two on their way
    kept = [batch for _ in range(6) for batch in loader]
    assert len(kept) == 30 and fake.pinned_bytes() == locked
    loader.close()
    assert fake.pinned_bytes() == 0
    assert len(kept[0].ids) == 8 and kept[0].timing.h2d_ms is not None


def test_in_its_stride_it_makes_nothing_and_waits_for_nothing(fake, folder):
    loader = make(folder, make_device())
    for _ in loader:
        fake.run_until_idle()
    fake.clear_calls()
    for _ in range(10):
        for _ in loader:
            fake.run_until_idle()
    made = ("host_alloc", "event_create", "stream_create", "module_load_data", "event_synchronize")
    assert {name: fake.calls(name) for name in made} == dict.fromkeys(made, 0)
    assert fake.calls("launch_kernel") == 50
    loader.close()


def test_times_are_there_once_the_batch_is(fake, folder):
    loader = make(folder, make_device())
    batch = next(iter(loader))
    assert batch.timing.decode_ms > 0 and batch.timing.wait_ms >= 0
    fake.run_until_idle()
    assert batch.timing.h2d_ms > 0 and batch.timing.device_finish_ms > 0
    assert batch.timing.bytes == 8 * (24 * 24 * 3 + 8)
    stats = loader.stats()
    assert stats["batches"] >= 1 and stats["h2d_ms_per_batch"] > 0 and stats["no_kernel"] is None
    loader.close()


def test_a_driver_that_refuses_the_kernel_is_quoted_and_torch_finishes(fake, folder):
    fake.fail("module_load_data", 218, 0)
    loader = make(folder, make_device(), "bfloat16")
    with pytest.warns(RuntimeWarning, match="cannot compile a kernel"):
        images = next(iter(loader)).images
    assert images.dtype == torch.bfloat16 and images.shape == (8, 3, 24, 24)
    assert "cannot compile a kernel" in loader.stats()["no_kernel"]
    loader.close()


def test_erasing_of_finished_values_is_refused_on_a_device(fake, folder):
    transform = [fullbore.RandomResizedCrop(24), NORMALIZE, fullbore.RandomErasing()]
    with pytest.raises(ValueError, match="put it before"):
        fullbore.ImageLoader(folder, 8, transform=transform, device=make_device())
