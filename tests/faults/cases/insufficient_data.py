"""Six steps, then the end: too little to judge."""

import torch
from torch.utils.data import DataLoader, TensorDataset
from training import options, train


def main():
    asked = options(steps=6, workers=0)
    loader = DataLoader(
        TensorDataset(torch.randn(960, 256), torch.arange(960)), batch_size=16, num_workers=asked.workers
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
