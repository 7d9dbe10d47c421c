"""--fix through the hook itself: a script that knows nothing of it, started the way `fullbore run --fix` starts it."""

import json
import sys

import pytest

SCRIPT = """
import os, sys, time
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

class Slow(Dataset):
    def __len__(self):
        return 256
    def __getitem__(self, index):
        if len(sys.argv) > 1 and get_worker_info() is not None:
            time.sleep(0.5)  # the training process waits for the first batch by then
            os._exit(1)
        time.sleep(0.003)
        return torch.tensor([index])

torch.manual_seed(3)
loader = DataLoader(
    Slow(),
    batch_size=8, shuffle=True)
for epoch in range(2):
    print(sorted(torch.cat(list(loader)).flatten().tolist()) == list(range(256)))
print(torch.rand(1).item())
"""
LINE = 1 + SCRIPT[: SCRIPT.index("loader = ")].count("\n")
UNKNOWN = -(1 << 63)


@pytest.fixture
def torch_python():
    pytest.importorskip("torch")
    return sys.executable


def fix_file(folder, **options):
    path = folder / "fix.json"
    path.write_text(
        json.dumps(
            dict(
                dict(
                    mode="plain",
                    usable_cores=2,
                    quota_cores=None,
                    shm_free=1 << 30,
                    memory_available=8 << 30,
                    loaders=[],
                    first_batch_timeout_s=3,
                ),
                **options,
            )
        )
    )
    return {"FULLBORE_FIX": str(path)}


def changes(watched):
    return sorted((one.setting, one.before, one.after, one.applied) for one in watched.records.of("Fix"))


def test_plain_gives_the_loader_workers(bench, torch_python):
    script = bench.write(SCRIPT)
    watched = bench.watched(torch_python, script, env=fix_file(bench.folder))
    assert (watched.code, watched.err) == (0, "") and watched.out.startswith("True\nTrue\n")
    memory, made, kept, pinned, depth = changes(watched)
    assert (made, kept) == (("num_workers", 0, 2, 1), ("persistent_workers", 0, 1, 1))
    assert memory == ("keep_freed_memory", 0, 1, 1)
    assert pinned == ("pin_memory", 0, 0, 0) and depth[:2] == ("prefetch_factor", UNKNOWN) and depth[3] == 1
    first, second = watched.records.of("Iterator")
    assert (first.workers, second.workers) == (2, 2)
    assert second.flags == 1 and second.base_seed == first.base_seed  # the same workers, reset


def test_a_recommendation_reaches_the_loader_record(bench, torch_python):
    script = bench.write(SCRIPT)
    advice = [{"file": script, "line": LINE, "settings": {"num_workers": "8", "prefetch_factor": "3"}}]
    watched = bench.watched(torch_python, script, env=fix_file(bench.folder, mode="run", loaders=advice))
    assert (watched.code, watched.err) == (0, "") and watched.out.startswith("True\nTrue\n")
    loader = watched.records.one("Loader")
    assert (loader.workers, loader.prefetch_factor, loader.line) == (2, 3, LINE)
    assert "8 recommended, limited by 2 usable cores" in [one.why for one in watched.records.of("Fix")]


def test_workers_that_die_leave_the_run_as_it_would_have_been(bench, torch_python):
    script = bench.write(SCRIPT)
    alone = bench.alone(torch_python, script, "die")
    watched = bench.watched(torch_python, script, "die", env=fix_file(bench.folder))
    assert (watched.code, watched.out, watched.err) == (alone.returncode, alone.stdout, alone.stderr)
    assert ("num_workers", 0, 2, 2) in changes(watched)


def test_exact_changes_no_output(bench, torch_python):
    script = bench.write(SCRIPT)
    alone = bench.alone(torch_python, script)
    watched = bench.watched(torch_python, script, env=fix_file(bench.folder, mode="exact"))
    assert (watched.code, watched.out, watched.err) == (alone.returncode, alone.stdout, alone.stderr)


CHANGES_ITS_DATASET = (
    SCRIPT[: SCRIPT.index("torch.manual_seed")]
    + """
class Scheduled(Slow):
    epoch = 0
    def __getitem__(self, index):
        return torch.tensor([index, self.epoch, os.getpid()])

def end(how):
    import _fullbore_hook
    try:
        how == "stop" or _fullbore_hook.abi.name(5)
    except AttributeError as error:
        _fullbore_hook.fail(error)
    _fullbore_hook.stop()

dataset = Scheduled()
loader = DataLoader(dataset, batch_size=8, collate_fn=lambda rows: time.sleep(0.02) or torch.stack(rows))
for epoch in range(4):
    if epoch == 2:
        end(os.environ["HOW"])
    dataset.epoch = epoch
    rows = torch.cat(list(loader))
    print(set(rows[:, 1].tolist()) == {epoch}, os.getpid() in rows[:, 2])
rows = torch.cat(list(DataLoader(dataset, batch_size=8, collate_fn=loader.collate_fn)))
print(os.getpid() in rows[:, 2])
"""
)


@pytest.mark.parametrize("how, in_training_process", [("stop", False), ("fail", True)])
def test_changed_loaders_stay_looked_after_when_the_hook_ends(bench, torch_python, how, in_training_process):
    script = bench.write(CHANGES_ITS_DATASET)
    watched = bench.watched(torch_python, script, env=dict(fix_file(bench.folder), HOW=how))
    assert (watched.code, watched.err) == (0, "")
    assert watched.out == "True False\n" * 4 + "%s\n" % in_training_process
