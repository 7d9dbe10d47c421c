"""The tracer on a real GPU: nobody can tell from outside that it is there, and what it records is true."""

import os
import re
import statistics
import subprocess
import sys
import tempfile

import gpu_union
import pytest
import rings

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")]

JOBS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu_jobs.py")
HOST_TO_DEVICE, PAGEABLE, PINNED = 1, 1, 2


class Traced:
    """A job that was run with the tracer and the hook, and what the rings hold."""

    def __init__(self, case, package, base, launcher=()):
        folder = base / "rings"
        folder.mkdir()
        environment = clean()
        environment.update(
            FULLBORE_RINGS=str(folder),
            FULLBORE_RECORD_LIB=os.path.join(package, "lib", "libfullbore_record.so"),
            FULLBORE_HOOK=os.path.join(package, "hook"),
            FULLBORE_RING_BYTES=str(1 << 24),
            FULLBORE_TRACE_SHARE="1",  # as many windows as can be
            PYTHONPATH=os.path.join(package, "hook"),
            CUDA_INJECTION64_PATH=os.path.join(package, "lib", "libfullbore_inject.so"),
        )
        self.done = job(case, environment, folder.parent, launcher)
        self.records = rings.read(folder)

    def missing(self):
        return [(record.signal, record.why) for record in self.records.of("Missing") if record.signal.startswith("gpu")]


def clean():
    return {key: value for key, value in os.environ.items() if not key.startswith(("FULLBORE_", "PYTHON", "CUDA_INJ"))}


def job(case, environment, folder, launcher=()):
    # What the compiler has cached it does not warn about again.
    environment = dict(environment, TORCHINDUCTOR_CACHE_DIR=tempfile.mkdtemp(dir=str(folder)))
    command = [sys.executable, "-X", "faulthandler", *launcher, JOBS, case]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)


def seen(done):
    """All that can be told from outside; Python's warning about fork names the process."""
    return done.returncode, done.stdout, re.sub(r"pid=\d+", "pid=PID", done.stderr)


@pytest.mark.parametrize(
    "case",
    "eager graphs streams threads profiler profiler_first fork workers distributed error terminated left exits "
    "compiled compiled_graphs".split(),
)
def test_a_job_is_the_same_with_and_without(case, package, tmp_path):
    alone = job(case, clean(), tmp_path)
    traced = Traced(case, package, tmp_path)
    assert seen(traced.done) == seen(alone), traced.done.stderr
    if case in ("graphs", "compiled_graphs"):
        assert "CUDA graphs are captured" in dict(traced.missing())["gpu.trace"]
    else:
        assert "gpu.trace" not in dict(traced.missing())
        assert traced.records.of("TraceWindow")


def test_a_rank_of_torchrun_is_traced(package, tmp_path):
    """What torchrun itself says on stderr has times in it, so only the rank's output is compared."""
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", "1", "--master-addr", "127.0.0.1"]
    alone = job("distributed", clean(), tmp_path, launcher)
    traced = Traced("distributed", package, tmp_path, launcher)
    assert (traced.done.returncode, traced.done.stdout) == (alone.returncode, alone.stdout) == (0, alone.stdout)
    windows = [window for window in traced.records.of("TraceWindow") if window.kernels]
    assert len({window.ring_pid for window in windows}) == 1


def test_windows_hold_kernels(package, tmp_path):
    records = Traced("eager", package, tmp_path).records
    windows = [window for window in records.of("TraceWindow") if window.kernels]
    assert len(windows) >= 2
    assert all(window.dropped == 0 for window in windows)
    assert sum(window.kernels for window in windows) == len(records.of("Kernel")) > 100
    assert records.one("GpuDevice").name == torch.cuda.get_device_name(0)


def test_copies_agree_with_cuda_events(package, tmp_path):
    traced = Traced("copies", package, tmp_path)
    by_events = dict(line.split() for line in traced.done.stdout.splitlines())
    # Around a pageable copy events also see how it is handed to the driver.
    for kind, source, tolerance in (("pinned", PINNED, 0.03), ("pageable", PAGEABLE, 0.1)):
        found = [copy.busy_ns / 1e6 for copy in traced.records.of("Copy") if (copy.source, copy.bytes) == (source, 1 << 26)]
        assert len(found) >= 10, kind
        assert sorted(found)[len(found) // 2] == pytest.approx(float(by_events[kind]), rel=tolerance), kind


def test_kernels_run_as_long_as_torch_profiler_says(package, tmp_path):
    traced = Traced("union", package, tmp_path)
    by_profiler = [float(line) for line in traced.done.stdout.split()]
    ours = gpu_union.of_windows(traced.records)
    assert len(by_profiler) == 5 and len(ours) > 50
    assert statistics.median(ours) == pytest.approx(statistics.median(by_profiler), rel=0.01)


def test_every_window_begins_and_ends_with_a_tight_pair_of_clocks(package, tmp_path):
    records = Traced("eager", package, tmp_path).records
    pairs = records.of("ClockPair")
    assert all(pair.residual_ns < 100_000 for pair in pairs)
    for window in records.of("TraceWindow"):
        for edge in (window.begin_ns, window.end_ns):
            assert min(abs(pair.monotonic_ns - edge) for pair in pairs) < 5_000_000


def test_tracing_goes_on_after_torch_profiler(package, tmp_path):
    records = Traced("profiler", package, tmp_path).records
    sessions = [interval for interval in records.of("Interval") if interval.name == "torch.profiler"]
    assert len(sessions) == 2
    for session in sessions:
        assert any(window.begin_ns > session.end_ns and window.kernels for window in records.of("TraceWindow"))
        assert not any(session.begin_ns < copy.begin_ns < session.end_ns for copy in records.of("Copy"))
