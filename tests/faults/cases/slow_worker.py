"""Every worker reads its own shard; the shard of worker 0 lies behind a slow remote service."""
import time

import numpy as np
import torch
from accelerator import Accelerator


class ShardedArrays(torch.utils.data.IterableDataset):
    def __init__(self, per_worker):
        self.per_worker = per_worker

    def fetch(self, worker, index):
        if worker == 0:
            time.sleep(0.012)  # the round trip to the remote shard
        return np.random.default_rng(index).random((64, 64), dtype=np.float32)

    def __iter__(self):
        worker = torch.utils.data.get_worker_info().id
        for index in range(self.per_worker):
            yield torch.from_numpy(self.fetch(worker, index))


def main():
    loader = torch.utils.data.DataLoader(ShardedArrays(per_worker=800), batch_size=16, num_workers=3)
    model = Accelerator(step_ms=15)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
