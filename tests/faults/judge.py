"""Whether what was found is what a person says must be found."""

import dataclasses
from typing import Sequence

from .case import place

SILENT = ("compute_bound", "insufficient_data")  # verdicts that name no fault

RIGHT, NAMED, WRONG, MISSED, FALSE_ALARM, NOT_RUN = "right", "named", "wrong", "missed", "false alarm", "not run"


@dataclasses.dataclass(frozen=True)
class Judgement:
    outcome: str
    why: Sequence[str] = ()  # what is not as expected, in words

    @property
    def in_three(self):
        return self.outcome in (RIGHT, NAMED)


def judge(run, found):
    """`found` is what watch.found() kept, or {"not_run": reason}.

    right: cause, stage and line of the first cause agree. named: they agree for one of the first three. missed: a
    fault, and the report names none. wrong: it names others only. false alarm: the script is healthy and a cause is
    named."""
    if "not_run" in found:
        return Judgement(NOT_RUN, [found["not_run"]])
    expected, verdict, causes = run.expected, found["verdict"], found["causes"]
    accepted = (expected.cause, *expected.instead)
    named = [cause for cause in causes if cause["cause"] not in SILENT]
    if expected.healthy:
        if named:
            return Judgement(FALSE_ALARM, ["names %s (%.0f %%)" % (named[0]["cause"], 100 * (named[0]["share"] or 0))])
        fits = verdict["cause"] in accepted
        return Judgement(RIGHT if fits else WRONG, [] if fits else ["says %s" % verdict["cause"]])
    if not named:
        return Judgement(MISSED, ["says %s" % verdict["cause"]])
    first = _differences(run, accepted, named[0]) + _unwanted(expected, named)
    if not first:
        return Judgement(RIGHT)
    if any(not _differences(run, accepted, cause) for cause in named[:3]):
        return Judgement(NAMED, first)
    return Judgement(WRONG, first)


def _differences(run, accepted, cause):
    expected, wrong = run.expected, []
    if cause["cause"] not in accepted:
        return ["names %s" % cause["cause"]]
    of_its_own = cause["cause"] == expected.cause
    if of_its_own and expected.stage is not None and (cause["stage"] or "") != expected.stage:
        wrong.append("stage %s instead of %s" % (cause["stage"] or "none", expected.stage))
    if expected.at is not None:
        file, line = place(run.case, expected.at)
        where = cause["where"] or {"file": "no line", "line": 0}
        if (where["file"], where["line"]) != (file, line):
            wrong.append("%s:%d instead of %s:%d" % (where["file"], where["line"], file, line))
    return wrong


def _unwanted(expected, named):
    """What is wrong with the rest of the report, although its first cause is right."""
    ids = [cause["cause"] for cause in named]
    wrong = ["also names %s" % cause for cause in expected.silent if cause in ids]
    if expected.second is not None and expected.second not in ids[1:3]:
        wrong.append("%s is not named second" % expected.second)
    return wrong
