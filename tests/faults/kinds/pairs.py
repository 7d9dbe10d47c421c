"""Two faults at once: the larger must come first and the smaller be named. Which is larger, by a factor of two or
more on an idle machine, follows from what each costs a step: a batch in one process 80 ms, a checkpoint some 250 ms,
a round trip what it is told, a validation batch a step."""

from ..case import Case, Expected, vary


def _pair(name, first, second, **values):
    return Case(
        name,
        Expected(first, second=second),
        script="pair",
        variations=[vary("", **values)],
        fix=first in ("no_workers", "too_few_workers"),
    )


CASES = (
    _pair(
        "workers_then_checkpoint", "no_workers", "checkpoint_pause", input="no_workers", pause="checkpoint", every=10
    ),
    _pair(
        "workers_then_logging", "no_workers", "logging_pause", input="no_workers", pause="logging", every=5, trip_ms=120
    ),
    _pair(
        "workers_then_validation",
        "no_workers",
        "validation_pause",
        input="no_workers",
        pause="validation",
        every=20,
        held_out=128,
    ),
    _pair(
        "few_then_logging",
        "too_few_workers",
        "logging_pause",
        input="few_workers",
        pause="logging",
        every=5,
        trip_ms=120,
        batch_size=24,
    ),
    _pair(
        "few_then_checkpoint",
        "too_few_workers",
        "checkpoint_pause",
        input="few_workers",
        pause="checkpoint",
        every=15,
        batch_size=24,
    ),
    _pair(
        "logging_then_sampler",
        "logging_pause",
        "sampler_slow",
        input="slow_sampler",
        weights=600_000,
        pause="logging",
        every=1,
        trip_ms=160,
    ),
    _pair(
        "logging_then_workers",
        "logging_pause",
        "no_workers",
        input="no_workers",
        pause="logging",
        every=1,
        trip_ms=200,
        batch_size=6,
    ),
    _pair(
        "validation_then_sampler",
        "validation_pause",
        "sampler_slow",
        input="slow_sampler",
        weights=600_000,
        pause="validation",
        every=10,
        held_out=640,
    ),
    _pair(
        "sampler_then_logging",
        "sampler_slow",
        "logging_pause",
        input="slow_sampler",
        pause="logging",
        every=8,
        trip_ms=120,
    ),
    _pair(
        "samples_then_validation",
        "slow_samples",
        "validation_pause",
        input="slow_samples",
        pause="validation",
        every=25,
        held_out=176,
        batch_size=8,
    ),
)
