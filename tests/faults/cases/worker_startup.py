"""One pass over the data with workers that need seconds to start: each is sent a vocabulary of many words as Python
objects, or opens an index first."""

import functools
import time

import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Sentences(torch.utils.data.Dataset):
    def __init__(self, words):
        self.numbers = {"word%07d" % k: [k, k % 17] for k in range(words)}

    def __len__(self):
        return 4000

    def __getitem__(self, index):
        return torch.tensor(self.numbers["word%07d" % index]), index % 10


def open_index(seconds, worker):
    """Asks the server for the index of all shards."""
    time.sleep(seconds)


def main():
    asked = options(start="spawn", words=1_000_000, index_s=0.0, batch_size=16, step_ms=40.0, steps=120)
    sentences = Sentences(asked.words)
    init = functools.partial(open_index, asked.index_s) if asked.index_s else None
    loader = DataLoader(
        Streamed(sentences) if asked.iterable else sentences,
        asked.batch_size,
        num_workers=asked.workers,
        worker_init_fn=init,
        **order(asked),
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
