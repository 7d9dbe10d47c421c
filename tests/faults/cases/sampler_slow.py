"""Hard examples more often: each batch is drawn from millions of weights, in the training process, one batch at a
time; or sentences of like length are looked for in Python."""

import random

import torch
from torch.utils.data import DataLoader
from training import options, train


class HardExamples(torch.utils.data.Sampler):
    def __init__(self, weights, batch_size, batches):
        self.weights, self.batch_size, self.batches = weights, batch_size, batches

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            yield torch.multinomial(self.weights, self.batch_size).tolist()


class LikeLengths(HardExamples):
    """The neighbours of a sentence by length, among candidates drawn anew for each batch."""

    def __iter__(self):
        lengths = self.weights.tolist()
        for _ in range(self.batches):
            candidates = random.sample(range(len(lengths)), 40_000)
            yield sorted(candidates, key=lengths.__getitem__)[: self.batch_size]


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 10_000_000

    def __getitem__(self, index):
        return torch.full((256,), float(index)), index % 10


def main():
    asked = options(draw="weights", weights=2_000_000, workers=1, steps=120)
    kind = HardExamples if asked.draw == "weights" else LikeLengths
    sampler = kind(torch.rand(asked.weights), asked.batch_size, asked.steps)
    start = asked.start if asked.workers else None
    loader = DataLoader(Rows(), batch_sampler=sampler, num_workers=asked.workers, multiprocessing_context=start)
    train(loader, asked)


if __name__ == "__main__":
    main()
