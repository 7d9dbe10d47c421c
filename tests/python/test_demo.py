"""scripts/demo does what it promises: names the mistake, fixes it unedited, shows both runs side by side.

How much was gained is for the screen, not for a test: on a busy machine it may be nothing.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples/train_images.py"


def loader_line():
    lines = SCRIPT.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if "num_workers=0" in line)


@pytest.fixture(scope="module")
def demo():
    content = SCRIPT.read_bytes()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "FULLBORE_BIN")}
    ran = subprocess.run([ROOT / "scripts/demo"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-8000:]
    assert SCRIPT.read_bytes() == content
    return ran.stdout


def report(demo, which):
    folder = re.search(rf"fullbore-runs/\S+-{which}", demo)[0]
    program = ROOT / "build/release/fullbore/bin/fullbore"
    shown = subprocess.run([program, "report", folder, "--json"], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)


@pytest.mark.slow
def test_the_demo_names_the_mistake_with_its_line(demo):
    first = report(demo, "before")["causes"][0]
    assert first["cause"] == "no_workers"
    assert f"train_images.py:{loader_line()}" in demo


@pytest.mark.slow
def test_the_demo_applies_the_fix_without_a_changed_byte(demo):
    applied = {action["name"]: action for action in report(demo, "after")["fix_applied"]["actions"]}
    assert (applied["num_workers"]["outcome"], applied["num_workers"]["before"]) == ("applied", "0")
    assert int(applied["num_workers"]["after"]) > 0


@pytest.mark.slow
def test_the_demo_ends_with_both_runs_side_by_side_and_says_what_is_emulated(demo):
    assert re.search(r"^samples/s +[\d.,]+ +[\d.,]+ +[\d.]+x$", demo, re.MULTILINE)
    assert "emulated accelerator" in demo or "training a ResNet-50" in demo
    assert "times by source line: by " in demo
