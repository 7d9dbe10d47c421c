"""Sends batches to a device and hands them out there: the order of events in which the device sees them.

    send:      memory on the copy stream -> copies queued -> event after the last
    hand out:  the stream that is current *now* waits for that event -> memory is kept until this stream is done with it
"""

import collections
import threading
import time

from .batches import find
from .placement import place
from .timing import BatchTiming, Totals


class Sent:
    """A batch on its way, and what it is copied from: that goes only after the copies have read it."""

    __slots__ = ("batch", "transfer", "mark", "buffers", "sources", "state", "drawn")

    def __init__(self, batch, transfer=None, mark=None, buffers=(), sources=()):
        self.batch = batch
        self.transfer = transfer
        self.mark = mark
        self.buffers = buffers
        self.sources = sources
        self.state = None  # of the loader, after it gave this batch
        self.drawn = None  # which batch it is, where somebody watches

    def wait_for_sources(self):
        if self.transfer is not None:
            self.transfer.wait_for_sources()

    def drop(self):
        """Ends it: copies that were not begun are dropped, those under way waited for, then the memory goes."""
        if self.transfer is not None:
            self.transfer.release()
        self.batch, self.buffers, self.sources = None, (), ()

    def __del__(self):
        self.drop()


class Passing:
    """device="cpu": batches go through as they are."""

    slots = None
    shortfall = None

    def __init__(self):
        self.totals = Totals()

    def enter_thread(self):
        pass

    def send(self, batch):
        return Sent(batch)

    def hand_out(self, sent, began):
        timing = BatchTiming((time.monotonic() - began) * 1e3)
        self.totals.handed_out(timing.wait_ms)
        return sent.batch, timing

    def settle(self):
        pass

    def close(self):
        pass


class Transport:
    """Of one loader and device, for all its epochs. send() may run in another thread than hand_out()."""

    def __init__(self, device):
        self.totals = Totals()
        self._device = device
        device.start()
        self._engine = device.start_engine()
        self._handed_out = collections.deque()  # timings of copies that may not be complete
        self._lock = threading.Lock()

    @property
    def slots(self):
        return self._engine.slots

    @property
    def shortfall(self):
        return self._engine.shortfall

    def enter_thread(self):
        self._engine.enter_thread()

    def send(self, batch):
        device = self._device
        parts = find(batch, device.is_host)
        # What lies on the device already was made on this thread's stream.
        mark = device.mark(device.current_stream()) if parts.on_device else None
        if not parts.tensors and not parts.others:
            return Sent(batch, mark=mark)
        moved, buffers = {}, []
        with device.copying():
            if mark is not None:
                device.wait(device.copy_stream, mark)
            for part in parts.others:
                moved[id(part)], inside = device.move(part)
                buffers += inside
            placed = place(parts.tensors, device, device.pack_bytes)
            # A transfer's end comes after these on the stream too, but a transfer without copies has no end.
            mark = device.mark() if parts.others or mark is not None else None
        moved.update(placed.moved)
        transfer = self._engine.submit(placed.copies) if placed.copies else None
        sent = Sent(None, transfer, mark, buffers + placed.buffers, placed.sources)
        sent.batch = parts.rebuild(batch, moved)
        return sent

    def hand_out(self, sent, began):
        self.settle()
        device = self._device
        stream = device.current_stream()
        if sent.mark is not None:
            device.wait(stream, sent.mark)
        if sent.transfer is not None:
            sent.transfer.hand_over(device.handle(stream))
        for buffer in sent.buffers:
            device.record(buffer, stream)
        batch, sent.batch, sent.buffers = sent.batch, None, ()
        timing = BatchTiming((time.monotonic() - began) * 1e3)
        with self._lock:
            self.totals.handed_out(timing.wait_ms)
            if sent.transfer is not None:
                timing._follow(sent)
                self._handed_out.append(timing)
        return batch, timing

    def settle(self):
        """Lets go of what finished copies were made from, in their order; never blocks."""
        with self._lock:
            while self._handed_out:
                timing = self._handed_out[0]
                try:
                    if not timing.complete:
                        return
                except RuntimeError:
                    self._handed_out.popleft()
                    raise
                self._handed_out.popleft()
                self.totals.finished(timing._times)

    def close(self):
        """Waits for copies under way and gives threads and page-locked memory back."""
        for timing in list(self._handed_out):
            timing.wait()
        self.settle()
        self._engine = None
