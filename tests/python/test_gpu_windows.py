"""Windows of the tracer on a real GPU, opened and closed as they are in a user's run: they hold whole steps."""

import os
import subprocess
import sys

import pytest
import rings

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")]

STEP_S = 0.4
JOB = """
import time
import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 72

    def __getitem__(self, index):
        time.sleep(%r / 4)
        return torch.randn(256)


net = torch.nn.Linear(256, 256).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in DataLoader(Slow(), batch_size=4):
    net(batch.cuda()).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.synchronize()
""" % STEP_S


@pytest.fixture(scope="module")
def records(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("windows")
    (folder / "rings").mkdir()
    (folder / "job.py").write_text(JOB)
    ours = ("FULLBORE_", "PYTHON", "CUDA_INJ")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    environment.update(
        FULLBORE_RINGS=str(folder / "rings"),
        FULLBORE_RECORD_LIB=os.path.join(package, "lib", "libfullbore_record.so"),
        FULLBORE_HOOK=os.path.join(package, "hook"),
        FULLBORE_RING_BYTES=str(1 << 24),
        PYTHONPATH=os.path.join(package, "hook"),
        CUDA_INJECTION64_PATH=os.path.join(package, "lib", "libfullbore_inject.so"),
    )
    command = [sys.executable, str(folder / "job.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return rings.read(folder / "rings")


def test_the_first_window_comes_when_ten_iterations_have_begun(records):
    began = [wait.begin_ns for wait in records.of("Next")]
    assert all(began[9] < window.begin_ns for window in records.of("TraceWindow"))
    assert min(window.begin_ns for window in records.of("TraceWindow")) < began[12]


def test_a_window_holds_two_whole_steps_however_slow(records):
    window = records.of("TraceWindow")[0]
    kernels = [kernel for kernel in records.of("Kernel") if window.begin_ns <= kernel.begin_ns <= window.end_ns + 10**9]
    span_s = (max(kernel.end_ns for kernel in kernels) - min(kernel.begin_ns for kernel in kernels)) / 1e9
    assert 2 * STEP_S < span_s < 6 * STEP_S
    assert window.dropped == 0
