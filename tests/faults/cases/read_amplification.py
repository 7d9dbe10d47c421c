"""Windows of tokens at random places of one mapped file."""

import numpy as np
import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Tokens(torch.utils.data.Dataset):
    def __init__(self, path, window):
        self.tokens = np.memmap(path, dtype=np.uint16, mode="r")
        self.window = window

    def __len__(self):
        return 6400

    def __getitem__(self, index):
        start = int(torch.randint(len(self.tokens) - self.window - 1, (1,)))
        tokens = torch.from_numpy(self.tokens[start : start + self.window + 1].astype(np.int64))
        return tokens[:-1], tokens[1:]


def main():
    asked = options(window=256, batch_size=4, step_ms=40.0, steps=120)
    tokens = Tokens(asked.paths[0], asked.window)
    loader = DataLoader(
        Streamed(tokens) if asked.iterable else tokens, asked.batch_size, num_workers=asked.workers, **order(asked)
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
