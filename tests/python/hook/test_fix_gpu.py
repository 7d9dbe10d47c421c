"""--fix where a GPU is: pinning, and that looking for one does not spoil it for forked workers."""

import json
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from fix_harness import Slow, fixing, of, why  # noqa: E402

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")]


def test_exact_pins_and_leaves_every_batch_as_it_was(tmp_path):
    class Augmented(Slow):
        def __getitem__(self, index):
            return torch.rand(1000)

    def run():
        torch.manual_seed(7)
        torch.zeros(1, device="cuda")
        loader = torch.utils.data.DataLoader(Augmented(64), batch_size=8, shuffle=True)
        batches = list(loader)
        return [batch.is_pinned() for batch in batches], torch.stack(batches), torch.rand(3)

    pinned, batches, after = run()
    assert not any(pinned)
    with fixing(tmp_path, mode="exact") as records:
        fixed = run()
    assert all(fixed[0]) and fixed[1].equal(batches) and fixed[2].equal(after)
    assert of(records, "pin_memory") == [(False, True, 1)]


def test_plain_pins_what_forked_workers_make(tmp_path):
    torch.zeros(1, device="cuda")
    with fixing(tmp_path) as records:
        batches = list(torch.utils.data.DataLoader(Slow(), batch_size=8))
    assert all(batch.is_pinned() for batch in batches)
    assert torch.cat(batches)[:, 0].tolist() == list(range(128))
    assert of(records, "num_workers") == [(0, 2, 1)] and of(records, "pin_memory") == [(False, True, 1)]


def test_a_batch_that_cannot_be_pinned_is_taken_back(tmp_path):
    class Unpinnable:
        def pin_memory(self):
            raise RuntimeError("cannot be pinned")

    torch.zeros(1, device="cuda")
    with fixing(tmp_path, mode="exact") as records:
        loader = torch.utils.data.DataLoader(Slow(16), batch_size=8, collate_fn=lambda rows: Unpinnable())
        assert [type(batch) for batch in loader] == [Unpinnable] * 2
    assert of(records, "pin_memory") == [(False, True, 1), (False, True, 2)]
    assert "cannot be pinned" in why(records, "pin_memory")


def test_a_dataset_on_the_gpu_is_left_alone(tmp_path):
    class OnGpu(Slow):
        def __init__(self):
            super().__init__()
            self.table = torch.arange(128, device="cuda")

    with fixing(tmp_path) as records:
        assert len(list(torch.utils.data.DataLoader(OnGpu(), batch_size=8))) == 16
    assert "dataset.table is a tensor on cuda:0" in why(records, "num_workers")


def test_a_process_that_trains_on_the_cpu_gets_no_pinned_memory(tmp_path):
    here = os.path.dirname(os.path.abspath(__file__))
    script = """
import sys, tempfile, torch
sys.path.insert(0, sys.argv[1])
from fix_harness import Slow, fixing, why
with fixing(tempfile.mkdtemp(), mode="exact") as records:
    next(iter(torch.utils.data.DataLoader(Slow())))
print(torch.cuda.is_initialized(), why(records, "pin_memory"))
"""
    done = subprocess.run([sys.executable, "-c", script, here], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode() == "False this process does not use CUDA\n"


def test_looking_for_a_gpu_initialises_none(tmp_path):
    here = os.path.dirname(os.path.abspath(__file__))
    script = """
import json, os, sys, torch
sys.path.insert(0, sys.argv[1])
from _fullbore_hook.fix import plan
found = plan.limits_here({}, constructing=True).cuda
child = os.fork()
if child == 0:
    ok = False
    try:
        ok = torch.zeros(3, device="cuda").sum().item() == 0  # raises if the parent had initialised the driver
    finally:
        os._exit(0 if ok else 1)
print(json.dumps([found, torch.cuda.is_initialized(), os.waitpid(child, 0)[1]]))
"""
    hook = os.path.join(here, "../../../python/fullbore/hook")
    done = subprocess.run([sys.executable, "-c", script, hook], stdout=subprocess.PIPE, check=True)
    assert json.loads(done.stdout.decode()) == [True, False, 0]
