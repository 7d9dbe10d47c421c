"""Metrics are sent or written from the training loop, every few steps: to a collector far away, or to a file that is
forced to the disk each time."""

import logging
import logging.handlers
import os
import tempfile

import far_collector
import torch
from torch.utils.data import DataLoader, TensorDataset
from training import model_of, options


class Forced(logging.FileHandler):
    """Loses nothing, even if the machine stops."""

    def emit(self, record):
        super().emit(record)
        for _ in range(20):  # one file per metric
            os.fsync(self.stream.fileno())


def main():
    asked = options(how="http", every=5, trip_ms=150.0, rows=4800, step_ms=40.0, workers=0)
    address, collector = far_collector.start(asked.trip_ms)
    log = logging.getLogger("train")
    log.setLevel(logging.INFO)
    file = tempfile.NamedTemporaryFile(dir=".", suffix=".log")
    log.addHandler(
        logging.handlers.HTTPHandler(address, "/metrics", method="POST") if asked.how == "http" else Forced(file.name)
    )
    loader = DataLoader(
        TensorDataset(torch.randn(asked.rows, 256)), asked.batch_size, shuffle=True, num_workers=asked.workers
    )
    model = model_of(asked)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (batch,) in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % asked.every == 0:
            log.info("step %d of %d", step, len(loader))
    collector.terminate()


if __name__ == "__main__":
    main()
