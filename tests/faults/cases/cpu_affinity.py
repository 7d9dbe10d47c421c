"""Two workers, and the job may run on one core of the machine only."""

from torch.utils.data import DataLoader
from training import dataset, options, order, train


def main():
    asked = options(step_ms=10.0, batch_size=16)
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
