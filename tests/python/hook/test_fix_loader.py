"""--fix on real loaders with real worker processes: what is changed, what is left alone, and what is taken back."""
import os
import random
import sqlite3
import time

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info  # noqa: E402

from fix_harness import fixing, of, why  # noqa: E402

SAMPLE_SECONDS = 0.004


class Slow(Dataset):
    """Costs enough for workers to be worth it: 128 samples of 4 ms."""

    def __init__(self, length=128):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index >= self.length:
            raise IndexError(index)
        time.sleep(SAMPLE_SECONDS)
        return torch.tensor([index, os.getpid()])


def indices_and_pids(loader):
    rows = torch.cat(list(loader))
    return rows[:, 0].tolist(), set(rows[:, 1].tolist())


def test_plain_adds_workers_that_give_each_sample_once(tmp_path):
    with fixing(tmp_path) as records:
        loader = DataLoader(Slow(), batch_size=8, shuffle=True)
        for _ in range(2):
            indices, pids = indices_and_pids(loader)
            assert sorted(indices) == list(range(128))
            assert os.getpid() not in pids and len(pids) == 2
    assert of(records, "num_workers") == [(0, 2, 1)] and of(records, "persistent_workers") == [(False, True, 1)]
    assert of(records, "prefetch_factor") == [(None, 2, 1)] and of(records, "pin_memory") == [(False, False, 0)]


def test_persistent_workers_are_kept_over_epochs(tmp_path):
    with fixing(tmp_path):
        loader = DataLoader(Slow(), batch_size=8)
        assert indices_and_pids(loader)[1] == indices_and_pids(loader)[1]


def test_a_dataset_changed_between_epochs_reaches_the_workers(tmp_path):
    class Scheduled(Slow):
        epoch = 0

        def __getitem__(self, index):
            return torch.cat([super().__getitem__(index), torch.tensor([self.epoch])])
    with fixing(tmp_path) as records:
        dataset = Scheduled()
        loader = DataLoader(dataset, batch_size=8)
        for epoch in range(3):
            dataset.epoch = epoch
            assert {batch[0, 2].item() for batch in loader} == {epoch}
    assert of(records, "num_workers") == [(0, 2, 1)]


def test_two_iterators_of_one_loader_stay_apart(tmp_path):
    with fixing(tmp_path):
        loader = DataLoader(Slow(), batch_size=8)
        for first, second in zip(loader, loader):
            assert first[:, 0].tolist() == second[:, 0].tolist()


def test_exact_leaves_every_random_number_and_batch_as_it_was(tmp_path):
    class Augmented(Slow):
        def __getitem__(self, index):
            return torch.rand(3), random.random(), index

    def run():
        torch.manual_seed(7), random.seed(7)
        seen = []
        loader = DataLoader(Augmented(32), batch_size=8, shuffle=True)
        for _ in range(2):
            seen += [(a.tolist(), b.tolist(), c.tolist(), torch.rand(1).item()) for a, b, c in loader]
        workers = DataLoader(Augmented(32), batch_size=8, shuffle=True, num_workers=2, prefetch_factor=1)
        seen += [(a.tolist(), b.tolist(), c.tolist(), torch.rand(1).item()) for a, b, c in workers]
        return seen, torch.rand(1).item(), random.random()
    unchanged = run()
    with fixing(tmp_path, mode="exact") as records:
        assert run() == unchanged
    assert of(records, "num_workers") == [] and of(records, "prefetch_factor") == [(1, 2, 1)]
    assert "without CUDA" in why(records, "pin_memory")


def test_the_settings_of_a_report_go_to_the_loader_of_that_line(tmp_path):
    line = test_the_settings_of_a_report_go_to_the_loader_of_that_line.__code__.co_firstlineno + 5
    advice = [{"file": __file__, "line": line, "settings": {
        "num_workers": "4", "persistent_workers": "True", "prefetch_factor": "3", "pin_memory": "False"}}]
    with fixing(tmp_path, mode="run", loaders=advice) as records:
        train = DataLoader(Slow(), batch_size=8)
        val = DataLoader(Slow(), batch_size=8)
        assert (train.num_workers, train.prefetch_factor, train.persistent_workers) == (2, 3, True)
        assert val.num_workers == 0
        assert sorted(indices_and_pids(train)[0]) == list(range(128)) == indices_and_pids(val)[0]
    assert why(records, "num_workers") == "4 recommended, limited by 2 usable cores"


