"""Every command that the documentation shows and that can run here is run, so that no page can promise what is gone.

Taken are the code blocks of README and docs, fenced or indented, and tables whose rows begin with a command. RUN, A
and B stand for recorded runs, `-- ...` for a training command; a command with another placeholder, and those of
NOT_RUN, are left out here.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("FULLBORE_BIN", ROOT / "build/dev/fullbore/bin/fullbore"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

# Beginning of the command -> why it is not run by this test.
NOT_RUN = {
    "fullbore ceilings": "needs a GPU; test_cli.py has what it says without one",
    "fullbore run -- torchrun": "starts several trainers; tests/python runs torchrun itself",
    "fullbore run -- accelerate": "starts several trainers; tests/python runs accelerate itself",
}
PLACEHOLDER = re.compile(r"\.\.\.|<\w+>|\[[-\w]|\b(?!RUN\b|A\b|B\b)[A-Z]{3,}\b(?!=)|\bCMD\b|\bDIR\b")

TRAIN = """
import time
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 240

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.ones(8), index % 2

loader = DataLoader(Numbers(), batch_size=8)
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs, labels in loader:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
"""


def code_lines(text):
    """(line number, text) of what stands in code blocks."""
    fenced, after_blank = False, True
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif row := re.match(r"\| `(fullbore [^`]+)`", line):
            yield number, row[1]
        elif fenced or (line.startswith("    ") and after_blank):
            yield number, line.strip()
            continue
        after_blank = not line.strip() or (after_blank and line.startswith("    "))


def commands():
    for page in PAGES:
        for number, line in code_lines(page.read_text()):
            command = re.sub(r"^\$ ", "", line)
            if re.match(r"fullbore( |$)", command):
                yield pytest.param(command, id=f"{page.relative_to(ROOT)}:{number}")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with train.py and two recorded runs of it."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "train.py").write_text(TRAIN)
    for _ in range(2):
        run = shell("fullbore run -- python train.py", folder)
        assert run.returncode == 0, run.stderr
    return folder


def shell(command, folder):
    path = os.pathsep.join([str(PROGRAM.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(PROGRAM.parents[2])}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)  # fmt: skip


def filled(command):
    """The command with recorded runs for its placeholders, or None when others are left."""
    command = re.sub(r"\s+#.*$", "", command)
    command = re.sub(r"-- \.\.\.$", "-- python train.py", command)
    command = re.sub(r"\bcompare A B\b", "compare last~1 last", re.sub(r"\bRUN\b", "last", command))
    return None if PLACEHOLDER.search(command) or command.startswith(tuple(NOT_RUN)) else command


def test_the_readme_shows_commands():
    assert "scripts/demo" in (ROOT / "README.md").read_text()


def test_links_between_pages_lead_somewhere():
    broken = []
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken


@pytest.mark.parametrize(
    "subcommand, page",
    [("run", "run"), ("run", "fix"), ("report", "report"), ("compare", "compare"), ("runs clean", "runs"), ("pack", "pack"),
     ("bench", "bench"), ("ceilings", "ceilings")],
)
def test_every_option_has_a_place_in_the_documentation(subcommand, page):
    shown = shell(f"fullbore {subcommand} --help", ROOT).stdout
    options = set(re.findall(r"(?<![\w-])--[a-z][-a-z]+", shown)) - {"--help", "--version"}
    if subcommand == "run":
        options = {option for option in options if (option == "--fix") == (page == "fix")}
    assert options
    text = (ROOT / "docs" / f"{page}.md").read_text()
    assert not sorted(option for option in options if option not in text)


@pytest.mark.parametrize("command", list(commands()))
def test_a_command_of_the_documentation_runs(command, recorded, tmp_path):
    command = filled(command)
    if command is None:
        pytest.skip("has a placeholder, or needs what this test does not have")
    folder = tmp_path / "work"
    shutil.copytree(recorded, folder)
    result = shell(command, folder)
    expected = (0, 3, 4) if "--fail-above" in command else (0,)
    assert result.returncode in expected, result.stderr
