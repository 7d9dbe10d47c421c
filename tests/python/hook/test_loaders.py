"""What is recorded of loaders, iterators, batches and samples, with real workers of every start method."""

import pytest

STOP, ERROR, FIRST, RESET = 1, 2, 4, 1
FORK, SPAWN, FORKSERVER = 1, 2, 3
UNKNOWN = -(1 << 63)
UNKNOWN32 = -(1 << 31)

PROGRAM = """
import sys
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset


class Numbers(Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        return float(index), index


class Stream(IterableDataset):
    def __iter__(self):
        return iter([(1.0, 2)] * 10)


def main(%s):
    model = [torch.Tensor([1.0, 2.0, 3.0])]
    optimizer = torch.optim.SGD(model, lr=0.1)
%s

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


def program(body, parameters=""):
    return PROGRAM % (parameters, "\n".join("    " + line for line in body.strip("\n").split("\n")) + "\n")


PLAIN = program(
    """
kind = None if method == "none" else method
loader = DataLoader(
    Numbers(), batch_size=8,
    num_workers=0 if kind is None else 2, multiprocessing_context=kind)
for x, y in loader:
    optimizer.step()
""",
    "method",
)


@pytest.mark.parametrize("method", ["none", "fork", "spawn", "forkserver"])
def test_every_batch_and_sample_is_on_record(torch_run, method):
    records = torch_run(PLAIN, method).records
    workers = 0 if method == "none" else 2
    loader = records.one("Loader")
    assert (loader.batch_size, loader.workers, loader.dataset_length, loader.batches) == (8, workers, 20, 3)
    assert loader.code.split("\n") == PLAIN.split("\n")[loader.line - 1 : loader.end_line]
    assert PLAIN.split("\n")[loader.line - 1].strip() == "loader = DataLoader("
    assert loader.end_line == loader.line + 2
    assert loader.dataset_type == "__main__.Numbers" and loader.dataset_file.endswith("train.py")
    assert "def __getitem__" in PLAIN.split("\n")[loader.dataset_line - 1]

    iterator = records.one("Iterator")
    assert (iterator.workers, iterator.epoch, iterator.loader) == (workers, 0, loader.loader)
    assert PLAIN.split("\n")[iterator.line - 1].strip() == "for x, y in loader:"

    nexts = records.of("Next")
    assert [(n.batch, n.samples, n.flags & (STOP | ERROR)) for n in nexts[:3]] == [(0, 8, 0), (1, 8, 0), (2, 4, 0)]
    assert nexts[0].flags & FIRST and not nexts[1].flags & FIRST
    assert nexts[3].flags & STOP and nexts[3].batch == UNKNOWN and len(nexts) == 4
    assert all(n.begin_ns < n.end_ns and n.cpu_ns > 0 for n in nexts)
    assert nexts[0].loop_cpu_ns == UNKNOWN and nexts[1].loop_cpu_ns > 0
    for n in nexts[:3]:
        if workers:
            assert 0 <= n.queue_wait_ns <= n.end_ns - n.begin_ns and n.pin_ns == UNKNOWN
            assert n.ready >= 0 and n.ready_later >= 0
        else:
            assert n.queue_wait_ns == UNKNOWN and n.worker == UNKNOWN32 and n.ready == UNKNOWN32 and n.sampler_ns > 0
        assert n.batch_bytes > 0

    batches = sorted(records.of("Batch"), key=lambda batch: batch.batch)
    assert [(b.batch, b.samples) for b in batches] == [(0, 8), (1, 8), (2, 4)]
    for batch in batches:
        assert batch.begin_ns <= batch.fetched_ns <= batch.collated_ns <= batch.put_ns
        assert batch.cpu_ns > 0 and batch.idle_ns >= 0 and batch.slowest_ns > 0
        assert batch.slowest_index in range(8 * batch.batch, 8 * batch.batch + batch.samples)
    assert {b.batch: b.worker for b in batches} == {n.batch: n.worker for n in nexts[:3]}

    samples = records.of("Sample")
    assert sorted((s.index, s.batch) for s in samples) == [(i, i // 8) for i in range(20)]
    assert all(s.wall_ns > 0 and s.cpu_ns >= 0 for s in samples)

    assert len(records.of("Step")) == 3
    model = records.one("Model")
    assert (model.parameters, model.tensors, model.bytes) == (3, 1, 12) and model.optimizer_type.endswith("SGD")

    processes = records.of("Process")
    assert [p.worker for p in processes if p.role == 1] == [UNKNOWN32]
    started = {"none": 0, "fork": FORK, "spawn": SPAWN, "forkserver": FORKSERVER}[method]
    ours = sorted((p.worker, p.start_method, p.base_seed) for p in processes if p.role == 2)
    assert ours == [(number, started, iterator.base_seed) for number in range(workers)]
    if method == "fork":
        assert {b.loader for b in batches} == {loader.loader}


def test_an_iterable_dataset_has_no_indices(torch_run):
    script = program(
        "loader = DataLoader(Stream(), batch_size=4, num_workers=2)\nfor batch in loader: optimizer.step()"
    )
    records = torch_run(script).records
    loader = records.one("Loader")
    assert loader.flags & 16 and loader.dataset_length == UNKNOWN and loader.batches == UNKNOWN
    assert len([n for n in records.of("Next") if not n.flags & (STOP | ERROR)]) == 6
    assert sorted(b.samples for b in records.of("Batch") if b.samples) == [2, 2, 4, 4, 4, 4]
    assert {s.index for s in records.of("Sample")} == {UNKNOWN} and len(records.of("Sample")) == 20


def test_a_persistent_iterator_is_reset_for_each_epoch(torch_run):
    script = program(
        """
