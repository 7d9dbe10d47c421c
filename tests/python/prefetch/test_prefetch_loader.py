"""P8 to P13 and P18 to P20: in all but speed a prefetched loader is the loader that it wraps. Against the fake driver."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback

import _fullbore_fake as fake
import pytest
import torch
from fake_device import FakeDevice
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, get_worker_info

import fullbore
from fullbore import PrefetchDataLoader

both = pytest.mark.parametrize("background", [False, True])


@pytest.fixture
def device():
    fake.reset()
    return FakeDevice()


class Numbers(Dataset):
    def __init__(self, length=20, bad=None):
        self.length, self.bad = length, bad
        self.epoch = 0

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index == self.bad:
            raise LookupError("no sample %d" % index)
        return torch.tensor(float(index))

    def set_epoch(self, epoch):
        self.epoch = epoch


def prefetch_threads():
    return [thread for thread in threading.enumerate() if thread.name == "fullbore-prefetch"]


def values(batches):
    fake.run_until_idle()
    return [batch.tolist() for batch in batches]


@both
def test_p8_an_early_break_leaves_no_thread_and_a_loader_that_can_be_used(device, background):
    loader = PrefetchDataLoader(DataLoader(Numbers(), batch_size=2), device, background=background)
    for _ in range(3):
        for batch in loader:
            break
    deadline = time.monotonic() + 1
    while prefetch_threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not prefetch_threads()
    assert len(values(list(loader))) == 10
    loader.close()
    assert len(values(list(loader))) == 10
    loader.close()
    assert fake.pinned_bytes() == 0


@both
def test_p8_two_passes_at_once_are_independent(device, background):
    with PrefetchDataLoader(DataLoader(Numbers(), batch_size=5), device, background=background) as loader:
        one, two = iter(loader), iter(loader)
        got = [(next(one), next(two)) for _ in range(4)]
        fake.run_until_idle()
        assert all(torch.equal(a, b) for a, b in got)
        assert next(one, None) is None and next(two, None) is None


def test_p8_with_persistent_workers_a_new_pass_ends_the_one_before(device):
    inner = DataLoader(Numbers(), batch_size=5, num_workers=1, persistent_workers=True)
    with PrefetchDataLoader(inner, device) as loader:
        one = iter(loader)
        next(one)
        two = iter(loader)
        with pytest.raises(RuntimeError, match="one iterator at a time"):
            next(one)
        assert len(list(two)) == 4


def test_p8_a_pass_that_was_dropped_has_left_the_one_iterator_before_a_new_one_enters_it(device):
    def slow():
        for i in range(100):
            time.sleep(0.005)
            yield torch.tensor([i])

    loader = PrefetchDataLoader(slow(), device, background=True)
    for _ in range(8):
        for batch in loader:
            break
    loader.close()


def test_p8_close_does_not_wait_for_a_batch_that_takes_long(device):
    class Slow:
        def __iter__(self):
            yield torch.zeros(1)
            time.sleep(4)

    loader = PrefetchDataLoader(Slow(), device, background=True)
    next(iter(loader))
    begin = time.monotonic()
    loader.close()
    assert time.monotonic() - begin < 2


@both
def test_p9_the_batches_before_an_error_come_first_then_the_error_once_then_the_end(device, background):
    loader = PrefetchDataLoader(DataLoader(Numbers(bad=7), batch_size=2), device, background=background, depth=4)
    passed, got = iter(loader), []
    with pytest.raises(LookupError, match="no sample 7") as caught:
        for batch in passed:
            got.append(batch)
    assert values(got) == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert "__getitem__" in "".join(traceback.format_tb(caught.value.__traceback__))
    assert next(passed, "end") == "end"


@both
def test_p9_errors_of_sampler_collate_and_workers_keep_their_type(device, background):
    class Sampler:
        def __iter__(self):
            yield 0
            raise ZeroDivisionError("sampler")

    def collate(samples):
        raise BufferError("collate")

    for inner, error in (
        (DataLoader(Numbers(), sampler=Sampler()), ZeroDivisionError),
        (DataLoader(Numbers(), collate_fn=collate), BufferError),
        (DataLoader(Numbers(bad=3), num_workers=1), LookupError),
    ):
        with pytest.raises(error):
            list(PrefetchDataLoader(inner, device, background=background))


@both
def test_p9_an_error_of_the_device_is_raised_once_and_ends_the_threads(device, background):
    before = len(prefetch_threads())
    loader = PrefetchDataLoader([torch.full((2000,), i) for i in range(9)], device, background=background)
    passed = iter(loader)
    next(passed)
    fake.fail("copy_to_device_async", 700, 0)
    with pytest.raises(RuntimeError, match="cannot copy to the device"):
        for _ in passed:
            pass
    assert next(passed, "end") == "end"
    assert len(prefetch_threads()) <= before


def test_p9_ctrl_c_interrupts_the_wait_for_a_batch(device):
    class Slow:
        def __iter__(self):
            time.sleep(20)
            yield torch.zeros(1)

    loader = PrefetchDataLoader(Slow(), device, background=True)
    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(iter(loader))
    assert time.monotonic() - begin < 5


@both
@pytest.mark.parametrize("length,drop_last,shapes", [(0, False, []), (3, False, [3]), (7, False, [4, 3]), (7, True, [4])])
def test_p10_empty_single_and_short_batches_have_their_exact_shapes(device, background, length, drop_last, shapes):
    inner = DataLoader(Numbers(length), batch_size=4, drop_last=drop_last)
    with PrefetchDataLoader(inner, device, background=background) as loader:
        for _ in range(2):
            assert [len(batch) for batch in loader] == shapes


def test_p11_the_length_is_the_loaders_own(device):
    assert len(PrefetchDataLoader(DataLoader(Numbers(), batch_size=6), device)) == 4
    generator = PrefetchDataLoader((torch.zeros(1) for _ in range(2)), device)
    with pytest.raises(TypeError):
        len(generator)
    assert bool(generator)


@both
def test_p12_nothing_is_drawn_before_iter_and_set_epoch_reaches_sampler_and_dataset(device, background):
    dataset = Numbers()
    sampler = DistributedSampler(dataset, num_replicas=2, rank=0, shuffle=True)
    inner = DataLoader(dataset, batch_size=5, sampler=sampler)
    loader = PrefetchDataLoader(inner, device, background=background)
    for epoch in (0, 1):
        loader.set_epoch(epoch)
        drawn = sorted(sum(values(list(loader)), []))
        sampler_order = list(iter(sampler))
        assert drawn == sorted(float(index) for index in sampler_order) and dataset.epoch == epoch
    assert loader.sampler is sampler and loader.dataset is dataset and loader.batch_size == 5
    assert not hasattr(PrefetchDataLoader([], device), "set_epoch")
    loader.close()


def test_p12_without_workers_samples_are_made_in_the_calling_thread_with_its_random_state(device):
    class Random(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, index):
            return torch.rand(1), threading.get_ident()

    inner = DataLoader(Random(), batch_size=2)
    torch.manual_seed(3)
    plain = [batch[0] for batch in inner]
    torch.manual_seed(3)
    batches = list(PrefetchDataLoader(inner, device))
    fake.run_until_idle()
    assert all(torch.equal(a, b[0]) for a, b in zip(plain, batches))
    assert {ident for batch in batches for ident in batch[1].tolist()} == {threading.get_ident()}


class Stateful:
    """A loader with the state protocol of torchdata's StatefulDataLoader."""

    def __init__(self, length=10):
        self.length, self.position, self.snapshots = length, 0, 0

    def __iter__(self):
        begin = self.position if self.position < self.length else 0
        for i in range(begin, self.length):
            self.position = i + 1
            yield torch.tensor([i])

    def state_dict(self):
        self.snapshots += 1
        return {"position": self.position}

    def load_state_dict(self, state):
        self.position = state["position"]


