"""CUPTI is handed to torch.profiler before it looks for it, and taken back after it has stopped."""

import sys

import pytest

pytest.importorskip("torch")

# A stand-in for the tracer's library, as none is loaded where there is no GPU.
JOB = """
import ctypes
calls, real = [], ctypes.CDLL

class Tracer:
    def __init__(self):
        self.fullbore_trace_pause, self.fullbore_trace_resume = Call("pause"), Call("resume")

class Call:
    def __init__(self, name):
        self.name = name
    def __call__(self):
        calls.append(self.name)

ctypes.CDLL = lambda name, *rest, **more: Tracer() if str(name).endswith("inject.so") else real(name, *rest, **more)
import torch
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


def test_each_session_of_torch_profiler_is_between_a_pause_and_a_resume(bench):
    job = bench.write(JOB)
    tracer = {"CUDA_INJECTION64_PATH": "/somewhere/libfullbore_inject.so"}
    watched = bench.watched(sys.executable, job, env=tracer)
    assert watched.out == repr(["pause", "inside", "resume"] + ["pause", "resume"] * 2) + "\n", watched.err
    assert [interval.name for interval in watched.records.of("Interval")].count("torch.profiler") == 3


def test_an_injection_of_somebody_else_is_left_alone(bench):
    watched = bench.watched(sys.executable, bench.write(JOB), env={"CUDA_INJECTION64_PATH": "/opt/other.so"})
    assert watched.out == "['inside']\n", watched.err