def test_ordinals_tell_loaders_of_one_line_apart(tmp_path):
    line = test_ordinals_tell_loaders_of_one_line_apart.__code__.co_firstlineno + 4
    advice = [{"file": __file__, "line": line, "ordinal": 1, "settings": {"num_workers": "2"}}]
    with fixing(tmp_path, mode="run", loaders=advice):
        loaders = [DataLoader(Slow(), batch_size=8) for _ in range(3)]
    assert [loader.num_workers for loader in loaders] == [0, 2, 0]


def test_a_loader_made_anew_in_every_epoch_is_fixed_each_time(tmp_path):
    with fixing(tmp_path) as records:
        for _ in range(2):
            assert os.getpid() not in indices_and_pids(DataLoader(Slow(), batch_size=8))[1]
    assert of(records, "num_workers") == [(0, 2, 1)] * 2


def test_train_and_val_are_fixed_apart(tmp_path):
    with fixing(tmp_path) as records:
        train, val = DataLoader(Slow(), batch_size=8, shuffle=True), DataLoader(Slow(64), batch_size=8)
        for _ in range(2):
            assert sorted(indices_and_pids(train)[0]) == list(range(128))
            assert indices_and_pids(val)[0] == list(range(64))
    assert sorted(one["loader"] for one in records if one["setting"] == "num_workers") == [1, 2]


def test_a_subclass_of_dataloader_is_fixed(tmp_path):
    class Endless(DataLoader):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.iterator = super().__iter__()

        def __iter__(self):
            return iter([next(self.iterator) for _ in range(len(self))])
    with fixing(tmp_path) as records:
        assert indices_and_pids(Endless(Slow(), batch_size=8))[0] == list(range(128))
    assert of(records, "num_workers") == [(0, 2, 1)]


def test_workers_that_the_script_sets_are_only_made_persistent(tmp_path):
    with fixing(tmp_path) as records:
        assert len(indices_and_pids(DataLoader(Slow(), batch_size=8, num_workers=1))[1]) == 1
    assert of(records, "num_workers") == [(1, 1, 0)] and of(records, "persistent_workers") == [(False, True, 1)]


# left alone

def left_alone(tmp_path, make, *words, **options):
    expected = [repr(batch) for batch in make()]
    with fixing(tmp_path, **options) as records:
        loader = make()
        assert [repr(batch) for batch in loader] == expected
    assert of(records, "num_workers") == [(0, 0, 0)]
    for word in words:
        assert word in why(records, "num_workers")


class Quick(Dataset):
    def __init__(self, **held):
        self.__dict__.update(held)

    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index >= 64:
            raise IndexError(index)
        return index


class QuickEach(Quick):
    """Slow enough for workers, without telling the process that made it."""

    def __getitem__(self, index):
        time.sleep(SAMPLE_SECONDS)
        return index


def test_an_open_file_leaves_it_alone(tmp_path):
    with open(__file__) as file:
        left_alone(tmp_path, lambda: DataLoader(QuickEach(file=file)), "dataset.file is an open file")


def test_an_open_database_leaves_it_alone(tmp_path):
    left_alone(tmp_path, lambda: DataLoader(QuickEach(db=sqlite3.connect(":memory:"))), "sqlite3.Connection")


def test_a_generator_leaves_it_alone(tmp_path):
    left_alone(tmp_path, lambda: DataLoader(QuickEach(lines=(x for x in "ab"))), "dataset.lines is a generator")


def test_a_sampler_that_is_a_generator_leaves_it_alone(tmp_path):
    left_alone(tmp_path, lambda: DataLoader(QuickEach(), sampler=(x for x in range(40))), "sampler is a generator")


def test_quick_samples_leave_it_alone(tmp_path):
    left_alone(tmp_path, lambda: DataLoader(Quick(), batch_size=8), "would not be faster")


def test_no_batching_leaves_it_alone(tmp_path):
    left_alone(tmp_path, lambda: DataLoader(QuickEach(), batch_size=None), "batch_size=None")


def test_a_dataset_that_keeps_what_it_made_leaves_it_alone(tmp_path):
    class Caching(QuickEach):
        def __getitem__(self, index):
            self.cache[index] = index
            return super().__getitem__(index)
    left_alone(tmp_path, lambda: DataLoader(Caching(cache={})), "changes dataset.cache")


def test_little_shared_memory_leaves_it_alone(tmp_path):
    class Wide(QuickEach):
        def __getitem__(self, index):
            return torch.zeros(750_000) + super().__getitem__(index)  # 3 MB
    left_alone(tmp_path, lambda: DataLoader(Wide(), batch_size=4), "/dev/shm (20 MB free)", shm_free=20_000_000)


