#!/usr/bin/env python3
"""How much of a GPU's rate with data already there is left when pictures come from JPEG files.

    gpu.py FOLDER [--models resnet50 resnet18] [--threads 2 8 12] [--workers 12] [--rounds 3] [--json FILE]

FOLDER has one folder of JPEGs per class (scripts/make_photos makes one; hard links make it longer). A ResNet trains in
bf16, channels last. In each round: data on the device, then ImageLoader with each number of threads, then data on the
device again; an arm's share is its rate by the mean of these two. A loader is opened for its part of a round and closed
after it, so nothing of one arm runs beside another. threads="auto" has one turn, counted once it has settled. The
DataLoader with torchvision has a process of its own, because its workers are forked. Last, ImageLoader alone. The index
is made first (`fullbore index`). Needs torchvision.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time

import torch
import torchvision

import fullbore

BATCH, SIZE = 128, 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
WARM_UP = 20  # steps of each part that are not counted
SETTLING = 220  # the same for threads="auto"


def image_loader(folder, threads, **options):
    transform = [fullbore.RandomResizedCrop(SIZE), fullbore.RandomHorizontalFlip(), fullbore.Normalize(MEAN, STD)]
    return fullbore.ImageLoader(folder, BATCH, transform=transform, device="cuda", dtype="bfloat16", layout="NHWC",
                                threads=threads, **options)  # fmt: skip


def torch_loader(folder, workers):
    """The usual recipe: torchvision's transforms on Pillow's pictures, page-locked float batches."""
    from torchvision.transforms import v2

    steps = [v2.RandomResizedCrop(SIZE), v2.RandomHorizontalFlip(), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]
    dataset = torchvision.datasets.ImageFolder(folder, v2.Compose([*steps, v2.Normalize(MEAN, STD)]))
    return torch.utils.data.DataLoader(dataset, BATCH, shuffle=True, drop_last=True, num_workers=workers,
                                       pin_memory=True, persistent_workers=True, prefetch_factor=4)  # fmt: skip


def from_image_loader(loader):
    while True:
        for images, labels in loader:
            yield images.permute(0, 3, 1, 2), labels  # a view: channels last


def from_torch_loader(loader):
    while True:
        for images, labels in loader:
            images = images.to("cuda", non_blocking=True).contiguous(memory_format=torch.channels_last)
            yield images, labels.to("cuda", non_blocking=True)


def on_the_device():
    images = torch.randn(BATCH, 3, SIZE, SIZE, device="cuda").bfloat16().contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (BATCH,), device="cuda")
    while True:
        yield images, labels


class Training:
    def __init__(self, model):
        torch.backends.cudnn.benchmark = True
        self.model = getattr(torchvision.models, model)().cuda().to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)

    def step(self, images, labels):
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(self.model(images), labels % 1000)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()

    def measure(self, batches, seconds, warm_up=WARM_UP):
        """Rate, and milliseconds that a step takes to launch and a batch to come, over `seconds` after the warm-up."""
        waits, launches = [], []
        for _ in range(warm_up):
            self.step(*next(batches))
        torch.cuda.synchronize()
        began, cpu = time.perf_counter(), cpu_seconds()
        while time.perf_counter() - began < seconds:
            asked = time.perf_counter()
            images, labels = next(batches)
            got = time.perf_counter()
            self.step(images, labels)
            waits.append(got - asked)
            launches.append(time.perf_counter() - got)
        torch.cuda.synchronize()
        took, pictures = time.perf_counter() - began, BATCH * len(waits)
        return {"rate": pictures / took, "launch_ms": statistics.mean(launches) * 1e3,
                "wait_ms": statistics.mean(waits) * 1e3, "cpu_ms": (cpu_seconds() - cpu) / pictures * 1e3}  # fmt: skip


def cpu_seconds():
    """Of this process, its threads, and children that have ended."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


def one_round(training, folder, threads, seconds):
    parts = {"data on the device": training.measure(on_the_device(), seconds)}
    for number in threads:
        with image_loader(folder, number) as loader:
            name = "ImageLoader, %s threads" % number
            warm_up = SETTLING if number == "auto" else WARM_UP
            parts[name] = training.measure(from_image_loader(loader), seconds, warm_up)
            if number == "auto":
                print(loader.explain(), file=sys.stderr, flush=True)
            parts[name].update({key: loader.stats()[key] for key in ("h2d_gb_per_s", "no_kernel")})
            torch.cuda.synchronize()
    return parts, training.measure(on_the_device(), seconds)


