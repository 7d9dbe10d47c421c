"""Loaders that --fix leaves alone, with the reason it gives."""

import os
import sqlite3
import time

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, IterableDataset  # noqa: E402

from fix_harness import Quick, QuickEach, SAMPLE_SECONDS, fixing, of, why  # noqa: E402


def left_alone(tmp_path, make, *words, **options):
    expected = [repr(batch) for batch in make()]
    with fixing(tmp_path, **options) as records:
        loader = make()
        assert [repr(batch) for batch in loader] == expected
    assert of(records, "num_workers") == [(0, 0, 0)]
    for word in words:
        assert word in why(records, "num_workers")


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


def test_an_iterable_dataset_that_does_not_shard_itself_is_left_alone(tmp_path):
    left_alone(tmp_path, lambda: DataLoader(Counting(), batch_size=8), "does not share its samples out")


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
