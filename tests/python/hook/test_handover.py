"""CUPTI is handed to torch.profiler before it looks for it, and taken back after it has stopped."""

import sys

import pytest

pytest.importorskip("torch")

# A stand-in for the tracer's library, as none is loaded where there is no GPU.
TRACER = """
import ctypes
calls, counters, real = [], [], ctypes.CDLL

class Tracer:
    def __init__(self):
        for name in ("pause", "resume", "allow"):
            setattr(self, "fullbore_trace_" + name, Call(name))
        self.fullbore_trace_count = Count()

class Call:
    def __init__(self, name):
        self.name = name
    def __call__(self):
        calls.append(self.name)

class Count:
    def __call__(self, address):
        counters.append((ctypes.c_uint64 * 2).from_address(address.value))

ctypes.CDLL = lambda name, *rest, **more: Tracer() if str(name).endswith("inject.so") else real(name, *rest, **more)
import torch
"""
TRACED = {"CUDA_INJECTION64_PATH": "/somewhere/libfullbore_inject.so"}
JOB = (
    TRACER
    + """
from torch.profiler import profile, schedule

with profile():
    torch.ones(2).sum()
    calls.append("inside")
with profile(schedule=schedule(wait=1, warmup=1, active=1, repeat=2)) as profiler:
    for _ in range(6):
        torch.ones(2).sum()
        profiler.step()
print(calls)
"""
)
GRAPH = (
    TRACER
    + """
from torch.profiler import profile
from torch.cuda.graphs import CUDAGraph

try:
    CUDAGraph.capture_begin(None)
except Exception:  # there is no GPU here
    calls.append("captured")
with profile():
    torch.ones(2).sum()
print(calls)
"""
)


def test_each_session_of_torch_profiler_is_between_a_pause_and_a_resume(bench):
    job = bench.write(JOB)
    watched = bench.watched(sys.executable, job, env=TRACED)
    assert watched.out == repr(["allow", "pause", "inside", "resume"] + ["pause", "resume"] * 2) + "\n", watched.err
    assert [interval.name for interval in watched.records.of("Interval")].count("torch.profiler") == 3


def test_the_first_graph_ends_tracing_before_it_is_captured(bench):
    watched = bench.watched(sys.executable, bench.write(GRAPH), env=TRACED)
    assert watched.out == "['allow', 'pause', 'captured']\n", watched.err
    (missing,) = [record for record in watched.records.of("Missing") if record.signal == "gpu.trace"]
    assert "CUDA graphs are captured" in missing.why


def test_an_injection_of_somebody_else_is_left_alone(bench):
    watched = bench.watched(sys.executable, bench.write(JOB), env={"CUDA_INJECTION64_PATH": "/opt/other.so"})
    assert watched.out == "['inside']\n", watched.err


LOOP = (
    TRACER
    + """
from torch.utils.data import DataLoader, Dataset
from _fullbore_hook import handover

class Numbers(Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, index):
        return float(index)

if not counters:
    handover.allow()  # the stand-in for torch has no CUDA graphs to see coming
optimizer = torch.optim.SGD([torch.Tensor([0.0, 0.0])], lr=0.1)
for number, batch in enumerate(DataLoader(Numbers(), batch_size=4)):
    if number % 2 == 0:
        optimizer.step()
print(calls.count("allow"), len(counters), list(counters[0]))
"""
)


def test_the_tracer_is_told_how_far_the_loop_is(torch_run):
    watched = torch_run(LOOP, env=TRACED)
    assert watched.out == "1 1 [6, 3]\n", watched.err
