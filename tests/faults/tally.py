"""Counts judgements: per kind and together, what was taken for what, how often the same run gave another answer."""

import collections
import dataclasses
import statistics

from . import judge


@dataclasses.dataclass
class Row:
    """One kind of fault, or all healthy scripts."""

    runs: int = 0
    right: int = 0
    in_three: int = 0
    missed: int = 0
    not_run: int = 0
    taken_for: collections.Counter = dataclasses.field(default_factory=collections.Counter)


def kind_of(run):
    return "(healthy)" if run.expected.healthy else run.expected.cause


def rows(judged):
    """{kind: Row} from [(run, found, judgement)], in the order of the runs, the healthy ones last."""
    table = {}
    for run, found, judgement in judged:
        row = table.setdefault(kind_of(run), Row())
        if judgement.outcome == judge.NOT_RUN:
            row.not_run += 1
            continue
        row.runs += 1
        row.right += judgement.outcome == judge.RIGHT
        row.in_three += judgement.in_three
        row.missed += judgement.outcome == judge.MISSED
        if judgement.outcome != judge.RIGHT:
            row.taken_for[found["verdict"]["cause"]] += 1
    return dict(sorted(table.items(), key=lambda item: item[0] == "(healthy)"))


@dataclasses.dataclass
class Totals:
    faulty: int
    right: int
    in_three: int
    missed: int
    wrong: int
    healthy: int
    false_alarms: int
    not_run: int


def totals(judged):
    of = collections.Counter((run.expected.healthy, judgement.outcome) for run, _, judgement in judged)
    faulty = {outcome: count for (healthy, outcome), count in of.items() if not healthy and outcome != judge.NOT_RUN}
    healthy = {outcome: count for (healthy, outcome), count in of.items() if healthy and outcome != judge.NOT_RUN}
    right = faulty.get(judge.RIGHT, 0)
    return Totals(
        sum(faulty.values()),
        right,
        right + faulty.get(judge.NAMED, 0),
        faulty.get(judge.MISSED, 0),
        faulty.get(judge.WRONG, 0),
        sum(healthy.values()),
        healthy.get(judge.FALSE_ALARM, 0),
        sum(count for (_, outcome), count in of.items() if outcome == judge.NOT_RUN),
    )


def flakes(judged):
    """(runs that gave another outcome than most runs of the same variation, runs of variations that ran more than
    once)."""
    outcomes = collections.defaultdict(list)
    for run, _, judgement in judged:
        if judgement.outcome != judge.NOT_RUN:
            outcomes[run.case.name, run.variation.name].append(judgement.outcome)
    repeated = [seen for seen in outcomes.values() if len(seen) > 1]
    odd = sum(len(seen) - max(collections.Counter(seen).values()) for seen in repeated)
    return odd, sum(len(seen) for seen in repeated)


def spread(values):
    """(median, 90th percentile) of relative errors; None of none."""
    if not values:
        return None
    ordered = sorted(values)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