@both
@pytest.mark.parametrize("handed_out", [0, 1, 4, 10])
def test_p13_the_state_is_that_of_the_batch_handed_out_last_and_can_be_resumed_twice(device, background, handed_out):
    loader = PrefetchDataLoader(Stateful(), device, background=background, depth=4)
    passed = iter(loader)
    for _ in range(handed_out):
        next(passed)
    state = loader.state_dict()
    assert state == {"position": handed_out}
    loader.close()
    for _ in range(2):
        again = PrefetchDataLoader(Stateful(), device, background=background)
        again.load_state_dict(state)
        rest = values(list(again))
        assert rest == [[i] for i in range(handed_out if handed_out < 10 else 0, 10)]
        assert again.state_dict() == {"position": 10}
        again.close()


def test_p13_a_loader_without_a_state_has_none_here(device):
    loader = PrefetchDataLoader([torch.zeros(1)], device)
    assert not hasattr(loader, "state_dict") and not hasattr(loader, "load_state_dict")


def test_p18_two_loaders_at_once_do_not_mix(device):
    first = PrefetchDataLoader([torch.full((5000,), i) for i in range(8)], device)
    second = PrefetchDataLoader([torch.full((5000,), -i) for i in range(8)], FakeDevice())
    got = list(zip(first, second))
    fake.run_until_idle()
    assert [(a.unique().item(), b.unique().item()) for a, b in got] == [(i, -i) for i in range(8)]
    first.close()
    second.close()


def test_p19_a_forked_child_gets_an_error_instead_of_a_deadlock(device):
    loader = PrefetchDataLoader(DataLoader(Numbers(), batch_size=2), device, background=True)
    passed = iter(loader)
    next(passed)
    pid = os.fork()
    if pid == 0:
        caught = 0
        for attempt in (lambda: next(passed), lambda: iter(loader)):
            try:
                attempt()
            except RuntimeError as error:
                caught += "forked from it" in str(error)
        loader.close()
        os._exit(10 + caught)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 12
    assert len(list(passed)) == 9
    loader.close()


