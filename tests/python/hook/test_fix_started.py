"""What --fix does in workers that have just started: memory and threads, around the script's own worker_init_fn."""

import ctypes
import os
import pickle
import sys
import time

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, Dataset  # noqa: E402

from fix_harness import Slow, fixing, indices_and_pids, line_of, of, why  # noqa: E402
from _fullbore_hook.fix import started, threads  # noqa: E402

HERE = os.path.abspath(__file__)


class Started(Dataset):
    """Says of the worker that makes its samples how it was started."""

    def __len__(self):
        return 32

    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.tensor([index, torch.get_num_threads(), getattr(sys, "_of_the_script", -1)])


def four_threads(worker_id):
    torch.set_num_threads(4)
    sys._of_the_script = worker_id


def advised(tmp_path, line, **settings):
    loaders = [{"file": HERE, "line": line, "settings": {name: str(value) for name, value in settings.items()}}]
    return fixing(tmp_path, "run", loaders=loaders)


def test_a_run_that_blames_threads_limits_them_after_the_scripts_own_function(tmp_path):
    here = line_of(
        test_a_run_that_blames_threads_limits_them_after_the_scripts_own_function, "loader = DataLoader"
    )
    with advised(tmp_path, here, worker_threads=1) as records:
        loader = DataLoader(Started(), 8, num_workers=2, worker_init_fn=four_threads)
        rows = torch.cat(list(loader))
    assert rows[:, 1].unique().tolist() == [1]
    assert sorted(rows[:, 2].unique().tolist()) == [0, 1]  # the script's own ran in both
    assert of(records, "worker_threads") == [(None, 1, 1)]
    assert of(records, "num_workers") == [(2, 2, 0)]


def test_a_run_that_blames_memory_keeps_it_and_nothing_else(tmp_path):
    here = line_of(test_a_run_that_blames_memory_keeps_it_and_nothing_else, "loader = DataLoader")
    with advised(tmp_path, here, keep_freed_memory=True) as records:
        loader = DataLoader(Started(), 8, num_workers=2, worker_init_fn=four_threads)
        rows = torch.cat(list(loader))
        assert loader.worker_init_fn.keep_freed_memory and loader.worker_init_fn.users is four_threads
    assert rows[:, 1].unique().tolist() == [4]
    assert of(records, "keep_freed_memory") == [(False, True, 1)]


def test_workers_that_the_fix_adds_keep_their_memory(tmp_path):
    with fixing(tmp_path) as records:
        loader = DataLoader(Slow(), 8)
        indices_and_pids(loader)
        assert loader.worker_init_fn.keep_freed_memory
    assert of(records, "keep_freed_memory") == [(False, True, 1)]
    assert "fetch it again" in why(records, "keep_freed_memory")


def test_exact_starts_nothing_in_workers(tmp_path):
    with fixing(tmp_path, "exact") as records:
        loader = DataLoader(Started(), 8, num_workers=1, worker_init_fn=four_threads)
        list(loader)
        assert loader.worker_init_fn is four_threads
    assert of(records, "keep_freed_memory") == []


def broken(worker_id):
    raise ValueError("of the script")


def test_what_is_taken_back_has_the_scripts_own_function_again(tmp_path):
    with fixing(tmp_path) as records:
        loader = DataLoader(Slow(), 8, worker_init_fn=broken)
        assert indices_and_pids(loader)[1] == {os.getpid()}
        assert loader.worker_init_fn is broken
    assert of(records, "keep_freed_memory")[-1] == (False, True, 2)


def test_it_can_be_sent_to_a_spawned_worker():
    once = started.Started(four_threads, True, 1)
    again = pickle.loads(pickle.dumps(started.Started(once, False, None)))
    assert again.users is four_threads and not again.keep_freed_memory


GETTERS = ("openblas_get_num_threads", "openblas_get_num_threads64_", "scipy_openblas_get_num_threads64_")


def test_threads_of_blas_are_limited():
    numpy = pytest.importorskip("numpy")
    numpy.ones((2, 2)) @ numpy.ones((2, 2))
    libraries = [ctypes.CDLL(path) for path in threads._loaded() if "openblas" in os.path.basename(path)]
    getters = [getattr(library, name) for library in libraries for name in GETTERS if hasattr(library, name)]
    if not getters:
        pytest.skip("this numpy has no OpenBLAS of its own")
    before = [getter() for getter in getters]
    for count in (3, 1):
        threads.limit(count)
        assert [getter() for getter in getters] == [count] * len(getters)
        assert torch.get_num_threads() == count
    threads.limit(max(before))
