"""What the training scripts here share, as a project keeps it in a module of its own: a command line, data sets of
three kinds, a model on the emulated accelerator or on the CPU, and a loop."""

import argparse
import random
import re
import sys
from pathlib import Path

import torch
from accelerator import Accelerator
from photos import Photos

sys.path.append(str(Path(__file__).resolve().parents[1] / "site-packages"))

COMMON = {
    "data": "photos",
    "iterable": 0,
    "start": "fork",
    "model": "accelerator",
    "loop": "plain",
    "batch_size": 32,
    "workers": 2,
    "step_ms": 30.0,
    "steps": 60,
}


def options(**defaults):
    """The command line: files and folders, and what may be varied; the type of each option is that of its default."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*")
    for name, default in {**COMMON, **defaults}.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
    return parser.parse_args()


class Sentences(torch.utils.data.Dataset):
    """Articles of 20,000 words, cut into words and numbered when they are asked for."""

    def __init__(self):
        rng = random.Random(17)
        words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(20_000)]
        self.numbers = {word: number for number, word in enumerate(words)}
        self.articles = [" ".join(rng.choices(words, k=20_000)) for _ in range(20)]

    def __len__(self):
        return 1600

    def __getitem__(self, index):
        words = re.findall(r"\w+|[^\w\s]", self.articles[index % 20].lower())
        numbers = [self.numbers.get(word, 0) for word in words]
        return torch.tensor(numbers[:512]), index % 10


class Table(torch.utils.data.Dataset):
    """Readings of a sensor as lines of comma-separated values, parsed when they are asked for."""

    def __init__(self):
        rng = random.Random(19)
        self.lines = [",".join("%.4f" % rng.random() for _ in range(20)) for _ in range(1600)]

    def __len__(self):
        return 1600

    def __getitem__(self, index):
        rows = [list(map(float, line.split(","))) for line in self.lines[index % 800 : index % 800 + 800]]
        return torch.tensor([sum(column) / len(column) for column in zip(*rows)]), index % 10


class Streamed(torch.utils.data.IterableDataset):
    """The samples of another data set one after the other; each worker has its share."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        first, stride = (worker.id, worker.num_workers) if worker else (0, 1)
        for index in range(first, len(self.dataset), stride):
            yield self.dataset[index]


def dataset(asked):
    made = {"photos": lambda: Photos(asked.paths[0]), "text": Sentences, "table": Table}[asked.data]()
    return Streamed(made) if asked.iterable else made


def order(asked):
    """What else a DataLoader is told: a random order where it may choose, the start method where it starts workers."""
    chosen = {} if asked.iterable else {"shuffle": True}
    return {**chosen, "multiprocessing_context": asked.start} if asked.workers else chosen


class OnTheCpu(torch.nn.Module):
    """A model that computes here, on one thread, for about `step_ms` with its gradients."""

    def __init__(self, step_ms):
        super().__init__()
        torch.set_num_threads(1)
        self.first = torch.nn.Linear(512, 1024)
        self.layers = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(max(1, round(step_ms / 6)))])

    def forward(self, inputs):
        rows = torch.nn.functional.pad(inputs.flatten(1)[:32, :512].float(), (0, max(0, 512 - inputs[0].numel())))
        return self.layers(self.first(rows).relu()).square().mean()


def model_of(asked):
    return OnTheCpu(asked.step_ms) if asked.model == "cpu" else Accelerator(asked.step_ms)


def train(loader, asked):
    """So many steps, in as many epochs as that takes."""
    model = model_of(asked)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    if asked.loop == "trainer":
        from fitting import Trainer

        return Trainer(asked.steps).fit(model, optimizer, loader)
    step = 0
    while step < asked.steps:
        for inputs, labels in loader:
            loss = model(inputs)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step == asked.steps:
                break
