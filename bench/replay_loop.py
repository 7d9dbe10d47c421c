"""The watched side of bench/replay_truth.py: a training loop with one loader setting per run, on an emulated accelerator.

    python bench/replay_loop.py WORKLOAD DATA --workers 2 --prefetch 2 --step-ms 40

WORKLOAD: photos (JPEG decoding and augmentation, as examples/train_images.py has it), service (each sample waits 4 ms for
a remote service, for which sleep stands, and computes for 1 ms), uneven (photos of which one in 40 is decoded eight times).
"""
import argparse
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
from emulated_accelerator import EmulatedAccelerator  # noqa: E402
from train_images import PhotoFolder  # noqa: E402


class Service(torch.utils.data.Dataset):
    """Rows that come from a remote service."""

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        time.sleep(0.004)
        end = time.thread_time() + 0.001
        while time.thread_time() < end:
            pass
        return torch.zeros(3, 32, 32), index % 10


class Uneven(PhotoFolder):
    """Photographs, some of which are much more work than others."""

    def __getitem__(self, index):
        for _ in range(8 if index % 40 == 0 else 1):
            sample = super().__getitem__(index)
        return sample


def dataset(workload, data):
    if workload == "service":
        return Service()
    return Uneven(data) if workload == "uneven" else PhotoFolder(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=["photos", "service", "uneven"])
    parser.add_argument("data")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--prefetch", type=int)
    parser.add_argument("--step-ms", type=float, default=40)
    parser.add_argument("--steps", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    loader = torch.utils.data.DataLoader(dataset(args.workload, args.data), batch_size=args.batch_size, shuffle=True,
                                         drop_last=True, num_workers=args.workers, prefetch_factor=args.prefetch,
                                         persistent_workers=args.workers > 0)
    # An accelerator's loop launches work from one thread; a second one of torch's own, woken for a few microseconds of
    # arithmetic and spinning for its turn on a full machine, would make the body's length a matter of luck.
    torch.set_num_threads(1)
    model = EmulatedAccelerator(10, args.step_ms)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    step = 0
    while step < args.steps:
        for images, labels in loader:
            optimizer.zero_grad()
            criterion(model(images), labels % 10).backward()
            optimizer.step()
            step += 1
            if step == args.steps:
                break


if __name__ == "__main__":
    main()
