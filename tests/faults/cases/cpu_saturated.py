"""A worker for each of two cores makes samples, and the accelerator still waits."""

from torch.utils.data import DataLoader
from training import dataset, options, order, train


def main():
    asked = options(step_ms=5.0, steps=80)
    loader = DataLoader(
        dataset(asked),
        asked.batch_size,
        num_workers=asked.workers,
        persistent_workers=True,
        drop_last=True,
        **order(asked),
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
