"""What each batch took on its way, and the sum over batches."""

import threading


class BatchTiming:
    """Times of one batch, in milliseconds.

    `wait_ms` is known when the batch is handed out. Everything else is None until the batch's copy is complete, and stays
    None where nothing is copied (device="cpu"); `wait()` blocks until it is.

    wait_ms: how long `next` took to hand the batch out, the loader's own work included if it runs in the calling thread
    stage_ms: copying pageable memory into page-locked slots, from the first byte to the last; 0 if it was page-locked
    slot_wait_ms: waiting for a slot to become free, all staging threads summed
    h2d_ms: on the device's clock, from the begin of the batch's first copy to the end of its last one
    h2d_gb_per_s: bytes / h2d_ms, in 1e9 bytes per second; None if nothing was copied
    queue_ms: how long the copies had been given to the device when the batch was handed out; 0: the loader is behind
    bytes: copied to the device by the engine; not what objects with a `.to` of their own copied
    pageable: how many of these bytes came from pageable memory
    """

    def __init__(self, wait_ms):
        self.wait_ms = wait_ms
        self._sent = None
        self._times = None
        self._lock = threading.Lock()

    def wait(self):
        """Blocks until the batch's copy is complete; returns self. Raises RuntimeError with an error of the copy."""
        with self._lock:
            if self._sent is not None:
                self._sent.transfer.wait()
        self._poll()
        return self

    @property
    def complete(self):
        """Whether the times are there; never blocks."""
        return self._poll() is not None

    @property
    def stage_ms(self):
        return self._of("stage_ms")

    @property
    def slot_wait_ms(self):
        return self._of("slot_wait_ms")

    @property
    def h2d_ms(self):
        return self._of("h2d_ms")

    @property
    def queue_ms(self):
        return self._of("queue_ms")

    @property
    def bytes(self):
        return self._of("bytes")

    @property
    def pageable(self):
        return self._of("pageable_bytes")

    @property
    def h2d_gb_per_s(self):
        times = self._poll()
        return times.bytes / times.h2d_ms / 1e6 if times is not None and times.h2d_ms > 0 else None

    def __repr__(self):
        names = ("wait_ms", "stage_ms", "slot_wait_ms", "queue_ms", "h2d_ms", "h2d_gb_per_s", "bytes", "pageable")
        return "BatchTiming(%s)" % ", ".join("%s=%s" % (name, _short(getattr(self, name))) for name in names)

    def _follow(self, sent):
        self._sent = sent

    def _poll(self):
        """The times of a finished transfer; once they are read it is given back to the engine."""
        with self._lock:
            if self._times is None and self._sent is not None:
                self._times = self._sent.transfer.times()
                if self._times is not None:
                    self._sent.drop()
                    self._sent = None
            return self._times

    def _of(self, name):
        times = self._poll()
        return None if times is None else getattr(times, name)


def _short(value):
    return "%.3f" % value if isinstance(value, float) else str(value)


class Totals:
    """Sums of finished batches. Written by the thread that hands batches out."""

    _SUMMED = ("bytes", "pageable_bytes", "stage_ms", "slot_wait_ms", "queue_ms", "h2d_ms")

    def __init__(self):
        self.batches = 0
        self.wait_ms = 0.0
        self.copied = 0
        self.sums = dict.fromkeys(self._SUMMED, 0)

    def handed_out(self, wait_ms):
        self.batches += 1
        self.wait_ms += wait_ms

    def finished(self, times):
        self.copied += 1
        for name in self._SUMMED:
            self.sums[name] += getattr(times, name)

    def as_dict(self):
        result = {"batches": self.batches, "wait_ms": self.wait_ms, "copied_batches": self.copied}
        measured = self.copied > 0
        for name in self._SUMMED:
            result[name] = self.sums[name] if measured else None
        h2d = self.sums["h2d_ms"]
        result["h2d_ms_per_batch"] = h2d / self.copied if measured else None
        result["h2d_gb_per_s"] = self.sums["bytes"] / h2d / 1e6 if h2d > 0 else None
        return result
