"""Short clips of sound through a chain of filters, on many threads in each of two workers: the number that was right
for the whole machine, when one process did it all."""

import functools

import numpy as np
import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Clips(torch.utils.data.Dataset):
    def __init__(self, library, samples):
        self.library, self.samples = library, samples

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        return self.filtered(index), index % 10

    def filtered(self, index):
        if self.library == "numpy":
            wave = np.full((self.samples // 100, self.samples // 100), 1e-3 * (index % 7), np.float32)
            return torch.from_numpy((wave @ wave @ wave)[0])
        wave = torch.linspace(0, 1 + index % 7, self.samples).sin()
        for band in range(50):
            wave = wave.mul(0.9).add(0.1)
        return wave[::40].contiguous()


def many_threads(threads, worker):
    torch.set_num_threads(threads)


def main():
    asked = options(library="torch", samples=40_000, threads=8, batch_size=8, step_ms=15.0, steps=120)

    clips = Clips(asked.library, asked.samples)
    init = functools.partial(many_threads, asked.threads) if asked.library == "torch" else None
    loader = DataLoader(
        Streamed(clips) if asked.iterable else clips,
        asked.batch_size,
        num_workers=asked.workers,
        worker_init_fn=init,
        **order(asked),
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
