"""A loader as torch's looks to the hook, a recording emit, and work of known size, for the tests of line timing."""

import os
import sys
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "python", "fullbore", "hook"))

import _fullbore_hook  # noqa: E402
from _fullbore_hook.lines import profile  # noqa: E402

# Stands in a library's file: what a user's line calls, without lines of its own.
_LIBRARY = """
import hashlib

def burn(amount):
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1200 * amount)
"""
_library = {"__name__": "work"}
exec(compile(_LIBRARY, "/usr/lib/python3/site-packages/work.py", "exec"), _library)

# burn(n): n units of work inside C, counted rather than slept, so that shares do not depend on the machine's speed.
burn = _library["burn"]

LOOP, DATASET, COLLATE = 0, 1, 2
OPEN, READ, WAIT, PAUSE = 1, 2, 16, 20
MONITORING = hasattr(sys, "monitoring")

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fullbore_hook._after_fork)


class Rows:
    """Keeps what is emitted; adds up over flushes."""

    def __init__(self):
        self.rows = []
        self.paths = []
        self.intervals = []

    def profile(self, where, stage, file, line, name, count, windows, wall_ns, window_ns, loader):
        self.rows.append((where, stage, os.path.basename(file), line, name, count, windows, wall_ns, window_ns, loader))

    def data_path(self, path):
        self.paths.append(path)

    def interval(self, kind, begin_ns, end_ns, name, file, line):
        self.intervals.append((kind, begin_ns, end_ns, name, os.path.basename(file), line))

    def share(self, where, line, name=""):
        """Share of a line, or of a callee on it, in the traced time of `where`."""
        flushes = {}
        for row in self.rows:
            if row[0] == where:
                flushes[(row[8], row[6])] = row[8]
        wall = sum(row[7] for row in self.rows if row[0] == where and row[3] == line and row[4] == name)
        return wall / max(sum(flushes.values()), 1)

    def stage(self, where, line, name=""):
        return {row[1] for row in self.rows if row[0] == where and row[3] == line and row[4] == name}

    def names(self, where):
        return {row[4] for row in self.rows if row[0] == where and row[4]}


class Loader:
    """Calls profile.* as torch's changed functions do, for num_workers=0."""

    def __init__(self, dataset, batches, batch_size=1, collate=None, number=1):
        self.dataset = dataset
        self.batches = batches
        self.batch_size = batch_size
        self.collate = collate
        self.number = number
        self.traced = []

    def __iter__(self):
        self.made = 0
        return self

    def __next__(self):
        frame = sys._getframe(1)
        self.traced.append(profile.next_begin(frame))
        stopped = False
        try:
            if self.made == self.batches:
                stopped = True
                raise StopIteration
            self.made += 1
            return self.fetch()
        finally:
            profile.next_end(frame)
            profile.flush(self.number, stopped)

    def fetch(self):
        samples = []
        for index in range(self.batch_size):
            profile.sample_begin(self.dataset)
            try:
                samples.append(self.dataset[index])
            finally:
                profile.sample_end()
        if self.collate is not None:
            profile.collate_begin(self.collate)
            try:
                samples = self.collate(samples)
            finally:
                profile.collate_end()
        return samples


class Numbers:
    """A dataset without work."""

    def __getitem__(self, index):
        return index


def line_of(function, text):
    """Number of the line of `function`'s source that contains `text`."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    return next(first + number for number, line in enumerate(lines) if text in line)


class ProfileTest(unittest.TestCase):
    def setUp(self):
        self.rows = Rows()
        self.start()
        self.addCleanup(profile.stop)

    def start(self, clock=time.thread_time_ns):
        """On the thread's CPU time: a busy machine does not change the shares."""
        profile.stop()
        profile.start(self.rows, clock=clock)

    def tearDown(self):
        self.assertEqual(profile.why_not(), "")
        self.assertIsNone(sys.gettrace())
        self.assertIsNone(sys.getprofile())
