"""Adds up JUnit files and prints `N passed, N failed, N skipped`; fails when a test did, or when none ran.

    sum_results.py FOLDER [--no-skips] [NAME of a step that failed ...]

What NAME.again.xml holds is a second try of tests that failed in NAME.xml: one that passes then is named, so that nobody
takes it for a sound one, and counts as passed.

A step that failed without leaving a failed test behind (a crash of the runner, say) counts as one failure, so that no
such step can pass for a green one.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def outcome(case):
    tags = {child.tag for child in case}
    if tags & {"failure", "error"} or case.get("status") == "fail":
        return "failed"
    return "skipped" if "skipped" in tags or case.get("status") in ("notrun", "disabled") else "passed"


def name_of(case):
    return ".".join(part for part in (case.get("classname"), case.get("name")) if part)


def read_results(folder):
    """(outcome, name) of every test, and for each file the number that failed."""
    results, failures = [], {}
    for path in sorted(Path(folder).glob("*.xml")):
        if path.stem.endswith(".again"):
            continue
        cases = [(outcome(case), name_of(case)) for case in ElementTree.parse(path).iter("testcase")]
        second = second_try(path.with_suffix(".again.xml"))
        cases = [(second.get(name, result) if result == "failed" else result, name) for result, name in cases]
        results += cases
        failures[path.stem] = sum(result in ("failed", "passed late") for result, _ in cases)
    return results, failures


def second_try(path):
    """Name of each test that passed then: "passed late"."""
    if not path.exists():
        return {}
    cases = [(outcome(case), name_of(case)) for case in ElementTree.parse(path).iter("testcase")]
    failed = {name for result, name in cases if result == "failed"}
    return {name: "passed late" for result, name in cases if result == "passed" and name not in failed}


def main(folder, *arguments):
    forbid_skips = "--no-skips" in arguments
    results, failures = read_results(folder)
    failed = [name for result, name in results if result == "failed"]
    failed += [f"{step} (ended without a result)" for step in arguments if step != "--no-skips" and not failures.get(step)]
    skipped = [name for result, name in results if result == "skipped"]
    if forbid_skips:
        failed += [f"{name} (skipped where it must run)" for name in skipped]
        skipped = []
    for result, name in results:
        if result == "passed late":
            print(f"passed at the second try only: {name}")
    for name in failed:
        print(f"failed: {name}")
    passed = sum(result in ("passed", "passed late") for result, _ in results)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
