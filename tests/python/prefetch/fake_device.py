"""A device for the prefetcher made of the fake driver and of host memory, with a caching allocator that gives a block away
as early as its rules allow: that is what shows a missing record_stream."""

import contextlib
import threading
import weakref

import _fullbore_fake as fake
import numpy as np
import torch


class FakeDevice:
    core = fake
    index = 0
    pack_bytes = 4096

    def __init__(self, slot_bytes=4096, slots=4, threads=2):
        self._engine = {"slot_bytes": slot_bytes, "slots": slots, "threads": threads}
        self._local = threading.local()
        self._blocks = {}  # address of memory in use -> [block, recorded streams]
        self._free = []  # (block, markers that must be reached)
        self._lock = threading.RLock()
        self.copy_stream = None
        self.engines_started = 0
        self.most_bytes = 0

    def start(self):
        self.copy_stream = self.copy_stream or fake.make_stream()

    def start_engine(self):
        self.engines_started += 1
        return fake.TransferEngine(0, self.copy_stream, **self._engine)

    def copying(self):
        return contextlib.nullcontext()

    def is_host(self, tensor):
        if tensor.layout is not torch.strided:
            return True
        return tensor.untyped_storage().data_ptr() not in self._blocks

    def empty_strided(self, size, stride, dtype):
        elements = 1 + sum((n - 1) * step for n, step in zip(size, stride)) if 0 not in size else 0
        if elements == 0:
            return torch.empty(size, dtype=dtype)
        memory = self._take(elements * dtype.itemsize)
        bytes_ = torch.from_numpy(memory)
        return torch.empty(0, dtype=dtype).set_(bytes_.untyped_storage(), 0, size, stride)

    def _take(self, size):
        with self._lock:
            for index in reversed(range(len(self._free))):
                block, markers = self._free[index]
                if block.size >= size and all(fake.result(marker) for marker in markers):
                    del self._free[index]
                    break
            else:
                block = np.empty(size, np.uint8)
                self.most_bytes += size
            memory = block[:size]  # an object of its own: when it goes, no tensor uses the block any more
            self._blocks[memory.ctypes.data] = record = [block, set()]
            weakref.finalize(memory, self._give_back, memory.ctypes.data, record)
            return memory

    def _give_back(self, address, record):
        with self._lock:
            block, streams = record
            self._blocks.pop(address, None)
            self._free.append((block, [fake.launch_marker(stream) for stream in streams]))

    def move(self, part):
        try:
            moved = part.to("cpu", non_blocking=True)
        except TypeError:
            moved = part.to("cpu")
        return moved, []

    def mark(self, stream=None):
        return None

    def wait(self, stream, mark):
        pass

    def current_stream(self):
        if not hasattr(self._local, "stream"):
            self._local.stream = fake.make_stream()
        return self._local.stream

    def use_stream(self, stream):
        self._local.stream = stream

    def handle(self, stream):
        return stream

    def record(self, tensor, stream):
        with self._lock:
            self._blocks[tensor.untyped_storage().data_ptr()][1].add(stream)


def sum_on(stream, tensor):
    """Queues a kernel that sums the tensor's bytes when the stream gets there; gives the index of the result."""
    return fake.launch_sum(stream, tensor.data_ptr(), tensor.numel() * tensor.element_size())


def sum_of(tensor):
    return fake.sum_of(tensor.data_ptr(), tensor.numel() * tensor.element_size())
