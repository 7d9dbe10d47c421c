"""Trainings as people start them: fullbore sees every rank, and the exit code of a launcher passes through."""

import os
import subprocess
import sys
import textwrap

import launching
import pytest

pytest.importorskip("torch")

TRAINING = textwrap.dedent(
    """
    import os, sys
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        def __len__(self):
            return 64
        def __getitem__(self, index):
            return torch.full((4,), float(index))

    def main():
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for batch in DataLoader(Numbers(), batch_size=8, num_workers=0):
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
        if os.environ.get("RANK", "0") == os.environ.get("FAILING_RANK"):
            sys.exit(3)

    if __name__ == "__main__":
        main()
    """
)
SPAWNED = textwrap.dedent(
    """
    import torch.multiprocessing as mp
    import training

    def train(rank):
        training.main()

    if __name__ == "__main__":
        mp.spawn(train, nprocs=1)
    """
)


def tool(name):
    path = os.path.join(os.path.dirname(sys.executable), name)
    if not os.path.exists(path):
        pytest.skip(name + " is not installed")
    return path


def starts(folder):
    """Commands by name."""
    script = folder / "console-script"
    script.write_text("#!%s\nimport training\ntraining.main()\n" % sys.executable)
    script.chmod(0o755)
    return {
        "script": [sys.executable, "training.py"],
        "module": [sys.executable, "-m", "training"],
        "inline": [sys.executable, "-c", "import training; training.main()"],
        "shell": ["bash", "-c", "cd .; %s training.py; exit $?" % sys.executable],
        "console script": [str(script)],
        "spawn": [sys.executable, "spawned.py"],
    }


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "training.py").write_text(TRAINING)
    (tmp_path / "spawned.py").write_text(SPAWNED)
    return tmp_path


def watch(fullbore, folder, command, **environment):
    whole = [fullbore, "run", "--quiet", "--out", str(folder / "run"), "--", *command]
    environment = dict(os.environ, PYTHONPATH=str(folder), **environment)
    return subprocess.run(whole, cwd=str(folder), capture_output=True, text=True, timeout=120, env=environment)


def ranks(folder):
    return sorted(entry.name for entry in (folder / "run").iterdir() if entry.is_dir())


@pytest.mark.parametrize("name", ["script", "module", "inline", "shell", "console script", "spawn"])
def test_the_training_is_seen_however_it_is_started(fullbore, folder, name):
    done = watch(fullbore, folder, starts(folder)[name])
    assert (done.returncode, done.stderr) == (0, "")
    assert ranks(folder) == ["rank-0"]
    assert "hook" not in launching.missing(folder / "run")


def torchrun():
    """As --standalone, which asks for "localhost": an empty Debian has no /etc/hosts, and torchrun then waits for ever."""
    here = ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
    return [tool("torchrun"), *here, "--nproc-per-node", "2", "training.py"]


def test_torchrun_starts_two_ranks_and_both_are_seen(fullbore, folder):
    done = watch(fullbore, folder, torchrun())
    assert done.returncode == 0, done.stderr
    assert ranks(folder) == ["rank-0", "rank-1"]


def test_torchruns_failure_passes_through(fullbore, folder):
    assert watch(fullbore, folder, torchrun(), FAILING_RANK="1").returncode == 1


def test_accelerate_launch_is_seen(fullbore, folder):
    command = [tool("accelerate"), "launch", "--cpu", "--num_processes", "1", "--num_machines", "1", "training.py"]
    done = watch(fullbore, folder, command)
    assert done.returncode == 0, done.stderr
    assert ranks(folder) == ["rank-0"]


def test_a_program_that_is_not_python_is_watched_from_the_system_alone(fullbore, folder):
    assert watch(fullbore, folder, ["sleep", "0.3"]).returncode == 0
    assert launching.missing(folder / "run")["hook"] == "no process of the command reported through it"
    assert (folder / "run" / "system.fbr").stat().st_size > 100