loader = DataLoader(Numbers(), batch_size=10, num_workers=1, persistent_workers=True)
for epoch in range(3):
    for batch in loader: optimizer.step()
"""
    )
    records = torch_run(script).records
    assert [(i.epoch, i.flags, i.iterator) for i in records.of("Iterator")] == [(0, 0, 1), (1, RESET, 2), (2, RESET, 3)]
    assert len({i.base_seed for i in records.of("Iterator")}) == 1
    assert [(n.iterator, n.batch) for n in records.of("Next") if not n.flags & STOP] == [
        (1, 0),
        (1, 1),
        (2, 0),
        (2, 1),
        (3, 0),
        (3, 1),
    ]
    assert [(b.epoch, b.batch) for b in records.of("Batch")] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]


def test_an_early_break_and_two_loaders_are_told_apart(torch_run):
    script = program(
        """
train = DataLoader(Numbers(), batch_size=5, shuffle=True)
check = DataLoader(Subset(Numbers(), [3, 4, 5]), batch_size=2)
for epoch in range(2):
    for number, batch in enumerate(train):
        optimizer.step()
        if number == 1:
            break
    for batch in check: pass
"""
    )
    records = torch_run(script).records
    train, check = records.of("Loader")
    assert train.flags & 32 and not check.flags & 32
    assert check.dataset_type == "__main__.Numbers" and check.dataset_length == 3
    assert [(i.loader, i.epoch) for i in records.of("Iterator")] == [(1, 0), (2, 0), (1, 1), (2, 1)]
    assert [n.loader for n in records.of("Next")] == [1, 1, 2, 2, 2] * 2
    assert [s.index for s in records.of("Sample") if s.loader == 2] == [0, 1, 2] * 2


def test_a_wait_behind_a_slow_worker_is_head_of_line(torch_run):
    script = program(
        """
class Uneven(Numbers):
    def __getitem__(self, index):
        import time
        time.sleep(0.3 if index == 0 else 0)
        return index
globals()["Uneven"] = Uneven
loader = DataLoader(Uneven(), batch_size=1, num_workers=2, multiprocessing_context="fork")
for batch in loader: optimizer.step()
"""
    )
    first = torch_run(script).records.of("Next")[0]
    assert first.ready_later >= 1 and first.worker == 0 and first.queue_wait_ns > 100000000


def test_errors_warnings_and_random_streams_are_the_same(torch_run):
    script = program(
        """
import random, warnings
warnings.simplefilter("always")

class Bad(Numbers):
    def __getitem__(self, index):
        if index == 13:
            raise KeyError(
                "sample %d" % index
            )
        return random.random()
