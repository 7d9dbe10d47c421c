"""One worker makes all the samples it can; the other core is free."""

from torch.utils.data import DataLoader
from training import dataset, options, order, train


def main():
    asked = options(workers=1, step_ms=20.0)
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
