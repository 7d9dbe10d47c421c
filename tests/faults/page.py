"""Writes what was counted: a few lines for the terminal, docs/faults.md for the reader."""

import importlib.metadata
import os
import platform
import subprocess
import time
from pathlib import Path

from . import gains, judge, tally, watch

INTRODUCTION = """\
# How often the verdict is right

`scripts/faults` runs training scripts that have a known fault, in ordinary PyTorch, and compares the report with what
a person wrote down beforehand from what the script does: cause, stage and, where the fault has one, the line. The
faults are real: control groups limit CPU, memory and disk, a FUSE file system is slow, files are many and small,
other programs read the same disk, batches do not fit into /dev/shm. Scripts sleep only where that stands for a
service far away, and the accelerator is [emulated](emulated-accelerator.md), but for the scripts that need an NVIDIA
GPU. Each kind comes in variations: sizes, start method, map-style and iterable data sets, pictures, text and tables, a
plain loop and one inside a trainer, a model on the accelerator and one on the CPU. Variations named `seedN` have values
drawn at random from ranges that no rule was tuned to. What this machine does not permit is *not run*, never passed.

*right*: the first cause agrees in all of these. *in three*: one of the first three causes does. *missed*: a fault,
and the report names none. *wrong*: it names others only. *false alarm*: a healthy script, and a cause is named.
"""


def machine():
    """What the numbers depend on, as (name, text)."""
    memory = next(
        line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal")
    )
    processor = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    program = subprocess.run([watch.fullbore(), "--version"], capture_output=True, text=True).stdout
    return [
        ("date", time.strftime("%Y-%m-%d", time.gmtime())),
        ("cores", str(len(os.sched_getaffinity(0)))),
        ("processor", processor[0] if processor else platform.machine()),
        ("memory", "%d GiB" % round(int(memory) / 2**20)),
        ("kernel", platform.release().partition("-")[0]),
        ("Python", platform.python_version()),
        ("torch", importlib.metadata.version("torch")),
        ("Fullbore", program.strip()),
    ]


def percent(part, whole):
    return "%.0f %%" % (100 * part / whole) if whole else "n/a"


def tried_again(judged):
    return sum(found.get("tries", 1) > 1 for _, found, _ in judged)


def sentence(judged):
    """The whole suite in one line."""
    all_ = tally.totals(judged)
    faulty = "%d faulty runs: %s right, %s in three, %d missed, %d wrong" % (
        all_.faulty,
        percent(all_.right, all_.faulty),
        percent(all_.in_three, all_.faulty),
        all_.missed,
        all_.wrong,
    )
    healthy = "%d healthy runs: %d false alarms" % (all_.healthy, all_.false_alarms)
    again = ", %d tried again" % tried_again(judged) if tried_again(judged) else ""
    return "%s; %s; %d not run%s" % (faulty, healthy, all_.not_run, again)


def misses(judged):
    """[(id, outcome, why)] of all that ran and is not right."""
    return [
        (run.id, judgement.outcome, "; ".join(judgement.why))
        for run, _, judgement in judged
        if judgement.outcome not in (judge.RIGHT, judge.NOT_RUN)
    ]


def _not_run(reasons):
    """One line for each reason, of [(id, reason)]."""
    by_reason = {}
    for id_, reason in reasons:
        by_reason.setdefault(reason, []).append(id_)
    return [line for reason, ids in by_reason.items() for line in ("Not run, %s: %s." % (reason, ", ".join(ids)), "")]


def _table(head, lines):
    return [
        "| %s |" % " | ".join(head),
        "|%s" % (" --- |" * len(head)),
        *("| %s |" % " | ".join(line) for line in lines),
        "",
    ]


def _matrix(judged):
    lines = []
    for kind, row in tally.rows(judged).items():
        others = ", ".join("%s %d" % item for item in row.taken_for.most_common())
        lines.append([kind, str(row.runs), str(row.right), str(row.in_three), others, str(row.not_run or "")])
    return _table(["kind", "runs", "right", "in three", "first cause where not right", "not run"], lines)


def _predictions(measured):
    lines, errors = [], []
    for run, gain in measured:
        if "not_run" in gain:
            continue
        sums = gains.summary(gain)
        errors += [sums["error"]] if sums["error"] is not None else []
        factor = ["%.2fx" % sums[name] if sums[name] else "" for name in ("measured", "predicted", "bound")]
        lines.append([run.id, *factor, "%.0f %%" % (100 * sums["error"]) if sums["error"] is not None else ""])
    spread = tally.spread(errors)
    said = (
        "Error of the predicted step after the change, relative to the measured one: median %.1f %%, "
        "90th percentile %.1f %%, of %d cases." % (100 * spread[0], 100 * spread[1], len(errors))
        if spread
        else "Nothing was predicted: the reports gave bounds only."
    )
    reasons = [(run.id, gain["not_run"]) for run, gain in measured if "not_run" in gain]
    return [said, "", *_table(["run", "measured", "predicted", "at most", "error"], lines), *_not_run(reasons)]


def _unexplained(judged):
    over = [(run.id, found["unexplained"]) for run, found, _ in judged if (found.get("unexplained") or 0) > 0.10]
    if not over:
        return ["In no run more than 10 % of the step were left unexplained.", ""]
    return [
        "More than 10 % of the step were left unexplained in "
        + ", ".join("%s (%.0f %%)" % (id_, 100 * share) for id_, share in over)
        + ".",
        "",
    ]


def _neighbours(judged):
    busy = [found["neighbour_cores"] for _, found, _ in judged if found.get("neighbour_cores") is not None]
    if not busy:
        return []
    worst = max(busy)
    return [
        "Other programs took %.2f cores on average while these ran, %.2f at most." % (sum(busy) / len(busy), worst),
        "",
    ]


def markdown(judged, measured, command):
    odd, repeated = tally.flakes(judged)
    lines = [INTRODUCTION, "## Result", "", sentence(judged) + ".", ""]
    lines += [
        "Written by `%s`." % command,
        "",
        *_table(["", ""], [list(item) for item in machine()]),
        *_neighbours(judged),
    ]
    lines += ["## By kind", "", *_matrix(judged), *_unexplained(judged)]
    if repeated:
        lines += [
            "Of %d runs of scripts that ran more than once %d gave another outcome than most (%s)."
            % (repeated, odd, percent(odd, repeated)),
            "",
        ]
    lines += ["## What was not right", "", *_table(["run", "outcome", "why"], [list(miss) for miss in misses(judged)])]
    lines += _not_run([(run.id, found["not_run"]) for run, found, _ in judged if "not_run" in found])
    if measured:
        lines += [
            "## Predicted and measured",
            "",
            "Each script ran as it is and with `--fix=RUN` in turns.",
            "",
            *_predictions(measured),
        ]
    return "\n".join(lines).rstrip() + "\n"