globals()["Bad"] = Bad
random.seed(7)
if hasattr(torch, "manual_seed"):
    torch.manual_seed(7)
loader = DataLoader(Bad(), batch_size=4, shuffle=True, num_workers=int(workers), pin_memory=True,
                    multiprocessing_context="fork" if int(workers) else None)
for batch in loader:
    print(batch.tolist() if hasattr(batch, "tolist") else batch.values, random.random())
""",
        "workers",
    )
    for workers in "0", "1":
        watched = torch_run(script, workers, way="both")
        assert watched.code == 1 and "sample 13" in watched.err
        assert "pin_memory" in watched.err
        assert watched.records.of("Next")[-1].flags & ERROR
        assert not [missing for missing in watched.records.of("Missing") if missing.signal == "hook"]


def test_a_busy_second_thread_disturbs_nothing(torch_run):
    script = program(
        """
import threading
stop = []
thread = threading.Thread(target=lambda: [None for _ in iter(lambda: bool(stop), True)])
thread.start()
for batch in DataLoader(Numbers(), batch_size=2): optimizer.step()
stop.append(1)
thread.join()
"""
    )
    records = torch_run(script).records
    assert len(records.of("Next")) == 11 and len({record.ring_pid for record in records}) == 1


def test_checkpoints_are_intervals_with_the_line_that_saved(torch_run):
    script = program(
        """
for batch in DataLoader(Numbers(), batch_size=10): optimizer.step()
torch.save({"a": 1}, "model.pt")
"""
    )
    (save,) = [i for i in torch_run(script).records.of("Interval") if i.kind == 1]
    assert save.name == "torch.save" and save.bytes > 0 and "torch.save" in script.split("\n")[save.line - 1]


def test_many_samples_at_once_are_counted(torch_run):
    script = program(
        """
class Many(Numbers):
    def __getitems__(self, indices):
        return [float(index) for index in indices]
globals()["Many"] = Many
for batch in DataLoader(Many(), batch_size=8): optimizer.step()
"""
    )
    records = torch_run(script).records
    assert [b.samples for b in records.of("Batch")] == [8, 8, 4] and not records.of("Sample")
    assert {b.slowest_ns for b in records.of("Batch")} == {UNKNOWN}


def test_a_worker_that_dies_is_on_record_once_with_its_signal(torch_run):
    if not torch_run.real:
        pytest.skip("the stand-in does not notice a dead worker")
    script = program(
        """
import os, signal, time
class Fragile(Numbers):
    def __getitem__(self, index):
        if index == 13:
            time.sleep(1)  # until the loop waits: torch's signal handler would raise in the loop's own code otherwise
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)
try:
    for batch in DataLoader(Fragile(), batch_size=2, num_workers=2): optimizer.step()
except RuntimeError as error:
    print("died")
"""
    )
    watched = torch_run(script)
    (exit,) = watched.records.of("WorkerExit")
    assert watched.out == "died\n" and (exit.exit_code, exit.worker, exit.loader) == (-9, 0, 1)


def test_workers_that_end_as_they_are_told_are_no_deaths(torch_run):
    assert not torch_run(PLAIN, "fork").records.of("WorkerExit")


def test_log_records_that_take_their_time_are_intervals(torch_run):
    if not torch_run.real:
        pytest.skip("the stand-in does not import logging, as torch does")
    script = program(
        """
import logging, time
class Far(logging.Handler):
    def emit(self, record): time.sleep(0.02)  # the way to a server
log = logging.getLogger("train")
log.addHandler(Far())
for step, batch in enumerate(DataLoader(Numbers(), batch_size=10)):
    optimizer.step()
    log.warning("step %d", step)
log.removeHandler(log.handlers[0])
log.addHandler(logging.NullHandler())
log.warning("quickly")
"""
    )
    logged = [i for i in torch_run(script).records.of("Interval") if i.kind == 5]
    assert len(logged) == 2 and all(i.end_ns - i.begin_ns >= 20e6 for i in logged)
    assert {script.split("\n")[i.line - 1].strip() for i in logged} == {'log.warning("step %d", step)'}
