"""P1 to P7, P17, P21, P22 and P24 against a driver that reorders whatever events allow."""

import threading

import _fullbore_fake as fake
import pytest
import torch
from fake_device import FakeDevice, sum_of, sum_on
from torch.utils.data import DataLoader, Dataset

import fullbore


def batches(count, size=3000):
    """Pageable batches of one large and two small tensors, all different."""
    return [
        {"x": torch.full((size,), i + 1, dtype=torch.float32), "y": torch.tensor([i, i + 1]), "z": torch.tensor(i)}
        for i in range(count)
    ]


@pytest.mark.parametrize("background", [False, True])
def test_p1_a_batch_dropped_at_once_is_read_whole_by_a_delayed_consumer(device, background):
    data = batches(12)
    stream = device.current_stream()
    fake.hold(stream)
    sums = []
    with fullbore.PrefetchDataLoader(data, device, background=background) as loader:
        for batch in loader:
            sums.append([sum_on(stream, tensor) for tensor in batch.values()])
            del batch
        fake.release(stream)
        fake.run_until_idle()
    assert [[fake.result(one) for one in row] for row in sums] == [[sum_of(t) for t in b.values()] for b in data]


def test_p2_the_stream_that_is_current_at_next_waits(device):
    data = batches(9)
    fake_results = []
    with fullbore.PrefetchDataLoader(data, device) as loader:
        passed = iter(loader)
        for i in range(9):
            stream = fake.make_stream()
            if i % 3 == 2:  # from another thread, which has a current stream of its own
                got = []
                worker = threading.Thread(target=lambda: (device.use_stream(stream), got.append(next(passed))))
                worker.start()
                worker.join()
                batch = got[0]
            else:
                device.use_stream(stream)
                batch = next(passed)
            fake_results.append(sum_on(stream, batch["x"]))
        fake.run_until_idle()
    assert [fake.result(one) for one in fake_results] == [sum_of(batch["x"]) for batch in data]


def test_p3_slots_are_not_refilled_before_their_copy(device):
    data = batches(6, size=20000)  # five times the ring
    with fullbore.PrefetchDataLoader(data, device, background=True, depth=4) as loader:
        passed = iter(loader)
        fake.hold(device.copy_stream)
        release = threading.Timer(0.05, fake.release, [device.copy_stream])
        release.start()
        got = list(passed)
        release.join()
        fake.run_until_idle()
        assert all(torch.equal(batch["x"], data[i]["x"]) for i, batch in enumerate(got))


def test_p4_nothing_is_copied_back_to_the_host(device):
    # The one result that comes from the device is the timing, and that is None until it is there.
    with fullbore.PrefetchDataLoader(batches(3), device, with_timing=True) as loader:
        passed = iter(loader)
        fake.hold(device.copy_stream)
        _, timing = next(passed)
        assert timing.h2d_ms is None and timing.bytes is None and not timing.complete
        fake.release(device.copy_stream)
        timing.wait()
        assert timing.h2d_ms is not None and timing.bytes == 3000 * 4 + 16 + 8


def test_p5_pageable_bytes_are_counted_and_staged_through_slots(device):
    with fullbore.PrefetchDataLoader(batches(4), device, with_timing=True) as loader:
        timings = [timing.wait() for _, timing in loader]
        assert [timing.pageable for timing in timings] == [3000 * 4 + 24] * 4
        assert loader.stats()["pageable_bytes"] == 4 * (3000 * 4 + 24)
        assert loader.stats()["slots"] == 4


def test_p6_the_consumer_waits_for_its_own_batch_only(device):
    with fullbore.PrefetchDataLoader(batches(3), device, background=True) as loader:
        stream = device.current_stream()
        passed = iter(loader)
        first = next(passed)
        for _ in range(200):  # the first batch's copies and their end are on the stream; nothing later may be needed
            fake.run_until_idle()
        fake.hold(device.copy_stream)
        second = next(passed)
        marker = sum_on(stream, first["x"])
        fake.run_until_idle()
        done_before = fake.result(marker)
        fake.release(device.copy_stream)
        fake.run_until_idle()
        assert fake.result(marker) == sum_of(first["x"]) and (done_before in (0, fake.result(marker)))
        del second


