"""Injects faults for real and compares Fullbore's verdict with the hand-written expectation.

    run.py [--only NAME ...] [--keep] [--record]

--record stores the run as the golden case tests/golden/NAME (a hand-written expect.json must be there and agree)."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import conditions
import places
import suite

ROOT = suite.HERE.parent.parent
GOLDEN = ROOT / "tests" / "golden"


def fullbore():
    return os.environ.get("FULLBORE_BIN") or str(ROOT / "build" / "dev" / "fullbore" / "bin" / "fullbore")


def watch(case, cache, folder):
    """Runs the case's script under Fullbore; returns its report."""
    arguments = case.arguments(cache)
    with case.prepared(cache) as enter:
        command = [fullbore(), "run", "--quiet", "--out", str(folder), "--", sys.executable, str(case.script), *arguments]
        done = subprocess.run(command, preexec_fn=enter, cwd=case.script.parent, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL if case.fails else None)
    if (done.returncode != 0) != case.fails:
        raise SystemExit("%s ended with %d" % (case.name, done.returncode))
    return report(folder)


def report(folder):
    text = subprocess.run([fullbore(), "report", str(folder), "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def differences(found, expected):
    """What of the expectation the report does not say: list of sentences, empty when it agrees."""
    verdict = found["verdict"]
    wrong = []
    for key in ("cause", "stage"):
        if key in expected and (verdict[key] or "") != expected[key]:
            wrong.append("%s is %r, should be %r" % (key, verdict[key], expected[key]))
    if "line" in expected:
        first = found["causes"][0] if found["causes"] else {}
        where = first.get("where") or {}
        place = "%s:%s" % (Path(where.get("file", "?")).name, where.get("line"))
        if place != expected["line"]:
            wrong.append("line is %s, should be %s" % (place, expected["line"]))
    for part in expected.get("silent", ()):
        if any(cause["cause"] == part for cause in found["causes"]):
            wrong.append("names %s, which is not there" % part)
    return wrong


def record(case, folder, cache):
    target = GOLDEN / case.name / "run"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("report.*"))
    info = json.loads((target / "run.json").read_text())
    info["host"] = "recorder"  # a stored run says nothing of who stored it, nor where
    (target / "run.json").write_text(json.dumps(info, indent=2, sort_keys=True) + "\n")
    python = Path(sys.executable).parent.parent
    places.move(target, [(str(python), "/srv/fullbore/.venv"), (str(cache), "/srv/data"), (str(ROOT), "/srv/fullbore")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME")
    parser.add_argument("--keep", metavar="DIR", help="keep the run folders here")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "faults")
    options = parser.parse_args()
    failed = 0
    for case in suite.CASES:
        if options.only and case.name not in options.only:
            continue
        base = Path(options.keep or tempfile.mkdtemp(prefix="fullbore-fault-"))
        folder = base / case.name
        shutil.rmtree(folder, ignore_errors=True)
        try:
            found = watch(case, options.cache, folder)
        except conditions.Refused as reason:
            print("%-20s not run: %s" % (case.name, reason), flush=True)
            continue
        expected = json.loads((GOLDEN / case.name / "expect.json").read_text())
        wrong = differences(found, expected)
        failed += bool(wrong)
        print("%-20s %s" % (case.name, "; ".join(wrong) or "right"), flush=True)
        print("    " + found["verdict"]["summary"], flush=True)
        if options.record and not wrong:
            record(case, folder, options.cache)
        if not options.keep:
            shutil.rmtree(base)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
