"""Text that was tokenised once, ahead of training: windows of a mapped file that is in memory."""

import tempfile

import numpy as np
from read_amplification import Tokens
from torch.utils.data import DataLoader
from training import options, order, train


def main():
    asked = options(window=512, batch_size=16, step_ms=60.0, steps=80)
    with tempfile.NamedTemporaryFile(suffix=".tokens") as file:
        np.random.default_rng(5).integers(0, 50_000, 4_000_000, dtype=np.uint16).tofile(file.name)
        loader = DataLoader(
            Tokens(file.name, asked.window), asked.batch_size, num_workers=asked.workers, **order(asked)
        )
        train(loader, asked)


if __name__ == "__main__":
    main()
