"""Samples are made in the training process: num_workers is left at 0."""

from torch.utils.data import DataLoader
from training import dataset, options, order, train


def main():
    asked = options(workers=0)
    loader = DataLoader(dataset(asked), batch_size=asked.batch_size, drop_last=True, **order(asked))
    train(loader, asked)


if __name__ == "__main__":
    main()
