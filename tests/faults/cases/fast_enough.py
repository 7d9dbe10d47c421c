"""Workers make batches somewhat faster than the model takes them, and a few are always ready."""

from torch.utils.data import DataLoader
from training import dataset, options, order, train


def main():
    asked = options(batch_size=4, step_ms=80.0, prefetch=2, steps=80)
    loader = DataLoader(
        dataset(asked),
        asked.batch_size,
        num_workers=asked.workers,
        prefetch_factor=asked.prefetch,
        persistent_workers=True,
        drop_last=True,
        **order(asked),
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
