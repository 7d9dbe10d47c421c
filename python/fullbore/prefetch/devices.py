"""What the prefetcher needs of a device: memory, the stream that is current, a way to keep memory until a stream is done
with it, and a transfer engine. Everything of torch.cuda is here, so that the rest can be tested without a GPU."""

import os
import sys
import threading

import torch

from .batches import tensors_inside

# The engine's ring: 64 MiB, about 1.2 ms of a Gen5 link, whatever the size of a batch.
SLOT_BYTES = 4 << 20
SLOTS = 16
_MOST_STAGING_THREADS = 4

_copy_streams = {}
_copy_streams_lock = threading.Lock()


def open_device(device):
    """A Device for "cuda", "cuda:1", 1, torch.device(...); None where batches stay in host memory: device="cpu", and any
    CUDA device on a machine without one. An object with the methods of CudaDevice is taken as it is."""
    if hasattr(device, "start_engine"):
        return device
    device = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    if device.type == "cpu":
        return None
    if device.type != "cuda":
        raise ValueError("cannot prefetch to device %s; use a CUDA device or the CPU" % device)
    # Counting asks NVML and does not initialise CUDA, so workers can still be forked.
    count = torch.cuda.device_count()
    if count == 0:
        return None
    if device.index is not None and device.index >= count:
        raise ValueError("there is no device %s; this process sees %d CUDA devices" % (device, count))
    load_core()
    return CudaDevice(device)


def load_core():
    try:
        from fullbore import _core
    except ImportError as error:
        raise RuntimeError(
            "this installation of fullbore has no transfer engine for Python %s (%s); reinstall fullbore with this "
            "Python, or copy the batches with batch.to(device)" % (".".join(map(str, sys.version_info[:2])), error)
        ) from error
    return _core


def staging_threads():
    """A quarter of the cores that this process may use, 1 to 4: one thread copies about 10 GB/s, the rest is for others."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(_MOST_STAGING_THREADS, cores // 4))


class CudaDevice:
    pack_bytes = 1 << 20

    def __init__(self, device):
        self._given = device
        self.device = device  # with its index from start() on

    @property
    def core(self):
        """The extension that this device's memory and streams belong to."""
        return load_core()

    @property
    def index(self):
        return self.device.index

    def start(self):
        """Initialises CUDA; called after the wrapped loader's workers were started."""
        if self._given.index is None:
            self.device = torch.device("cuda", torch.cuda.current_device())
        with _copy_streams_lock:
            # One for the process: torch's allocator keeps memory apart for every stream that allocates. From the pool of
            # high priority, so that it is none of the user's own.
            if self.device.index not in _copy_streams:
                _copy_streams[self.device.index] = torch.cuda.Stream(self.device, priority=-1)
            self.copy_stream = _copy_streams[self.device.index]

    def start_engine(self):
        return load_core().TransferEngine(
            self.device.index,
            self.copy_stream.cuda_stream,
            slot_bytes=SLOT_BYTES,
            slots=SLOTS,
            threads=staging_threads(),
        )

    def copying(self):
        """Within it, memory belongs to the copy stream and copies run there."""
        return torch.cuda.stream(self.copy_stream)

    def is_host(self, tensor):
        return tensor.device != self.device and tensor.device.type != "meta"

    def empty_strided(self, size, stride, dtype):
        return torch.empty_strided(size, stride, dtype=dtype, device=self.device)

    def move(self, part):
        """A copy of something that has a `.to`, and the tensors inside whose memory must outlive their use."""
        try:
            moved = part.to(self.device, non_blocking=True)
        except TypeError:
            try:
                moved = part.to(self.device)
            except TypeError:  # a `to` that means something else
                return part, []
        if not isinstance(moved, torch.Tensor) and callable(getattr(moved, "record_stream", None)):
            return moved, [moved]
        return moved, [inside for inside in tensors_inside(moved) if inside.device == self.device]

    def mark(self, stream=None):
        """The present end of the copy stream's work, or of `stream`'s."""
        return (self.copy_stream if stream is None else stream).record_event()

    def current_stream(self):
        return torch.cuda.current_stream(self.device)

    def handle(self, stream):
        return stream.cuda_stream

    def wait(self, stream, mark):
        stream.wait_event(mark)

    def record(self, tensor, stream):
        """Keeps the memory until `stream` has done what it was given before the memory was dropped."""
        tensor.record_stream(stream)
