"""A stored run in, a report out: each folder here is one case.

run/ is the run folder as it was recorded, report.json and report.txt are what Fullbore makes of it, and expect.json is
what a person says must come out: cause, stage, the line to change, and causes that must stay silent. A case without
run/ has not been recorded yet.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = os.environ.get("FULLBORE_BIN") or str(ROOT / "build/dev/fullbore/bin/fullbore")
CASES = sorted(path.parent.name for path in HERE.glob("*/expect.json"))
SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text())


def report(case, *options):
    """What `fullbore report` prints for the case, the same on every machine."""
    folder = HERE / case
    if not (folder / "run" / "run.json").exists():
        pytest.skip("no run of %s is stored yet" % case)
    environment = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "COLUMNS": "100", "NO_COLOR": "1"}
    command = [PROGRAM, "report", "run", *options]
    done = subprocess.run(command, cwd=str(folder), env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture
def stored(request):
    """Compares text with a file of the case, or writes it there with --update."""

    def check(case, name, text):
        path = HERE / case / name
        if request.config.getoption("--update", default=False):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), "%s is missing; pytest tests/golden --update writes it" % path
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.mark.parametrize("case", CASES)
def test_what_a_person_expects(case):
    verdict = json.loads(report(case, "--json"))
    expected = json.loads((HERE / case / "expect.json").read_text())
    assert verdict["verdict"]["cause"] == expected["cause"]
    if "stage" in expected:
        assert (verdict["verdict"]["stage"] or "") == expected["stage"]
    if expected.get("line"):
        where = verdict["causes"][0]["where"]
        assert "%s:%d" % (os.path.basename(where["file"]), where["line"]) == expected["line"]
    named = {cause["cause"] for cause in verdict["causes"]}
    assert not named & set(expected.get("silent", []))


@pytest.mark.parametrize("case", CASES)
def test_nine_tenths_of_a_step_have_a_name(case):
    account = json.loads(report(case, "--json"))["account"]
    unnamed = [part["share"] for part in (account["other"], account["unknown"]) if part]
    assert sum(unnamed) <= 0.1


@pytest.mark.parametrize("case", CASES)
def test_json(case, stored):
    text = report(case, "--json")
    stored(case, "report.json", text)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(text), SCHEMA)


@pytest.mark.parametrize("case", CASES)
def test_text(case, stored):
    stored(case, "report.txt", report(case))
