"""One batch in the making, on one thread: when its samples were made and collated, and what that cost. Used in loader
workers, and in the training process where there are none.
"""

import time

from .. import abi, environment, fail, records
from .content import content_of
from ..process import profile

_SAMPLES_WRITTEN = 128  # of one batch; of a larger one every n-th, so that a ring never overflows from one batch
_LOOKED_AT = 32  # first batches of a pass, of each maker, whose content is told apart
_WORTH_BYTES_NS = 1000000  # a batch made faster than this read nothing that matters; asking the kernel costs 6 us
_clock = time.monotonic_ns
_cpu_clock = time.thread_time_ns
_UNKNOWN = records.UNKNOWN


class Maker:
    """What one thread is making: batch after batch. Also the context of a fetch."""

    __slots__ = (
        "loader worker epoch usage open state idle_since idle_ns begin_ns fetched_ns collated_ns cpu runq io "
        "io_is_of_last batch samples many every written slowest_ns slowest_index slowest_begin index sample_begin "
        "sample_cpu traced used collating rest rested rested_ns told "
        "ranked looks looking content"
    ).split()

    def __init__(self, loader_number=0, worker=None):
        self.loader = loader_number
        self.worker = records.known32(worker)
        self.epoch = 0
        self.usage = abi.Usage()
        self.io = self.usage.now(1)[2:]
        self.io_is_of_last = True
        self.open = False
        self.state = None  # the running next() of the training process; a worker has none
        self.idle_since = _clock()
        self.rest = self.rested = self.rested_ns = 0  # samples that line timing need not hear of, and has not heard of
        self.told = False
        self.ranked = (environment.world_size() or 1) > 1
        self.batch = -1

    def begin(self, batch, index, state=None):
        """The index is in hand. In a worker its loop hands the batch on, and finish() comes from there."""
        self.open = True
        if batch <= self.batch or self.batch < 0:
            self.looks = _LOOKED_AT
        self.batch = batch
        self.looking, self.content = False, 0
        self.samples, self.many, self.written, self.traced = 0, None, [], False
        self.slowest_ns = self.slowest_index = self.slowest_begin = _UNKNOWN
        self.fetched_ns = self.collated_ns = self.sample_begin = self.sample_cpu = 0
        self.collating, self.used = False, None
        count = len(index) if type(index) in (list, tuple) else 1
        self.every = 1 + (count - 1) // _SAMPLES_WRITTEN
        self.state = state
        if state is None:
            self.cpu, self.runq = self.usage.now()[:2]
        else:
            self.cpu, self.runq = state.cpu, state.runq  # next() began a moment ago
        self.begin_ns = _clock()
        self.idle_ns = self.begin_ns - self.idle_since

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        try:
            self._fetched()
        except Exception as failure:
            fail(failure)
        return False

    def _fetched(self):
        """fetch() is over, whether it returned or raised."""
        self._close_sample()
        if self.collating:
            self.collating = False
            profile.collate_end()
        now = _clock()
        self.fetched_ns = self.fetched_ns or now
        self.collated_ns = self.collated_ns or now
        self._read_usage(now - self.begin_ns > _WORTH_BYTES_NS)
        if self.state is not None:
            self.state.made(*self.used[:2])
            self.finish(self.collated_ns)
            self.state = None

    def _read_usage(self, with_io):
        """CPU time always; bytes as the difference to the end of the batch before, if that was read too."""
        if not with_io and self.state is not None and self.state.brief:
            self.io_is_of_last = False
            self.used = (*self.state.used(), [_UNKNOWN] * 3)
            return
        usage = self.usage.now(with_io)
        io = [_UNKNOWN] * 3
        if with_io:
            if self.io_is_of_last:
                io = [_difference(now, before) for now, before in zip(usage[2:], self.io)]
            self.io = usage[2:]
        self.io_is_of_last = with_io
        self.used = (usage[0], usage[1], io)

    def _close_sample(self):
        if self.sample_begin:
            # the dataset raised, or its iterator ended
            self.sample_begin = 0
            if self.told:
                self.rest = profile.sample_end()

    def sample(self, dataset, index):
        self.told = not self.rest
        if self.told:
            if profile.sample_begin(dataset, self.rested, self.rested_ns):
                self.traced = True
            self.rested = self.rested_ns = 0
        else:
            self.rest -= 1
        self.index = index
        if not self.sample_cpu:
            self.sample_cpu = _cpu_clock()
        self.sample_begin = _clock()

    def sampled(self):
        begin = self.sample_begin
        wall = _clock() - begin
        # From the end of the sample before: asking the kernel twice would cost more than the moment in between.
        cpu_now = _cpu_clock()
        cpu, self.sample_cpu = min(cpu_now - self.sample_cpu, wall), cpu_now
        self.sample_begin = 0
        if self.told:
            self.rest = profile.sample_end()
        else:
            self.rested += 1
            self.rested_ns += wall
        index = self.index
        if type(index) is list:
            # batch_size=None with a sampler of lists: one call makes the whole batch
            self.many = len(index)
            return
        if type(index) is not int:
            index = _UNKNOWN
        if wall > self.slowest_ns:
            self.slowest_ns, self.slowest_index, self.slowest_begin = wall, index, begin
        if self.samples % self.every == 0:
            self.written.append(records.sample(begin, wall, cpu, index, self.batch, self.loader, self.worker))
        self.samples += 1

    def collate(self, function, streamed):
        self.fetched_ns = _clock()
        # There is somebody to compare with: other workers that read the same stream, or other ranks.
        self.looking = self.looks > 0 and (self.ranked or streamed and self.state is None)
        if profile.collate_begin(function):
            self.traced = True
        self.collating = True

    def collated(self, batch):
        self.collated_ns = _clock()
        self.collating = False
        profile.collate_end()
        if self.looking:
            self.looks -= 1
            self.content = content_of(batch)

    def finish(self, put_ns):
        """Writes the batch and its samples in one piece."""
        if not self.open:
            return
        self.open = False
        if self.used is None:
            self._read_usage(False)  # never fetched: the worker's set-up failed
        cpu, runq, (chars, read, faults) = self.used
        samples = self.many or self.samples
        written, self.written = self.written, []
        packed = records.batch(
            self.idle_ns,
            self.begin_ns,
            self.fetched_ns or put_ns,
            self.collated_ns or put_ns,
            put_ns,
            cpu - self.cpu,
            _difference(runq, self.runq),
            chars,
            read,
            faults,
            self.batch,
            self.slowest_ns,
            self.slowest_index,
            self.slowest_begin,
            self.loader,
            self.worker,
            self.epoch,
            records.known32(samples),
            records.TRACED if self.traced else 0,
            self.content,
        )
        abi.write(packed + b"".join(written), 1 + len(written))
        self.idle_since = _clock()


def _difference(now, before):
    return _UNKNOWN if now == _UNKNOWN or before == _UNKNOWN else now - before
