"""What a dataset may hold to be copied into workers, and that finding out calls none of its code."""

import io
import itertools
import logging
import os
import random
import socket
import sqlite3
import sys
import threading
import zipfile

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python/fullbore/hook"))
from _fullbore_hook.fix import handles, snapshot  # noqa: E402

np = pytest.importorskip("numpy")
GLOBAL_RNG = random.Random(3)


class Holder:
    def __init__(self, **held):
        self.__dict__.update(held)


class Slotted:
    __slots__ = ("file", "never_filled")


def test_plain_data_may_be_shared():
    dataset = Holder(
        paths=["a"] * 100_000,
        table={"a": 1},
        array=np.zeros(3),
        memory=io.BytesIO(b"x"),
        logger=logging.getLogger("x"),
        module=os,
        size=(3, 4),
    )
    assert handles.why_not_shared(dataset) is None


def test_a_memory_mapped_array_may_be_shared(tmp_path):
    tokens = np.memmap(tmp_path / "tokens", dtype=np.uint16, mode="w+", shape=(100,))
    assert handles.why_not_shared(Holder(tokens=tokens)) is None


def test_an_open_file_is_found_wherever_it_is_kept(tmp_path):
    with open(tmp_path / "x", "wb") as file:
        slotted = Slotted()
        slotted.file = file
        for dataset, path in (
            (Holder(file=file), "dataset.file"),
            (Holder(a={"k": [file]}), "dataset.a['k'][0]"),
            (Holder(inner=Holder(inner=slotted)), "dataset.inner.inner.file"),
            (lambda: file, "dataset (variable file)"),
        ):
            assert handles.why_not_shared(dataset) == path + " is an open file (BufferedWriter)"


def test_a_closed_file_is_no_obstacle(tmp_path):
    with open(tmp_path / "x", "wb") as file:
        pass
    assert handles.why_not_shared(Holder(file=file)) is None


def test_databases_archives_and_sockets_are_open_handles(tmp_path):
    archive = zipfile.ZipFile(tmp_path / "x.zip", "w")
    near, far = socket.socketpair()
    for handle in (sqlite3.connect(":memory:"), archive, near, threading.Thread(target=print)):
        assert "an open handle" in handles.why_not_shared(Holder(handle=handle))
    archive.close(), near.close(), far.close()
    assert handles.why_not_shared(Holder(handle=archive)) is None


@pytest.mark.parametrize("module, name", [("h5py._hl.files", "File"), ("lmdb", "Environment"), ("av.container", None)])
def test_handles_of_other_packages_are_known_by_name(module, name):
    cls = type(name or "InputContainer", (), {"__module__": module})
    assert "an open handle" in handles.why_not_shared(Holder(handle=cls()))


def test_generators_and_iterators_are_found():
    assert "a generator" in handles.why_not_shared(Holder(lines=(x for x in "ab")))
    assert "an iterator" in handles.why_not_shared(Holder(numbers=itertools.count()))
    assert "an iterator" in handles.why_not_shared(Holder(numbers=iter([1, 2])))


@pytest.mark.parametrize("generator", [random.Random(1), np.random.RandomState(1), np.random.default_rng(1)])
def test_a_random_generator_of_its_own_is_found(generator):
    assert "a random generator of its own" in handles.why_not_shared(Holder(rng=generator))


def test_the_process_wide_generators_are_seeded_by_torch():
    assert handles.why_not_shared(Holder(rng=np.random.mtrand._rand, other=random._inst)) is None


def test_a_module_variable_that_the_dataset_uses_counts():
    class Uses:
        def __getitem__(self, index):
            return GLOBAL_RNG.random()

    assert "the variable GLOBAL_RNG" in handles.why_not_shared(Uses())


def test_a_class_attribute_counts():
    class Keeps:
        rng = random.Random(0)

    assert handles.why_not_shared(Keeps()).startswith("Keeps.rng is a random generator")


def test_no_code_of_the_user_is_called():
    def forbidden(*_):
        raise AssertionError("called")

    class Touchy:
        __getattr__ = __getattribute__ = __len__ = __iter__ = __getitem__ = __eq__ = __hash__ = __repr__ = forbidden
        __class__ = property(forbidden)
        value = property(forbidden)

    dataset = Touchy()
    assert handles.why_not_shared(dataset) is None
    assert snapshot.changes(snapshot.snapshot(dataset), snapshot.snapshot(dataset)) == []


def test_a_cycle_and_a_deep_nest_end():
    deep = []
    for _ in range(10_000):
        deep = [deep]
    dataset = Holder(deep=deep)
    dataset.me = dataset
    assert handles.why_not_shared(dataset) is None


def test_sharding_by_worker_is_recognised_in_the_code():
    class Shares:
        def __iter__(self):
            return self._mine()

        def _mine(self):
            import torch

            return iter(range(torch.utils.data.get_worker_info().id))

    class Repeats:
        def __iter__(self):
            return iter(range(3))

    assert handles.shards_itself(Shares())
    assert not handles.shards_itself(Repeats())
    assert handles.shards_itself(Holder(source=Shares()))


def test_changes_between_two_looks_are_named():
    dataset = Holder(epoch=0, cache={}, paths=list(range(1000)), array=np.zeros(10_000), lazy=None)
    before = snapshot.snapshot(dataset)
    assert snapshot.changes(before, snapshot.snapshot(dataset)) == []
    dataset.lazy = object()
    assert snapshot.changes(before, snapshot.snapshot(dataset)) == []
    dataset.epoch, dataset.cache[3], dataset.array[:] = 1, "x", 2.0
    random.Random(0).shuffle(dataset.paths)
    assert snapshot.changes(before, snapshot.snapshot(dataset)) == [
        "dataset.array",
        "dataset.cache",
        "dataset.epoch",
        "dataset.paths",
    ]
