"""Two workers, and the job may run on one core of the machine only; or a library that every worker imports binds it to the
first core."""

import os

from torch.utils.data import DataLoader
from training import dataset, options, order, train


def bind(worker):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main():
    asked = options(pin=0, step_ms=10.0, batch_size=16)
    init = bind if asked.pin else None
    loader = DataLoader(
        dataset(asked),
        asked.batch_size,
        num_workers=asked.workers,
        worker_init_fn=init,
        persistent_workers=True,
        drop_last=True,
        **order(asked),
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
