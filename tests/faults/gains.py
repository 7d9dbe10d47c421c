"""Predicted against measured: a script as it is and with what its report recommends, in turns, so that a machine that
gets busier hurts both alike."""

import statistics
import tempfile
from pathlib import Path

from . import watch


def measure(run, cache, pairs=3, first=None):
    """Runs as-is and `--fix=RUN` in turns; `first` is the folder of an as-is run that was just made. Step times in ms of
    the account in which the gain shows; what the first cause's gain was said to be, as factors, each None where the
    report says none."""
    before, after, said = [], [], []
    with tempfile.TemporaryDirectory(prefix="fullbore-fault-") as base:
        for k in range(pairs):
            plain, fixed = Path(base) / ("plain%d" % k), Path(base) / ("fixed%d" % k)
            if first is not None and k == 0:
                plain, report = first, watch.report(first)
            else:
                report = watch.watch(run, cache, plain)
            cause = report["causes"][0] if report["causes"] else None
            if cause is None or not (cause["fix"] or {}).get("settings"):
                raise watch.NotRun("the report recommends no setting (%s)" % report["verdict"]["cause"])
            repaired = watch.watch(run, cache, fixed, ["--fix=%s" % plain])
            before.append(report["step_ms"][run.case.judged_on])
            after.append(repaired["step_ms"][run.case.judged_on])
            gain = cause["gain"] or {}
            said.append({"cause": cause["cause"], "predicted": gain.get("predicted"), "max": gain.get("max")})
    if None in before + after:
        raise watch.NotRun("a step was not measured")
    return {"before_ms": before, "after_ms": after, "said": said}


def summary(gain):
    """Factors of the median pair: measured, predicted, at most, and the error of the predicted step after the fix,
    relative to the measured one. None where nothing was predicted."""
    pairs = list(zip(gain["before_ms"], gain["after_ms"], gain["said"]))
    return {
        "measured": _median(before / after for before, after, _ in pairs),
        "predicted": _median(said["predicted"] for _, _, said in pairs if said["predicted"]),
        "bound": _median(said["max"] for _, _, said in pairs if said["max"]),
        "error": _median(
            abs(before / said["predicted"] - after) / after for before, after, said in pairs if said["predicted"]
        ),
    }


def _median(values):
    values = list(values)
    return statistics.median(values) if values else None
