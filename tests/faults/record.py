"""Stores a run as the golden case of its name, with what a person expects of it. The stored case says nothing of who
recorded it, nor where."""

import json
import shutil
import sys
from pathlib import Path

from . import places, watch
from .case import place

GOLDEN = watch.ROOT / "tests" / "golden"


def store(run, folder, cache):
    target = GOLDEN / run.case.name / "run"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("report.*"))
    info = json.loads((target / "run.json").read_text())
    info["host"] = "recorder"
    (target / "run.json").write_text(json.dumps(info, indent=2, sort_keys=True) + "\n")
    python = Path(sys.executable).parent.parent
    places.move(
        target, [(str(python), "/srv/fullbore/.venv"), (str(cache), "/srv/data"), (str(watch.ROOT), "/srv/fullbore")]
    )
    (target.parent / "expect.json").write_text(json.dumps(_expectation(run), indent=2) + "\n")


def _expectation(run):
    expected = run.expected
    line = {"line": "%s:%d" % place(run.case, expected.at)} if expected.at else {}
    return {
        "cause": expected.cause,
        **({"stage": expected.stage} if expected.stage else {}),
        **line,
        **({"silent": list(expected.silent)} if expected.silent else {}),
    }
