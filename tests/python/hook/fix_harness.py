"""Calls fix.* where the hook calls it, by replacing three functions of torch for the length of a test, so that --fix
is tested with real loaders and real worker processes."""

import contextlib
import inspect
import itertools
import json
import os
import sys
import time

import torch
from torch.utils.data import Dataset, dataloader

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python/fullbore/hook"))
from _fullbore_hook.fix import apply as fix  # noqa: E402

ROOM = {"usable_cores": 2, "quota_cores": None, "shm_free": 1 << 30, "memory_available": 8 << 30}


@contextlib.contextmanager
def fixing(folder, mode="plain", **options):
    """Within it, loaders are fixed; gives the list of the FixRecords written so far, as dictionaries."""
    path = os.path.join(str(folder), "fix.json")
    with open(path, "w") as file:
        json.dump({**ROOM, "mode": mode, "loaders": [], **options}, file)
    records = []
    os.environ["FULLBORE_FIX"] = path
    fix.start(lambda **record: records.append(record))
    undo = _install()
    try:
        yield records
    finally:
        undo()
        fix.stop()
        del os.environ["FULLBORE_FIX"]


def _install():
    loader_class, iterator_class = dataloader.DataLoader, dataloader._BaseDataLoaderIter
    init, begin, next_ = loader_class.__init__, loader_class.__iter__, iterator_class.__next__
    signature = inspect.signature(init)
    numbers = itertools.count(1)

    def fixed_init(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        caller = sys._getframe(1)
        bound.arguments.update(fix.adjust(dict(bound.arguments), (caller.f_code.co_filename, caller.f_lineno)))
        init(*bound.args, **bound.kwargs)
        fix.loader_built(self, next(numbers))

    def fixed_iter(self):
        fix.iterator_begin(self)
        try:
            iterator = begin(self)
        except Exception as error:
            iterator = fix.iterator_failed(self, error)
            if iterator is None:
                raise
        else:
            fix.iterator_created(self, iterator)
        return iterator

    def fixed_next(self):
        if not fix.guards(self):
            return next_(self)
        data = fix.first_batch(self, self._next_data)
        self._num_yielded += 1
        return data

    loader_class.__init__, loader_class.__iter__, iterator_class.__next__ = fixed_init, fixed_iter, fixed_next

    def undo():
        loader_class.__init__, loader_class.__iter__, iterator_class.__next__ = init, begin, next_

    return undo


def line_of(function, text):
    """Number of the line of a test function that begins with `text`."""
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if line.strip().startswith(text))


def of(records, setting):
    """The records of one setting, as (before, after, applied)."""
    return [(one["before"], one["after"], one["applied"]) for one in records if one["setting"] == setting]


def why(records, setting):
    return " | ".join(one["why"] for one in records if one["setting"] == setting)


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
