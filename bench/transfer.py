"""What PrefetchDataLoader costs and hides, on one CUDA device, beside other ways to get batches there.

    python bench/transfer.py [--steps 40] [--rounds 3] [--batch 128] [--json FILE]

A ResNet-50 in bf16 trains on batches that lie in host memory (fp32, 77 MB at batch 128), so that nothing but the copy is
there to hide. Arms are interleaved in rounds; each gives the median of its rounds' mean steps. Then: the rate of the copies
against the link's own, staging against memcpy with as many threads, and the host's time per batch.
"""

import argparse
import concurrent.futures
import json
import statistics
import time

import numpy as np
import torch

import fullbore
from fullbore.prefetch import devices


class Batches:
    """`count` batches that lie in host memory, over and over."""

    def __init__(self, count, batch, pin):
        made = [(torch.randn(batch, 3, 224, 224), torch.randint(1000, (batch,))) for _ in range(4)]
        self.made = [tuple(tensor.pin_memory() for tensor in one) if pin else one for one in made]
        self.count = count

    def __iter__(self):
        return (self.made[i % len(self.made)] for i in range(self.count))

    def __len__(self):
        return self.count


def side_stream(batches):
    """The recipe that goes around: one batch ahead on a side stream. (Without record_stream it reads wrong data at times.)"""
    stream, ahead = torch.cuda.Stream(), None
    for batch in batches:
        with torch.cuda.stream(stream):
            moved = [tensor.to("cuda", non_blocking=True) for tensor in batch]
        if ahead is not None:
            yield ahead
        torch.cuda.current_stream().wait_stream(stream)
        for tensor in moved:
            tensor.record_stream(torch.cuda.current_stream())
        ahead = moved
    yield ahead


def plain(batches, non_blocking):
    for batch in batches:
        yield [tensor.to("cuda", non_blocking=non_blocking) for tensor in batch]


def resident(batches):
    on_device = [tensor.to("cuda") for tensor in batches.made[0]]
    for _ in range(len(batches)):
        yield on_device


def timm_prefetcher(batches):
    from timm.data.loader import PrefetchLoader

    class Uint8:  # it normalises pixels itself, hence wants bytes: a quarter of what the others copy
        sampler = None
        dataset = None

        def __init__(self):
            self.made = [(images.to(torch.uint8).pin_memory(), labels) for images, labels in batches.made]

        def __iter__(self):
            return (self.made[i % len(self.made)] for i in range(len(batches)))

    return iter(PrefetchLoader(Uint8(), device=torch.device("cuda"), img_dtype=torch.float32))


def arms(steps, batch):
    pageable, pinned = Batches(steps, batch, pin=False), Batches(steps, batch, pin=True)
    wrapped = {
        "fullbore, pageable": fullbore.PrefetchDataLoader(pageable, "cuda"),
        "fullbore, pinned": fullbore.PrefetchDataLoader(pinned, "cuda"),
    }
    made = {
        "data on the device": lambda: resident(pinned),
        "plain, pageable": lambda: plain(pageable, False),
        "plain, pinned, non_blocking": lambda: plain(pinned, True),
        "side stream, pageable": lambda: side_stream(pageable),
        "side stream, pinned": lambda: side_stream(pinned),
        **{name: loader.__iter__ for name, loader in wrapped.items()},
    }
    try:
        import timm.data.loader  # noqa: F401

        made["timm prefetcher, pinned uint8"] = lambda: timm_prefetcher(pinned)
    except ImportError:
        pass
    return made, wrapped


def train(model, optimiser, batches):
    for images, labels in batches:
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(images.contiguous(memory_format=torch.channels_last)), labels)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()


