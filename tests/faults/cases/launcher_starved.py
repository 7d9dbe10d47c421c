"""Launching the kernels of a step takes two or three times as long as it should, because the thread that does it does
not get to run: other processes of the job keep all cores busy, or threads of the training process the interpreter."""

import contextlib
import multiprocessing
import os
import queue
import random
import threading

import torch
from gpu_images import Pixels
from photos import Photos
from torch.utils.data import DataLoader, IterableDataset
from torchvision.models import resnet18, resnet50
from training import options


def prepare(folder, stop):
    """Decodes photographs for the next stage of the project, while this one trains."""
    photos = Photos(folder)
    while not stop.is_set():
        for k in range(len(photos)):
            photos[k]
            if stop.is_set():
                break


class Threaded(IterableDataset):
    """Batches that threads of this process decode, pin and put into a queue."""

    def __init__(self, photos, asked):
        self.photos, self.batch_size, self.steps = photos, asked.batch_size, asked.steps
        self.made, self.stopped = queue.Queue(maxsize=2 * asked.threads), False
        self.threads = [threading.Thread(target=self.make) for _ in range(asked.threads)]
        for thread in self.threads:
            thread.start()

    def make(self):
        while not self.stopped:
            chosen = random.choices(range(len(self.photos)), k=self.batch_size)
            images, labels = zip(*[self.photos[k] for k in chosen])
            self.made.put((torch.stack(images).pin_memory(), torch.tensor(labels).pin_memory()))

    def __iter__(self):
        for _ in range(self.steps):
            yield self.made.get()

    def stop(self):
        self.stopped = True
        while any(thread.is_alive() for thread in self.threads):
            with contextlib.suppress(queue.Empty):
                self.made.get(timeout=0.1)


def loader_of(asked):
    if asked.how == "threads":
        return DataLoader(Threaded(Photos(asked.paths[1]), asked), batch_size=None)
    return DataLoader(Pixels(asked.steps, asked.batch_size), batch_size=None, shuffle=True)


def main():
    asked = options(how="processes", busy=3, threads=12, net="resnet18", batch_size=256, steps=250)
    stop = multiprocessing.Event()
    others = [
        multiprocessing.Process(target=prepare, args=(asked.paths[0], stop), daemon=True)
        for _ in range(asked.busy * os.cpu_count() if asked.how == "processes" else 0)
    ]
    for process in others:
        process.start()
    loader = loader_of(asked)
    net = {"resnet18": resnet18, "resnet50": resnet50}[asked.net]
    model = net(num_classes=10).to("cuda", memory_format=torch.channels_last)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True).float().div_(255)
        labels = labels.to("cuda", non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if asked.how == "threads":
        loader.dataset.stop()
    stop.set()
    for process in others:
        process.join()


if __name__ == "__main__":
    main()
