"""Changed loaders that fail: the run goes on as if they had never been changed."""

import os
import random
import time

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, get_worker_info  # noqa: E402

from fix_harness import QuickEach, SAMPLE_SECONDS, Slow, fixing, indices_and_pids, of, why  # noqa: E402


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

    # torch raises where the main process happens to be: still making the iterator, or waiting for the first batch.
    taken_back(tmp_path, Dies(), "exited unexpectedly")


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


def test_workers_taken_back_once_are_not_tried_again_for_such_a_dataset(tmp_path):
    class Raises(InWorkers):
        def misbehave(self):
            raise RuntimeError("no")

    with fixing(tmp_path) as records:
        for _ in range(2):
            assert len(list(DataLoader(Raises(), batch_size=8))) == 16
    assert of(records, "num_workers") == [(0, 2, 1), (0, 2, 2), (0, 0, 0)]
    assert "workers failed before" in why(records, "num_workers")


def test_an_iterator_whose_loader_was_dropped_is_taken_back(tmp_path):
    class Raises(InWorkers):
        def misbehave(self):
            raise RuntimeError("no")

    with fixing(tmp_path) as records:
        iterator = iter(DataLoader(Raises(), batch_size=8))
        assert torch.cat(list(iterator)).tolist() == list(range(128))
    assert of(records, "num_workers") == [(0, 2, 1), (0, 2, 2)]
