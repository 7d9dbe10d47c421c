"""Runs the suite: scripts/faults, with the options below."""

import argparse
import re
import shlex
import signal
import sys
from pathlib import Path

from . import judge, kinds, page, results, watch
from .case import place, runs
from .suite import Suite


def options(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/faults", description="Injects faults for real and counts how often the verdict is right."
    )
    parser.add_argument(
        "--only", nargs="+", metavar="ID", help="cases or single variations: no_workers, no_workers.text"
    )
    parser.add_argument("--subset", choices=["ci", "base"], help="the few that CI runs; each script as it stands")
    parser.add_argument(
        "--seed", type=int, help="draws one variation of each case with values of its own, and which others run"
    )
    parser.add_argument("--all", action="store_true", help="every variation of each case, not just three")
    parser.add_argument("--repeat", type=int, default=1, metavar="K", help="run each K times")
    parser.add_argument(
        "--retry", type=int, default=0, metavar="K", help="run again, up to K times, what was not right"
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=0,
        metavar="K",
        help="also measure gains: K pairs as-is and fixed for each fix that can be applied",
    )
    parser.add_argument(
        "--resume", action="store_true", help="leave out what has a result of the same program and script"
    )
    parser.add_argument("--limit", type=_seconds, metavar="40m", help="start nothing after this time")
    parser.add_argument("--list", action="store_true", help="print the runs and what they must find, and end")
    parser.add_argument("--publish", action="store_true", help="write docs/faults.md")
    parser.add_argument(
        "--record",
        action="store_true",
        help="store each script as it stands as the golden run of its case, if it is right",
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the run folders")
    parser.add_argument(
        "--cache", type=Path, default=watch.ROOT / ".cache" / "faults", help="where data files and results are kept"
    )
    return parser.parse_args(arguments)


def _seconds(text):
    match = re.fullmatch(r"([0-9.]+)(s|m|h)", text)
    if not match:
        raise argparse.ArgumentTypeError("%r is not a time; write 90s, 40m or 2h" % text)
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


def selected(asked):
    all_of_them = asked.all or asked.only is not None or asked.seed is None
    everything = runs(kinds.all_cases(), asked.seed, asked.repeat, all_of_them)
    if asked.subset or asked.record:
        everything = [run for run in everything if not run.variation.name and (run.case.ci or asked.subset != "ci")]
    if asked.only:
        known = {name for run in everything for name in (run.case.name, run.id.partition("#")[0])}
        unknown = set(asked.only) - known
        if unknown:
            raise SystemExit("no such case: %s; --list prints them" % ", ".join(sorted(unknown)))
        everything = [
            run for run in everything if run.case.name in asked.only or run.id.partition("#")[0] in asked.only
        ]
    return everything


def print_list(wanted):
    for run in wanted:
        expected = run.expected
        parts = [
            expected.cause,
            expected.stage,
            expected.at and "%s:%d" % place(run.case, run.expected.at),
            expected.second and "then " + expected.second,
        ]
        print("%-36s %s" % (run.id, "  ".join(part for part in parts if part)))


def main(arguments):
    asked = options(arguments)
    wanted = selected(asked)
    if asked.list:
        return print_list(wanted)
    fixes = [run for run in wanted if run.case.fix and not run.repeat] if asked.pairs else []
    store = results.Results(asked.cache / "results", results.program_digest())
    judged, measured = Suite(asked, store).all(wanted, fixes)
    print(page.sentence(judged))
    text = page.markdown(judged, measured, " ".join(["scripts/faults", *map(shlex.quote, arguments)]))
    (asked.cache / "results" / "faults.md").write_text(text)
    if asked.publish:
        (watch.ROOT / "docs" / "faults.md").write_text(text)
    return 0 if all(judgement.outcome in (judge.RIGHT, judge.NOT_RUN) for _, _, judgement in judged) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # limits and mounts are taken back also then
    sys.exit(main(sys.argv[1:]))
