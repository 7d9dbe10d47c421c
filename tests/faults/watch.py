"""Runs a case's script under Fullbore and returns what was found. Whether that is right is not asked here."""

import contextlib
import inspect
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from .case import SCRIPTS
from .conditions import Refused

ROOT = Path(__file__).resolve().parents[2]


class NotRun(Exception):
    """The case could not be run as it must be; the text says why."""


def fullbore():
    return os.environ.get("FULLBORE_BIN") or str(ROOT / "build" / "dev" / "fullbore" / "bin" / "fullbore")


def settings(run):
    """(what the conditions are given, the script's options) of a run."""
    named = set(inspect.signature(run.case.conditions).parameters) - {"cache"}
    values = run.variation.values
    options = []
    for name, value in values.items():
        if name not in named:
            options += ["--" + name.replace("_", "-"), str(value)]
    return {name: values[name] for name in named if name in values}, options


@contextlib.contextmanager
def prepared(run, cache):
    """Makes the files, then the conditions, which may hide or slow them; yields the script's arguments and what the
    child calls before it runs."""
    limits, options = settings(run)
    paths = [str(run.case.seen_at(cache, make(cache))) for make in run.case.materials]
    with contextlib.ExitStack() as stack:
        try:
            enter = [stack.enter_context(condition) for condition in run.case.conditions(cache, **limits)]
        except Refused as reason:
            raise NotRun(str(reason)) from reason
        yield paths + options, lambda: [join() for join in enter]


def watch(run, cache, folder, options=(), timeout_s=240):
    """The report of one run of the script, as a dictionary. `options` are further ones of `fullbore run`."""
    with prepared(run, cache) as (arguments, enter):
        command = [
            fullbore(),
            "run",
            "--quiet",
            "--out",
            str(folder),
            *options,
            "--",
            sys.executable,
            str(run.case.path()),
        ]
        code, errors = _ended(command + arguments, enter, timeout_s)
    if (code != 0) != run.case.fails:
        raise NotRun("the script ended with %d: %s" % (code, errors.strip().splitlines()[-1:]))
    return report(folder)


def _ended(command, enter, timeout_s):
    """(exit code, stderr) of the command, which is ended with all its children after `timeout_s`."""
    try:
        started = subprocess.Popen(
            command,
            preexec_fn=enter,
            cwd=SCRIPTS,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except subprocess.SubprocessError as error:
        raise NotRun("a condition was refused: %s" % error) from error
    try:
        _, errors = started.communicate(timeout=timeout_s)
    except BaseException as error:
        _end_session(started)
        if isinstance(error, subprocess.TimeoutExpired):
            raise NotRun("it took longer than %d s" % timeout_s) from error
        raise
    return started.returncode, errors


def _end_session(started):
    """Ends the process and all that belong to its session: the training has a process group of its own."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[3]) == started.pid:
                os.kill(int(status.parent.name), signal.SIGKILL)
    started.communicate()


def report(folder):
    done = subprocess.run([fullbore(), "report", str(folder), "--json"], capture_output=True, text=True)
    if done.returncode:
        raise NotRun("no report can be made: " + done.stderr.strip())
    return json.loads(done.stdout)


def found(report_):
    """What of a report is kept: small, and enough to judge it again."""
    causes = [
        {
            "cause": cause["cause"],
            "stage": cause["stage"],
            "share": cause["share"],
            "where": _where(cause["where"]),
            "gain": cause["gain"],
            "settings": (cause["fix"] or {}).get("settings") or [],
        }
        for cause in report_["causes"]
    ]
    account = report_["account"] or {}
    shares = [account[part]["share"] for part in ("other", "unknown") if account.get(part)]
    return {
        "verdict": report_["verdict"],
        "causes": causes,
        "step_ms": report_["step_ms"],
        "steps": (report_["steps"] or {}).get("count"),
        "unexplained": sum(shares) if shares else None,
        "neighbour_cores": ((report_["system"] or {}).get("cpu") or {}).get("neighbour_cores"),
        "missing": report_["missing"],
    }


def _where(where):
    return {"file": Path(where["file"]).name, "line": where["line"]} if where else None