def with_shares(parts, again):
    base = (parts["data on the device"]["rate"] + again["rate"]) / 2
    for part in parts.values():
        part["share"] = part["rate"] / base
    return parts


def run_ours(options, model):
    training, rounds = Training(model), []
    training.measure(on_the_device(), 1)
    for number in range(options.rounds):
        threads = options.threads[number % len(options.threads) :] + options.threads[: number % len(options.threads)]
        threads = threads + ["auto"] if number == 0 else threads
        rounds.append(with_shares(*one_round(training, options.folder, threads, options.seconds)))
    return rounds


def run_torch(options, model):
    training = Training(model)
    training.measure(on_the_device(), 1)
    parts = {"data on the device": training.measure(on_the_device(), options.seconds)}
    batches = from_torch_loader(torch_loader(options.folder, options.workers))
    parts["DataLoader, %d workers" % options.workers] = training.measure(batches, 2 * options.seconds)
    for part in parts.values():
        del part["cpu_ms"]  # that of the workers is not in it
    return [with_shares(parts, parts["data on the device"])]


def run_alone(options):
    """ImageLoader without a model: pictures per second, and CPU per picture."""
    with image_loader(options.folder, max(options.threads)) as loader:
        batches = from_image_loader(loader)
        for _ in range(WARM_UP):
            next(batches)
        began, cpu, count = time.perf_counter(), cpu_seconds(), 0
        while time.perf_counter() - began < options.seconds:
            next(batches)
            count += BATCH
        rate = count / (time.perf_counter() - began)
        name = "ImageLoader alone, %d threads" % max(options.threads)
        return [{name: {"rate": rate, "cpu_ms": (cpu_seconds() - cpu) / count * 1e3}}]


def in_a_process(options, part):
    command = [sys.executable, __file__, options.folder, "--part", part, "--seconds", str(options.seconds)]
    command += ["--rounds", str(options.rounds), "--workers", str(options.workers), "--threads"]
    done = subprocess.run(command + [str(number) for number in options.threads], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("%s did not run" % part)
    return json.loads(done.stdout.splitlines()[-1])


def print_rows(model, rounds):
    for name in rounds[0]:
        runs = [one[name] for one in rounds if name in one]

        def spread(key, factor=1.0, digits=0, runs=runs):
            values = [run[key] * factor for run in runs if key in run]
            if not values:
                return "-"
            text = "%.*f" % (digits, statistics.median(values))
            return text if len(values) == 1 else text + " (%.*f-%.*f)" % (digits, min(values), digits, max(values))

        print("| %s, %s | %s | %s | %s | %s | %s |" % (
            model, name, spread("rate"), spread("share", 100, 1), spread("launch_ms", 1, 1), spread("wait_ms", 1, 2),
            spread("cpu_ms", 1, 3)), flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description="the rate of a GPU that is fed from JPEG files")
    parser.add_argument("folder")
    parser.add_argument("--models", nargs="+", default=["resnet50", "resnet18"])
    parser.add_argument("--threads", nargs="+", type=int, default=[2, 8, 12])
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--json")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        kind, _, model = options.part.partition(":")
        runs = {"ours": run_ours, "torch": run_torch}
        print(json.dumps(run_alone(options) if kind == "alone" else runs[kind](options, model)), flush=True)
        return
    subprocess.run([sys.executable, "-m", "fullbore", "index", options.folder], check=True, stdout=sys.stderr)
    print("| | pictures/s | share, % | launch of a step, ms | wait, ms | CPU ms per picture |")
    print("| --- | --- | --- | --- | --- | --- |")
    results = {}
    for model in options.models:
        for kind in ("ours", "torch"):
            results[model, kind] = in_a_process(options, "%s:%s" % (kind, model))
            print_rows(model, results[model, kind])
    results["", "alone"] = in_a_process(options, "alone")
    print_rows("no model", results["", "alone"])
    if options.json:
        with open(options.json, "w") as file:
            json.dump({" ".join(key).strip(): value for key, value in results.items()}, file, indent=1)


if __name__ == "__main__":
    main()
