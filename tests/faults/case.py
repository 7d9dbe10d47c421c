"""A case is a training script with a known fault, what a person says must be found, and the values in which it
varies. All of it is data: nothing here runs anything."""

import dataclasses
import random
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

SCRIPTS = Path(__file__).resolve().parent / "cases"


@dataclasses.dataclass(frozen=True)
class Expected:
    """Written by hand from what the script does, never from what a report says."""

    cause: str
    stage: Optional[str] = None  # None: the fault has no stage
    at: Optional[str] = None  # a text that one line of the script has, or "other.py: text"; None: no line is to blame
    second: Optional[str] = None  # of two faults at once, the smaller
    instead: Sequence[str] = ()  # causes that are as right as `cause`, in whatever stage
    silent: Sequence[str] = ()  # causes that the report must not name
    healthy: bool = False  # nothing is wrong: no cause may be named at all


@dataclasses.dataclass(frozen=True)
class Variation:
    name: str  # empty for the script as it stands
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    expected: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # what it changes in the expectation


def vary(name, expected=None, **values):
    return Variation(name, values, expected or {})


@dataclasses.dataclass(frozen=True)
class Range:
    """What a value may be drawn from: one of `values`, or a number from `low` to `high`."""

    values: Sequence[Any] = ()
    low: float = 0.0
    high: float = 0.0

    def draw(self, rng):
        if self.values:
            return rng.choice(self.values)
        value = rng.uniform(self.low, self.high)
        return round(value) if isinstance(self.low, int) else round(value, 3)


def one_of(*values):
    return Range(values=values)


def between(low, high):
    return Range(low=low, high=high)


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    expected: Expected
    script: str = ""  # without .py; the name of the case unless given
    materials: Sequence[Callable] = ()  # each makes its files below a cache folder and returns where they are
    # (cache, values it names) -> context managers that limit or slow the machine; the other values go to the script
    conditions: Callable = lambda cache: ()
    seen_at: Callable = lambda cache, folder: folder  # where the script finds a material
    variations: Sequence[Variation] = ()
    ranges: Mapping[str, Range] = dataclasses.field(default_factory=dict)
    by_data: Mapping[str, Mapping[str, Any]] = dataclasses.field(
        default_factory=dict
    )  # what `data` changes in the expectation
    judged_on: str = "steady"  # the account in which a gain shows: steady or whole
    fails: bool = False  # the script ends with an error
    fix: bool = False  # `--fix` can apply what the report must recommend
    ci: bool = False  # the script as it stands is among the few that CI runs

    def path(self):
        return SCRIPTS / ((self.script or self.name) + ".py")


@dataclasses.dataclass(frozen=True)
class Run:
    """One variation of a case, to be run once."""

    case: Case
    variation: Variation
    repeat: int = 0

    @property
    def id(self):
        name = ".".join(part for part in (self.case.name, self.variation.name) if part)
        return name + ("#%d" % self.repeat if self.repeat else "")

    @property
    def expected(self):
        changes = {**self.case.by_data.get(self.variation.values.get("data"), {}), **self.variation.expected}
        return dataclasses.replace(self.case.expected, **changes)


def drawn(case, seed):
    """A variation that nobody tuned anything to: each value from its range. The same seed gives the same values,
    whatever other cases there are."""
    rng = random.Random("%s %s" % (seed, case.name))
    return Variation("seed%s" % seed, {name: case.ranges[name].draw(rng) for name in sorted(case.ranges)})


def few(case, seed):
    """The script as it stands and one more of its variations, which the seed draws."""
    first, *others = case.variations or [Variation("")]
    return [first, *random.Random("%s of %s" % (seed, case.name)).sample(others, min(1, len(others)))]


def runs(cases, seed=None, repeat=1, all_of_them=True):
    """Every run of these cases, the variations of a case one after the other, repeats last."""
    once = []
    for case in cases:
        variations = [*(case.variations or [Variation("")])] if all_of_them else few(case, seed)
        if seed is not None and case.ranges:
            variations.append(drawn(case, seed))
        once += [(case, variation) for variation in variations]
    return [Run(case, variation, k) for k in range(repeat) for case, variation in once]


def place(case, at):
    """(file name, line number) of the one line that has the text `at`."""
    file, found, text = at.partition(".py: ")
    path, text = (SCRIPTS / (file + ".py"), text) if found else (case.path(), at)
    lines = [number for number, line in enumerate(path.read_text().splitlines(), start=1) if text in line]
    if len(lines) != 1:
        raise ValueError("%r stands on %d lines of %s, not on one" % (text, len(lines), path.name))
    return path.name, lines[0]
