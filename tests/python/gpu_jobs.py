"""Small jobs that use a GPU in ways that a tracer could disturb. `python gpu_jobs.py CASE`: prints what must be the same
with and without Fullbore."""

import os
import signal
import statistics
import sys
import threading
import time

import gpu_union
import torch

DEVICE = "cuda"


def model():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).to(DEVICE)


def train(net, steps=150, forward=None):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(5)
    for _ in range(steps):
        batch = torch.randn(64, 256, generator=generator).to(DEVICE)
        loss = (forward or net)(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.02)
    return loss.item()


def eager():
    print("%.6f" % train(model()))


def graphs():
    net, static = model(), torch.zeros(64, 256, device=DEVICE)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        net(static)
    torch.cuda.current_stream().wait_stream(side)
    for _ in range(3):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            time.sleep(0.3)  # windows open and flush meanwhile
            out = net(static)
        for number in range(120):
            static.fill_(number / 120)
            graph.replay()
            time.sleep(0.01)
        del graph
    print("%.6f" % out.sum().item())


def compiled():
    net = model()
    print("%.4f" % train(net, 20, torch.compile(net)))


def compiled_graphs():
    net = model()
    print("%.4f" % train(net, 40, torch.compile(net, mode="reduce-overhead")))


def streams():
    total = torch.zeros(1, device=DEVICE)
    for _ in range(100):
        parts = []
        for number in range(8):
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                parts.append(torch.full((1024,), float(number), device=DEVICE).sum())
            torch.cuda.current_stream().wait_stream(stream)
        total += torch.stack(parts).sum()
        time.sleep(0.03)
    print("%.1f" % total.item())


def threads():
    """Four threads that launch without a pause while windows open and CUPTI is taken out."""
    end = time.monotonic() + 8

    def work(number):
        torch.manual_seed(number)
        net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).to(DEVICE)
        batch = torch.randn(32, 64, device=DEVICE)
        with torch.cuda.stream(torch.cuda.Stream()):
            while time.monotonic() < end:
                net(batch).sum().backward()
                batch.add_(0)

    running = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    torch.cuda.synchronize()
    print("done")


def profiler():
    from torch.profiler import ProfilerActivity, profile

    net = model()
    train(net, 40)
    for _ in range(2):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
            train(net, 10)
            torch.cuda.synchronize()
        on_gpu = [event for event in profiled.events() if event.device_type == torch.autograd.DeviceType.CUDA]
        copies = [event for event in on_gpu if "Memcpy HtoD" in event.name]
        print(len(on_gpu) > 100, len(copies))
        train(net, 100)


def profiler_first():
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        train(model(), 10)
        torch.cuda.synchronize()
    copies = [event for event in profiled.events() if "Memcpy HtoD" in event.name]
    print(len(copies) >= 10)
    train(model(), 60)


def fork():
    net = model()
    train(net, 20)
    child = os.fork()
    if child == 0:
        sum(range(1000))
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    loader = torch.utils.data.DataLoader(torch.arange(64.0), batch_size=8, num_workers=2)
    print(sum(batch.to(DEVICE).sum().item() for batch in loader))


def workers():
    """Page-locked batches of workers that start anew in every epoch."""
    rows = torch.utils.data.TensorDataset(torch.arange(64_000.0).reshape(1000, 64))
    loader = torch.utils.data.DataLoader(rows, batch_size=50, num_workers=3, pin_memory=True)
    total = torch.zeros(1, dtype=torch.float64, device=DEVICE)
    for _ in range(3):
        for (batch,) in loader:
            total += batch.to(DEVICE, non_blocking=True).double().sum()
            time.sleep(0.01)
    print("%.1f" % total.item())


def distributed():
    """The one rank of a job with NCCL: under torchrun, or by itself."""
    own = {} if "RANK" in os.environ else {"store": torch.distributed.HashStore(), "rank": 0, "world_size": 1}
    torch.distributed.init_process_group("nccl", device_id=torch.device(DEVICE, 0), **own)
    net = torch.nn.parallel.DistributedDataParallel(model(), device_ids=[0])
    print("%.6f" % train(net))
    torch.distributed.destroy_process_group()


def error():
    train(model(), 10)
    raise ValueError("mine")


def terminated():
    train(model(), 10)
    print("now", flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)


def left():
    train(model(), 10)
    print("now", flush=True)
    os._exit(5)


def exits():
    """Ends while the device is busy and a window may be open."""
    big = torch.randn(4096, 4096, device=DEVICE)
    for _ in range(200):
        big = big @ big
        big /= big.norm()
    print("done")


def copies():
    """Times of host-to-device copies by CUDA events, in ms: the middle one of three seconds."""
    target = torch.empty(64 << 20, dtype=torch.uint8, device=DEVICE)
    for kind in ("pinned", "pageable"):
        source = torch.zeros(64 << 20, dtype=torch.uint8, pin_memory=kind == "pinned")
        taken = []
        end = time.monotonic() + 3
        while time.monotonic() < end:
            begin, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            target.copy_(source, non_blocking=True)
            after.record()
            torch.cuda.synchronize()
            taken.append(begin.elapsed_time(after))
        print(kind, sorted(taken)[len(taken) // 2], flush=True)


def union():
    """The same steps under torch.profiler and alone, in turns; prints the profiler's ns of kernels per step."""
    from torch.profiler import ProfilerActivity, profile

    torch.manual_seed(3)
    batch = torch.randn(2048, 2048, device=DEVICE)
    weights = [torch.randn(2048, 2048, device=DEVICE) / 45 for _ in range(4)]

    def steps(count):
        for _ in range(count):
            rows = torch.tril(batch)
            for weight in weights:
                rows = torch.relu(rows @ weight)
            rows.softmax(1).sum()
        torch.cuda.synchronize()

    steps(500)  # clocks rise meanwhile
    for _ in range(5):
        with profile(activities=[ProfilerActivity.CUDA]) as profiled:
            steps(60)
        on_gpu = [event for event in profiled.events() if event.device_type == torch.autograd.DeviceType.CUDA]
        spans = [(event.time_range.start * 1e3, event.time_range.end * 1e3, event.name) for event in on_gpu]
        print(statistics.median(gpu_union.per_step_ns(spans)), flush=True)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            steps(10)


CASES = [eager, graphs, streams, threads, profiler, profiler_first, fork, workers, distributed, error, terminated, left]
CASES += [exits, compiled, compiled_graphs, copies, union]

if __name__ == "__main__":
    {case.__name__: case for case in CASES}[sys.argv[1]]()
