"""Batches that PrefetchDataLoader draws in a thread: what is recorded is the wait of the loop that gets them, as the
records of the loader that made them."""

import os
import sys

import pytest

pytest.importorskip("torch")

STOP, ERROR, FIRST = 1, 2, 4
UNKNOWN32 = -(1 << 31)

PROGRAM = """
import torch
from torch.utils.data import DataLoader, Dataset
import fullbore

class Numbers(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        %s
        return torch.ones(3), index

def batches():
    yield from (torch.ones(2, 3) for _ in range(5))

if __name__ == "__main__":
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = fullbore.PrefetchDataLoader(%s, "cpu", background=True)
    for epoch in range(2):
        for batch in loader:
            x = batch[0] if isinstance(batch, list) else batch
            model(x).sum().backward()
            optimizer.step()
            print(x.shape)
"""


@pytest.fixture
def watched(bench, package):
    def run(sample, loader):
        return bench.watched(sys.executable, bench.write(PROGRAM % (sample, loader)), path=[os.path.dirname(package)])

    return run


def nexts_of(done):
    assert done.records.of("Missing") == [], done.records.of("Missing")
    return done.records.of("Next")


@pytest.mark.parametrize("workers", [0, 2])
def test_the_loop_that_gets_the_batches_is_recorded_and_not_the_thread_that_draws_them(watched, workers):
    done = watched("pass", "DataLoader(Numbers(), batch_size=3, num_workers=%d)" % workers)
    assert done.code == 0, done.err
    nexts = nexts_of(done)
    assert [record.batch for record in nexts if not record.flags & STOP] == [0, 1, 2, 3] * 2
    assert [bool(record.flags & FIRST) for record in nexts] == [True, False, False, False, False] * 2
    assert [bool(record.flags & STOP) for record in nexts] == [False, False, False, False, True] * 2
    assert {record.samples for record in nexts if not record.flags & STOP} == {3}
    iterators = done.records.of("Iterator")
    assert [record.iterator for record in iterators] == sorted({record.iterator for record in nexts})
    assert {record.loader for record in nexts} == {done.records.of("Loader")[0].loader}
    made = {(record.loader, record.batch): record.worker for record in done.records.of("Batch")}
    if workers:
        assert all(record.worker == made[record.loader, record.batch] for record in nexts if not record.flags & STOP)
    else:
        assert {record.worker for record in nexts} == {UNKNOWN32}
    for before, after in zip(nexts, nexts[1:]):
        assert before.begin_ns <= before.end_ns <= after.begin_ns


def test_an_error_of_the_dataset_ends_the_loop_as_it_would_alone(watched):
    done = watched("if index == 7: raise KeyError('seven')", "DataLoader(Numbers(), batch_size=3, num_workers=0)")
    assert done.code == 1 and done.err.strip().endswith("KeyError: 'seven'")
    assert "_fullbore_hook" not in done.err
    assert [bool(record.flags & ERROR) for record in nexts_of(done)] == [False, False, True]


def test_batches_that_no_loader_of_torch_made_are_not_taken_for_some(watched):
    done = watched("pass", "list(batches())")
    assert done.code == 0, done.err
    assert nexts_of(done) == [] and len(done.records.of("Step")) == 10


COUNTED = (
    PROGRAM
    + """
    import ctypes
    from _fullbore_hook.native import probes
    print(ctypes.c_uint64.from_address(probes.loop_counters()).value)
"""
)


def test_a_batch_is_counted_once_when_the_loop_gets_it(bench, package):
    script = bench.write(COUNTED % ("pass", "DataLoader(Numbers(), batch_size=3)"))
    done = bench.watched(sys.executable, script, path=[os.path.dirname(package)])
    assert done.code == 0, done.err
    # Of two passes of four batches; the first of a new pass may go uncounted.
    assert int(done.out.split()[-1]) in (7, 8)
