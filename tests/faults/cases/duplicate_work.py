"""A stream of events that each worker goes through from its beginning to its end, or shares with the others."""

import random

import numpy
import torch
from torch.utils.data import DataLoader, get_worker_info
from training import Table, options, train

CLICKS = 2400


class Events(torch.utils.data.Dataset):
    """Clicks of visitors, a line of text each."""

    def __init__(self):
        rng = random.Random(23)
        self.lines = [" ".join(str(rng.randrange(50_000)) for _ in range(200)) for _ in range(CLICKS)]

    def __len__(self):
        return CLICKS

    def __getitem__(self, index):
        return torch.tensor([int(word) for word in self.lines[index].split()]), index % 10


class Blank(Events):
    """For trying out a model: every sample is the same."""

    def __getitem__(self, index):
        return torch.zeros(200), index % 10


class Stream(torch.utils.data.IterableDataset):
    def __init__(self, events, share, shuffled):
        self.events, self.share, self.shuffled = events, share, shuffled
        self.first, self.stride = 0, 1

    def places(self):
        worker = get_worker_info()
        if self.share == "stride":
            return range(worker.id, len(self.events), worker.num_workers)
        if self.share == "parts":
            part = len(self.events) // worker.num_workers
            return range(worker.id * part, (worker.id + 1) * part)
        return range(self.first, len(self.events), self.stride)

    def __iter__(self):  # of single events
        places = list(self.places())
        if self.shuffled:
            random.Random(5).shuffle(places)
        for place in places:
            yield self.events[place]


class Batches(Stream):
    """Makes whole batches, as arrays."""

    def __iter__(self):  # of whole batches
        made = []
        for sample in super().__iter__():
            made.append(sample)
            if len(made) == 16:
                yield numpy.stack([events for events, _ in made]), numpy.array([label for _, label in made])
                made = []


def its_own(worker):
    """worker_init_fn: tells the copy of the stream in this worker what its share is."""
    info = get_worker_info()
    info.dataset.first, info.dataset.stride = info.id, info.num_workers


def as_tensors(batch):
    return tuple(map(torch.from_numpy, batch))


def main():
    asked = options(data="events", share="none", shuffled=0, whole=0, batch_size=16, steps=120)
    events = {"events": Events, "table": Table, "blank": Blank}[asked.data]()
    stream = (Batches if asked.whole else Stream)(events, asked.share, asked.shuffled)
    loader = DataLoader(
        stream,
        batch_size=None if asked.whole else asked.batch_size,
        num_workers=asked.workers,
        collate_fn=as_tensors if asked.whole else None,
        multiprocessing_context=asked.start,
        persistent_workers=True,
        worker_init_fn=its_own if asked.share == "init" else None,
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
