"""scripts/demo does what it promises on this machine: names the mistake, fixes it unedited, measures the gain."""

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
def test_the_demo_names_the_mistake_with_stage_and_line(demo):
    first = report(demo, "before")["causes"][0]
    assert (first["cause"], first["stage"]) == ("no_workers", "decode")
    assert f"train_images.py:{loader_line()}" in demo
    assert "no_workers" in demo


@pytest.mark.slow
def test_the_fixed_run_of_the_demo_is_faster_with_no_byte_of_the_script_changed(demo):
    before, after = report(demo, "before"), report(demo, "after")
    assert after["steps"]["samples_per_s"] > before["steps"]["samples_per_s"]
    assert after["fix"]