def steps_of(args):
    import torchvision

    torch.backends.cudnn.benchmark = True
    model = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    made, wrapped = arms(args.steps, args.batch)
    times = {name: [] for name in made}
    for number in range(args.rounds + 1):  # the first warms up
        for name, start in made.items():
            torch.cuda.synchronize()
            begin = time.perf_counter()
            train(model, optimiser, start())
            torch.cuda.synchronize()
            if number:
                times[name].append((time.perf_counter() - begin) / args.steps * 1e3)
    step = {name: statistics.median(rounds) for name, rounds in times.items()}
    base = step["data on the device"]
    result = {name: {"step_ms": ms, "exposed_percent": (ms - base) / base * 100} for name, ms in step.items()}
    for name, loader in wrapped.items():
        result[name]["stats"] = loader.stats()
        loader.close()
    return result


def link(batch):
    """The rate of bare copies of one batch from page-locked memory, in 1e9 bytes per second by the device's clock."""
    source, target = torch.empty(batch, 3, 224, 224).pin_memory(), torch.empty(batch, 3, 224, 224, device="cuda")
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    rates = []
    for _ in range(20):
        begin.record()
        target.copy_(source, non_blocking=True)
        end.record()
        torch.cuda.synchronize()
        rates.append(source.nbytes / begin.elapsed_time(end) / 1e6)
    return statistics.median(rates)


def rates(args):
    """Copies alone, nothing else on the device: the pinned rate against the link's, staging against memcpy."""
    result = {"link_gb_per_s": link(args.batch)}
    for kind in ("pinned", "pageable"):
        with fullbore.PrefetchDataLoader(Batches(30, args.batch, kind == "pinned"), "cuda", with_timing=True) as loader:
            timings = []
            for _, timing in loader:
                timings.append(timing.wait())
            result[kind + "_gb_per_s"] = statistics.median(timing.h2d_gb_per_s for timing in timings[2:])
            if kind == "pageable":
                result["staged_gb_per_s"] = statistics.median(t.bytes / t.stage_ms / 1e6 for t in timings[2:])
    threads = devices.staging_threads()
    result["threads"] = threads
    result["memcpy_gb_per_s"] = memcpy_rate(args.batch, threads)
    return result


def memcpy_rate(batch, threads):
    """One-copy memcpy from batches as large into a ring as large as the engine's, by as many threads."""
    piece = devices.SLOT_BYTES
    sources = [np.ones(batch * 3 * 224 * 224 * 4, np.uint8) for _ in range(4)]
    ring = np.ones((devices.SLOTS, piece), np.uint8)

    def copy(job):
        number, offset = job
        source = sources[number % 4][offset : offset + piece]
        np.copyto(ring[(offset // piece) % devices.SLOTS][: source.size], source)

    seconds = []
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for number in range(20):
            begin = time.perf_counter()
            list(pool.map(copy, [(number, offset) for offset in range(0, sources[0].size, piece)]))
            seconds.append(time.perf_counter() - begin)
    return sources[0].size / statistics.median(seconds) / 1e9


def host_time(background):
    """Microseconds of the calling thread in next() per batch of one image tensor and one of labels, both page-locked."""
    pinned = [(torch.zeros(1 << 20).pin_memory(), torch.zeros(128).pin_memory())] * 500
    with fullbore.PrefetchDataLoader(pinned, "cuda", background=background) as loader:
        list(zip(range(50), loader))
        times = []
        passed = iter(loader)
        for _ in range(400):
            begin = time.perf_counter()
            next(passed)
            times.append(time.perf_counter() - begin)
            time.sleep(0.0005)  # the copy is done when the next batch is asked for
    return statistics.median(times) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--json")
    args = parser.parse_args()
    result = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for name, background in (("drawn here", False), ("drawn in the background", True)):
        result["next, us, " + name] = host_time(background)
        print("%-32s %.1f us" % ("next(), " + name, result["next, us, " + name]), flush=True)
    result["rates"] = rates(args)
    for name, value in result["rates"].items():
        print("%-24s %.1f" % (name, value), flush=True)
    result["arms"] = steps_of(args)
    for name, arm in result["arms"].items():
        print("%-32s %7.2f ms  exposed %6.2f %%" % (name, arm["step_ms"], arm["exposed_percent"]), flush=True)
        if "stats" in arm:
            print("    %s" % arm["stats"])
    if args.json:
        with open(args.json, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
