"""Two ranks on the CPU under torchrun: each trains on the same batches, or has its share of them."""

import os
import subprocess
import sys

import torch
from duplicate_work import Blank, Events, Stream
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
from training import OnTheCpu, options

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def main():
    asked = options(
        data="events", share="none", average=1, seed=5, own_seed=0, workers=0, batch_size=16, step_ms=20.0, steps=100
    )
    if "RANK" not in os.environ:
        sys.exit(subprocess.run([*TORCHRUN, *sys.argv]).returncode)
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(asked.seed + asked.own_seed * torch.distributed.get_rank())
    events = {"events": Events, "blank": Blank}[asked.data]()
    sampler = DistributedSampler(events) if asked.share == "sampler" else None
    model = OnTheCpu(asked.step_ms)
    if asked.average:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(
        Stream(events, "none", 0) if asked.iterable else events,
        asked.batch_size,
        shuffle=None if asked.iterable else sampler is None,
        sampler=sampler,
        num_workers=asked.workers,
    )
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
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