class Counting(IterableDataset):
    def __iter__(self):
        for index in range(64):
            time.sleep(SAMPLE_SECONDS)
            yield index


class Sharing(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for index in range(128)[info.id if info else 0:: info.num_workers if info else 1]:
            time.sleep(SAMPLE_SECONDS)
            yield index


def test_an_iterable_dataset_that_does_not_shard_itself_is_left_alone(tmp_path):
    left_alone(tmp_path, lambda: DataLoader(Counting(), batch_size=8), "does not share its samples out")


def test_an_iterable_dataset_that_shards_itself_gets_workers(tmp_path):
    with fixing(tmp_path) as records:
        assert sorted(torch.cat(list(DataLoader(Sharing(), batch_size=8))).tolist()) == list(range(128))
    assert of(records, "num_workers") == [(0, 2, 1)]


def test_a_probe_that_hangs_leaves_it_alone_within_its_limit(tmp_path):
    parent = os.getpid()

    class HangsInAChild(QuickEach):
        def __getitem__(self, index):
            if os.getpid() != parent:
                time.sleep(3600)
            return index
    begin = time.monotonic()
    left_alone(tmp_path, lambda: DataLoader(HangsInAChild()), "no sample was ready within 2.0 s")
    assert time.monotonic() - begin < 8


def test_a_probe_that_raises_leaves_it_alone(tmp_path):
    parent = os.getpid()

    class RaisesInAChild(QuickEach):
        def __getitem__(self, index):
            if os.getpid() != parent:
                raise ValueError("no\nluck")
            return index
    left_alone(tmp_path, lambda: DataLoader(RaisesInAChild()), "raised ValueError: no luck")


def test_ranks_share_the_cores(tmp_path, monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    with fixing(tmp_path) as records:
        assert len(indices_and_pids(DataLoader(Slow(), batch_size=8))[1]) == 1
    assert of(records, "num_workers") == [(0, 1, 1)] and "2 ranks" in why(records, "num_workers")


def test_a_quota_of_one_core_gives_one_worker(tmp_path):
    with fixing(tmp_path, quota_cores=1.0) as records:
        list(DataLoader(Slow(), batch_size=8))
    assert of(records, "num_workers") == [(0, 1, 1)] and "quota of 1.0 cores" in why(records, "num_workers")


def test_a_lazily_opened_file_is_opened_by_each_worker(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(b"".join(index.to_bytes(4, "little") for index in range(256)))

    class Lazy(Slow):
        file = None

        def __getitem__(self, index):
            super().__getitem__(index)
            if self.file is None:
                self.file = open(path, "rb", buffering=0)
            self.file.seek(4 * index)
            time.sleep(0)
            return int.from_bytes(self.file.read(4), "little")
    with fixing(tmp_path) as records:
        dataset = Lazy(256)
        assert torch.cat(list(DataLoader(dataset, batch_size=8))).tolist() == list(range(256))
        assert dataset.file is None  # never touched in this process
    assert of(records, "num_workers") == [(0, 2, 1)]


# taken back

def taken_back(tmp_path, dataset, *words, seconds=2):
    """The batches and every later random number are those of the unchanged loader."""
    def run():
        torch.manual_seed(5), random.seed(5)
        loader = DataLoader(dataset, batch_size=8, shuffle=True)
        seen = [batch.tolist() for batch in loader] + [batch.tolist() for batch in loader]
        return seen, torch.rand(2).tolist(), random.random()
    unchanged = run()
    with fixing(tmp_path, first_batch_timeout_s=seconds) as records:
        assert run() == unchanged
    assert of(records, "num_workers") == [(0, 2, 1), (0, 2, 2)]
    for word in words:
        assert word in why(records, "num_workers")


class InWorkers(QuickEach):
    """Misbehaves in loader workers alone: a probe child is none."""

    def __getitem__(self, index):
        if get_worker_info() is not None:
            self.misbehave()
        time.sleep(SAMPLE_SECONDS)
        return index

    def __len__(self):
        return 128


def test_a_worker_that_dies_is_taken_back(tmp_path):
    class Dies(InWorkers):
        def misbehave(self):
            os._exit(3)
    taken_back(tmp_path, Dies(), "its first batch failed", "exited unexpectedly")


def test_workers_that_hang_are_taken_back(tmp_path):
    class Hangs(InWorkers):
        def misbehave(self):
            time.sleep(3600)
    taken_back(tmp_path, Hangs(), "no first batch came within")


def test_a_dataset_that_raises_in_workers_is_taken_back(tmp_path):
    class Raises(InWorkers):
        def misbehave(self):
            raise RuntimeError("only in the main process")
    taken_back(tmp_path, Raises(), "only in the main process")


def test_a_dataset_that_raises_anyway_raises_its_own_error(tmp_path):
    class Broken(InWorkers):
        def __getitem__(self, index):
            if get_worker_info() is None and self.armed:
                raise KeyError("broken sample")
            return super().__getitem__(index)

        def misbehave(self):
            raise KeyError("broken sample")
    dataset = Broken(armed=False)
    with fixing(tmp_path, first_batch_timeout_s=2) as records:
        loader = DataLoader(dataset, batch_size=8)
        iterator = iter(loader)
        dataset.armed = True
        with pytest.raises(KeyError) as caught:
            next(iterator)
    assert caught.value.args == ("broken sample",)
    assert of(records, "num_workers")[-1] == (0, 2, 2)


def test_no_worker_is_left_behind_after_a_take_back(tmp_path):
    import multiprocessing

    class Hangs(InWorkers):
        def misbehave(self):
            time.sleep(3600)
    before = set(multiprocessing.active_children())
    with fixing(tmp_path, first_batch_timeout_s=1):
        assert next(iter(DataLoader(Hangs(), batch_size=8))).tolist() == list(range(8))
        assert set(multiprocessing.active_children()) <= before


def test_numbers_drawn_before_the_first_batch_are_not_drawn_again(tmp_path):
    class Raises(InWorkers):
        def misbehave(self):
            raise RuntimeError("no")
    with fixing(tmp_path) as records:
        iterator = iter(DataLoader(Raises(), batch_size=8))
        first = torch.rand(4).tolist()
        next(iterator)
        assert torch.rand(4).tolist() != first
    assert of(records, "num_workers")[-1] == (0, 2, 2)


def test_workers_that_cannot_be_started_are_taken_back(tmp_path, monkeypatch):
    from torch.utils.data import dataloader

    def refuse(self, loader):
        raise OSError(11, "Resource temporarily unavailable")
    with fixing(tmp_path) as records:
        monkeypatch.setattr(dataloader._MultiProcessingDataLoaderIter, "__init__", refuse)
        monkeypatch.setattr(dataloader._MultiProcessingDataLoaderIter, "__del__", lambda self: None)
        assert indices_and_pids(DataLoader(Slow(), batch_size=8)) == (list(range(128)), {os.getpid()})
    assert "could not be created (BlockingIOError" in why(records, "num_workers")


def test_after_a_take_back_the_loader_reads_as_the_script_made_it(tmp_path):
    class Raises(InWorkers):
        def misbehave(self):
            raise RuntimeError("no")
    with fixing(tmp_path):
        loader = DataLoader(Raises(), batch_size=8)
        untouched = dict(vars(loader))
        iterator = iter(loader)
        next(iterator)
    assert {name: vars(loader)[name] for name in untouched} == untouched
    assert type(iterator).__name__ == "_SingleProcessDataLoaderIter"


@pytest.mark.parametrize("sampling", [
    dict(batch_size=8, sampler=torch.utils.data.SubsetRandomSampler(range(0, 512, 2))),
    dict(batch_size=8, sampler=list(range(0, 512, 2))),
    dict(batch_sampler=[list(range(i, i + 16, 2)) for i in range(0, 512, 16)]),
])
def test_samplers_of_every_kind_are_followed(tmp_path, sampling):
    class EvenOnly(QuickEach):
        def __getitem__(self, index):
            if index % 2:
                raise KeyError(index)
            return super().__getitem__(index)
    with fixing(tmp_path) as records:
        loader = DataLoader(EvenOnly(), **sampling)
        assert sorted(torch.cat(list(loader)).tolist()) == list(range(0, 512, 2))
    assert of(records, "num_workers") == [(0, 2, 1)]


def test_a_loader_dropped_before_its_first_batch_leaves_no_worker(tmp_path):
    import gc
    import multiprocessing
    with fixing(tmp_path):
        iterator = iter(DataLoader(Slow(), batch_size=8))
        pids = {child.pid for child in multiprocessing.active_children()}
        assert pids
        del iterator
        gc.collect()
        assert not pids & {child.pid for child in multiprocessing.active_children()}