def test_p7_a_hundred_epochs_use_one_engine_and_no_more_memory(device):
    with fullbore.PrefetchDataLoader(batches(3), device, background=True) as loader:
        for _ in loader:
            pass
        pinned, streams, threads = fake.pinned_bytes(), fake.calls("stream_create"), threading.active_count()
        fake.run_until_idle()
        for _ in range(100):
            for batch in loader:
                del batch
            fake.run_until_idle()
        assert device.engines_started == 1
        assert (fake.pinned_bytes(), fake.calls("stream_create")) == (pinned, streams)
        assert threading.active_count() == threads
        assert device.most_bytes < 20 * 3100 * 4


def test_p17_a_graph_capture_of_another_thread_survives_an_epoch(device):
    with fullbore.PrefetchDataLoader(batches(20), device, background=True) as loader:
        passed = iter(loader)
        next(passed)
        fake.begin_capture()
        for _ in passed:
            pass
        fake.end_capture()
        assert fake.capture_breaking_calls() == 0


def test_p21_a_consumer_may_keep_every_batch(device):
    data = batches(40)
    with fullbore.PrefetchDataLoader(data, device) as loader:
        kept = list(loader)
        fake.run_until_idle()
    assert all(torch.equal(kept[i][key], data[i][key]) for i in range(40) for key in data[i])


def test_p22_an_edit_in_place_reaches_no_other_batch(device):
    one = {"x": torch.ones(3000), "y": torch.ones(4)}
    with fullbore.PrefetchDataLoader([one] * 6, device) as loader:
        for batch in loader:
            fake.run_until_idle()
            assert batch["x"].sum() == 3000 and batch["y"].sum() == 4
            batch["x"].zero_()
            batch["y"].zero_()
    assert one["x"].sum() == 3000


def test_p24_the_training_thread_synchronises_nothing_in_a_hundred_steps(device):
    with fullbore.PrefetchDataLoader(batches(102), device, background=True, with_timing=True) as loader:
        passed = iter(loader)
        next(passed), next(passed)
        fake.clear_calls()
        for _, timing in passed:
            assert timing.wait_ms is not None
        assert fake.calls("event_synchronize", own_thread=True) == 0
        assert fake.calls("host_alloc") == 0


class Reused:
    """A loader that gives the same memory again and again, as readers with a buffer of their own do."""

    def __init__(self, pinned=False):
        self.memory = torch.zeros(20000)

    def __iter__(self):
        for i in range(8):
            self.memory.fill_(i)
            yield self.memory


@pytest.mark.parametrize("background", [False, True])
def test_a_loader_that_overwrites_its_batch_is_read_before_it_does(device, background):
    with fullbore.PrefetchDataLoader(Reused(), device, background=background) as loader:
        got = list(loader)
        fake.run_until_idle()
    assert [tensor.unique().tolist() for tensor in got] == [[float(i)] for i in range(8)]


class Numbers(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((500,), index, dtype=torch.float32), index


def test_batches_of_worker_processes_arrive_whole_and_in_order(device):
    inner = DataLoader(Numbers(), batch_size=8, num_workers=2)
    with fullbore.PrefetchDataLoader(inner, device, depth=3) as loader:
        got = list(loader)
        fake.run_until_idle()
    assert [labels.tolist() for _, labels in got] == [list(range(i, i + 8)) for i in range(0, 64, 8)]
    assert all((images[:, 0] == labels).all() for images, labels in got)


def test_fewer_slots_than_wanted_are_named_in_the_stats():
    fake.reset(most_pinned_bytes=3 * 4096)
    with fullbore.PrefetchDataLoader(batches(3), FakeDevice()) as loader:
        for _ in loader:
            pass
        stats = loader.stats()
    assert stats["slots"] == 3 and "cannot lock" in stats["shortfall"]


def test_without_any_page_locked_memory_the_error_names_the_way_out():
    fake.reset(most_pinned_bytes=10)
    with pytest.raises(RuntimeError, match="memory limit of the container"):
        iter(fullbore.PrefetchDataLoader(batches(3), FakeDevice()))