def test_p19_workers_are_forked_before_the_engine_starts(device):
    order = []

    class Inner(DataLoader):
        def __iter__(self):
            order.append("workers")
            return super().__iter__()

    start = device.start_engine
    device.start_engine = lambda: order.append("engine") or start()
    assert len(list(PrefetchDataLoader(Inner(Numbers(), batch_size=5, num_workers=1), device))) == 4
    assert order == ["workers", "engine"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_p19_spawned_workers_work(device, method):
    inner = DataLoader(Numbers(), batch_size=5, num_workers=1, multiprocessing_context=method)
    assert len(values(list(PrefetchDataLoader(inner, device)))) == 4


class Ragged(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for i in range(3 if info.id == 0 else 5):
            yield torch.tensor([info.id * 100 + i])


def test_p20_ragged_workers_end_cleanly(device):
    plain = sorted(batch.item() for batch in DataLoader(Ragged(), batch_size=1, num_workers=2))
    loader = PrefetchDataLoader(DataLoader(Ragged(), batch_size=1, num_workers=2), device)
    got = list(loader)
    fake.run_until_idle()
    assert sorted(batch.item() for batch in got) == plain


@both
def test_p20_an_endless_loader_is_read_at_most_depth_and_one_ahead(device, background):
    drawn = []

    def endless():
        while True:
            drawn.append(1)
            yield torch.zeros(1)

    passed = iter(PrefetchDataLoader(endless(), device, depth=3, background=background))
    for used in range(1, 10):
        next(passed)
        time.sleep(0.01)
        assert len(drawn) - used <= 4
    passed.close()


def test_a_depth_below_one_and_unknown_devices_are_refused():
    for depth in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="depth"):
            PrefetchDataLoader([], "cpu", depth=depth)
    with pytest.raises(ValueError, match="cannot prefetch to device"):
        PrefetchDataLoader([], "mps")
    with pytest.raises(RuntimeError):
        PrefetchDataLoader([], "no such device")


@pytest.mark.skipif(torch.cuda.device_count() > 0, reason="this machine has a GPU")
@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_without_a_gpu_the_same_class_passes_batches_through_with_timing(name):
    data = [torch.zeros(2), {"x": 1}]
    with PrefetchDataLoader(data, name, with_timing=True) as loader:
        got = list(loader)
    assert [batch is original for (batch, _), original in zip(got, data)] == [True, True]
    assert all(timing.wait_ms >= 0 and timing.wait().h2d_ms is None for _, timing in got)
    assert loader.stats()["h2d_ms_per_batch"] is None


def test_pickling_is_refused_with_the_way_out():
    with pytest.raises(TypeError, match="wrap it there"):
        pickle.dumps(PrefetchDataLoader([], "cpu"))


def test_attributes_are_set_on_the_loader_itself():
    inner = DataLoader(Numbers(), batch_size=2)
    PrefetchDataLoader(inner, "cpu").note = 3
    assert inner.note == 3


def test_importing_the_package_needs_neither_torch_nor_the_extension(tmp_path):
    blocked = tmp_path / "torch.py"
    blocked.write_text("raise ImportError('no torch here')")
    package = os.path.dirname(os.path.dirname(fullbore.__file__))
    code = "import fullbore, sys; assert 'torch' not in sys.modules; print(fullbore.step)"
    environment = {**os.environ, "PYTHONPATH": "%s:%s" % (tmp_path, package)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


@pytest.mark.parametrize("how", ["pass", "raise SystemExit(0)", "loader = None"])
def test_the_interpreter_ends_with_a_pass_under_way(tmp_path, how):
    script = textwrap.dedent(
        """
        import sys, time
        sys.path[:0] = %r
        import _fullbore_fake as fake, torch
        from fake_device import FakeDevice
        from fullbore import PrefetchDataLoader
        fake.reset()
        def endless():
            while True:
                yield torch.zeros(3000)
        loader = PrefetchDataLoader(endless(), FakeDevice(), background=True)
        for batch in loader:
            break
        passed = iter(loader)
        next(passed)
        %s
        """
    ) % ([os.path.dirname(fake.__file__), os.path.dirname(__file__), os.path.dirname(os.path.dirname(fullbore.__file__))], how)
    begin = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert time.monotonic() - begin < 30


def test_a_loader_of_accelerate_that_keeps_no_state_is_wrapped(device):
    accelerate = pytest.importorskip("accelerate")
    inner = accelerate.Accelerator(cpu=True).prepare_data_loader(DataLoader(Numbers(), batch_size=5), device_placement=False)
    loader = PrefetchDataLoader(inner, device)
    for epoch in range(2):
        loader.set_epoch(epoch)
        assert len(values(list(loader))) == 4
    loader.close()
