"""--fix where it matters how workers are started: spawn, scripts without a guard, daemonic parents, frameworks."""

import json
import multiprocessing
import os
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")

from fix_harness import fixing, line_of, of, why  # noqa: E402
from _fullbore_hook.fix import against, view  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = """
import multiprocessing, os, sys, tempfile, time, json
sys.path.insert(0, {here!r})
import torch
from torch.utils.data import DataLoader, Dataset
from fix_harness import fixing

class Slow(Dataset):
    def __init__(self, **held):
        self.__dict__.update(held)
    def __len__(self):
        return 8192
    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.tensor([index, os.getpid()])

def first_batch(loader):
    with fixing(tempfile.mkdtemp(), quota_cores=1.0) as records:
        batch = next(iter(loader))
    print(json.dumps(dict(records=records, indices=batch[:, 0].tolist(),
                          in_worker=batch[0, 1].item() != os.getpid())), flush=True)
"""


def run(tmp_path, body):
    script = tmp_path / "train.py"
    script.write_text(HEAD.format(here=HERE) + textwrap.dedent(body))
    done = subprocess.run([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert len(answers) == 1
    assert answers[0]["indices"] == list(range(8))
    return answers[0]


def test_spawned_workers_are_added_to_a_guarded_script(tmp_path):
    answer = run(
        tmp_path,
        """
        if __name__ == "__main__":
            multiprocessing.set_start_method("spawn")
            first_batch(DataLoader(Slow(), batch_size=8))
    """,
    )
    assert answer["in_worker"] and of(answer["records"], "num_workers") == [(0, 1, 1)]


def test_a_dataset_that_cannot_be_sent_is_left_alone(tmp_path):
    answer = run(
        tmp_path,
        """
        if __name__ == "__main__":
            multiprocessing.set_start_method("spawn")
            first_batch(DataLoader(Slow(transform=lambda x: x), batch_size=8))
    """,
    )
    assert not answer["in_worker"]
    assert "sending the dataset to a worker raised" in why(answer["records"], "num_workers")


def test_a_script_that_spawned_workers_would_run_again_is_left_alone(tmp_path):
    answer = run(
        tmp_path,
        """
        multiprocessing.set_start_method("spawn")
        first_batch(DataLoader(Slow(), batch_size=8))
    """,
    )
    assert not answer["in_worker"] and "would run the script again" in why(answer["records"], "num_workers")


def test_forked_workers_need_no_guard_and_may_hold_what_cannot_be_sent(tmp_path):
    answer = run(tmp_path, "first_batch(DataLoader(Slow(transform=lambda x: x), batch_size=8))")
    assert answer["in_worker"] and of(answer["records"], "num_workers") == [(0, 1, 1)]


def test_the_probe_prints_nothing_and_draws_nothing(tmp_path):
    answer = run(
        tmp_path,
        """
        class Loud(Slow):
            def __getitem__(self, index):
                if torch.utils.data.get_worker_info() is None:
                    print("loud"), os.system("echo loud"), torch.rand(3)
                return super().__getitem__(index)
        torch.manual_seed(1)
        state = torch.get_rng_state()
        from _fullbore_hook.fix import plan, probe, view
        loader = DataLoader(Loud(), batch_size=8)
        assert probe.measure(plan._work(view.from_loader(loader), "fork")).batch_seconds > 0.01
        assert torch.get_rng_state().equal(state)
        first_batch(loader)
    """,
    )
    assert answer["in_worker"]


def test_a_daemonic_process_is_left_alone(tmp_path):
    answer = run(
        tmp_path,
        """
        child = multiprocessing.Process(target=first_batch, args=(DataLoader(Slow(), batch_size=8),), daemon=True)
        child.start(), child.join()
    """,
    )
    assert not answer["in_worker"] and "daemonic" in why(answer["records"], "num_workers")


def test_a_loader_that_accelerate_rebuilds_is_fixed(tmp_path):
    pytest.importorskip("accelerate")
    answer = run(
        tmp_path,
        """
        from accelerate import Accelerator
        first_batch(Accelerator(cpu=True).prepare(DataLoader(Slow(), batch_size=8)))
    """,
    )
    assert answer["in_worker"] and of(answer["records"], "num_workers") == [(0, 1, 1)]


def test_a_framework_takes_settings_of_a_report_over_with_the_watch(tmp_path):
    pytest.importorskip("accelerate")
    from accelerate import Accelerator

    line = line_of(test_a_framework_takes_settings_of_a_report_over_with_the_watch, "given = ")

    class DiesInWorkers(torch.utils.data.Dataset):
        def __len__(self):
            return 4096

        def __getitem__(self, index):
            if torch.utils.data.get_worker_info() is not None:
                os._exit(1)
            return torch.tensor([index])

    advice = [{"file": __file__, "line": line, "settings": {"num_workers": "1"}}]
    with fixing(tmp_path, "run", loaders=advice, first_batch_timeout_s=2) as records:
        given = torch.utils.data.DataLoader(DiesInWorkers(), batch_size=8)
        assert given.num_workers == 1
        loader = Accelerator(cpu=True).prepare(given)
        assert next(iter(loader)).flatten().tolist() == list(range(8))
    assert "taken over" in why(records, "num_workers") and of(records, "num_workers")[-1] == (0, 1, 2)


@pytest.mark.parametrize(
    "source, again",
    [
        ("import os\nfor x in range(3): pass\n", True),
        ("import os\nmain()\n", True),
        ("import os\ndef main(): pass\nif __name__ == '__main__':\n    main()\n", False),
        ("'''doc'''\nimport os\nRATE = 3\nclass A: pass\n", False),
    ],
)
def test_a_guard_is_seen_in_the_source_of_main(tmp_path, monkeypatch, source, again):
    path = tmp_path / "main.py"
    path.write_text(source)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(path), raising=False)
    assert against.main_runs_again() == again


def test_a_default_of_forkserver_gives_way_to_fork_for_an_unguarded_script(monkeypatch):
    monkeypatch.setattr(against, "main_runs_again", lambda: True)
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none: None)
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["forkserver", "fork", "spawn"])
    seen = view.from_arguments({"dataset": [1]})
    assert against.start_method(seen)[0] == "fork"
    monkeypatch.setattr(against.threading, "active_count", lambda: 2)
    assert "would run the script again" in against.start_method(seen)[2]
