"""Short epochs and sixteen workers on a few cores: each epoch begins with sixteen batches made at a crawl."""

from torch.utils.data import DataLoader
from training import dataset, options, order, train


def main():
    asked = options(workers=16, batch_size=16, step_ms=60.0, steps=150)
    loader = DataLoader(
        dataset(asked), asked.batch_size, num_workers=asked.workers, persistent_workers=True, **order(asked)
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
