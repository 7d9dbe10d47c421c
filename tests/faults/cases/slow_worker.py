"""Every worker reads its own shard; the shard of worker 0 is slower: it lies behind a slow service, or is packed
harder."""

import time
import zlib

import numpy as np
import torch
from torch.utils.data import DataLoader
from training import options, train


class Shards(torch.utils.data.IterableDataset):
    def __init__(self, per_worker, slow, slow_ms):
        self.per_worker, self.slow, self.slow_ms = per_worker, slow, slow_ms
        self.packed = zlib.compress(np.random.default_rng(1).integers(0, 4, 100_000, dtype=np.uint8).tobytes())

    def fetch(self, worker, index):
        if worker == 0 and self.slow == "service":
            time.sleep(self.slow_ms / 1e3)  # the round trip to the remote shard
        if worker == 0 and self.slow == "packed":
            begin = time.thread_time()
            while time.thread_time() - begin < self.slow_ms / 1e3:  # so much more work, however fast the core is
                zlib.decompress(self.packed)
        return np.random.default_rng(index).random((64, 64), dtype=np.float32)

    def __iter__(self):
        worker = torch.utils.data.get_worker_info().id
        for index in range(self.per_worker):
            yield torch.from_numpy(self.fetch(worker, index)), index % 10


def main():
    asked = options(slow="service", slow_ms=12.0, batch_size=16, workers=3, step_ms=15.0, steps=120)
    shards = Shards(asked.steps * asked.batch_size // asked.workers, asked.slow, asked.slow_ms)
    loader = DataLoader(shards, asked.batch_size, num_workers=asked.workers, multiprocessing_context=asked.start)
    train(loader, asked)


if __name__ == "__main__":
    main()
