"""A native library that meets a sample it cannot take: the worker is gone without a word."""

import ctypes
import os
import signal

import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Fragile(torch.utils.data.Dataset):
    def __init__(self, last, end):
        self.last, self.end = last, end

    def __len__(self):
        return 3200

    def __getitem__(self, index):
        if index == self.last:
            self.meet_it()
        return torch.full((256,), float(index)), index % 10

    def meet_it(self):
        if self.end == "pointer":
            ctypes.string_at(0)  # the library follows a pointer that leads nowhere
        if self.end == "abort":
            os.abort()  # it finds its own state broken
        if self.end == "exit":
            os._exit(3)  # it thinks that the process is its own
        os.kill(os.getpid(), signal.SIGKILL)  # someone else ends the process


def main():
    asked = options(last=1601, end="pointer", step_ms=40.0, steps=100)
    fragile = Fragile(asked.last, asked.end)
    loader = DataLoader(
        Streamed(fragile) if asked.iterable else fragile, asked.batch_size, num_workers=asked.workers, **order(asked)
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
