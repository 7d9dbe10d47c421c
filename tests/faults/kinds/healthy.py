"""Scripts with nothing to find: training that is bound by its model, borderline loaders, runs too short to judge.
Naming a cause here is a false alarm."""

from .. import materials
from ..case import Case, Expected, between, one_of, vary
from .workers import PLAIN

BUSY = Expected("compute_bound", healthy=True)
UNKNOWN = Expected("insufficient_data", healthy=True)

CASES = (
    Case(
        "compute_bound",
        BUSY,
        ci=True,
        variations=[
            vary(""),
            vary("on_cpu", model="cpu", step_ms=60),
            vary("trainer", loop="trainer"),
            vary("workers", workers=2),
            vary("much_prefetch", workers=2, prefetch=8),
            vary("one_long_batch", batch_size=512, rows=40_000),
            vary("spawn_kept", workers=2, start="spawn", rows=960),
            vary("short_epochs", rows=320),
        ],
        ranges={
            "workers": one_of(0, 1, 2),
            "step_ms": between(60.0, 140.0),
            "batch_size": between(16, 128),
            "loop": one_of("plain", "trainer"),
        },
    ),
    Case(
        "shared_stream",
        BUSY,
        script="duplicate_work",
        variations=[
            vary("", share="stride", step_ms=60),
            vary("parts", share="parts", step_ms=60),
            vary("init", share="init", step_ms=60, workers=3),
            vary("blank", data="blank", step_ms=60),
        ],
    ),
    Case(
        "shared_by_ranks",
        BUSY,
        script="duplicate_ranks",
        variations=[
            vary("", share="sampler", step_ms=60),
            vary("not_averaged", average=0, step_ms=60),
            vary("own_seeds", own_seed=1, step_ms=60),
            vary("blank", data="blank", step_ms=60),
        ],
    ),
    Case(
        "fast_enough",
        BUSY,
        materials=[materials.photos],
        variations=[
            PLAIN,
            vary("text_iterable", data="text", iterable=1),
            vary("one_worker", data="photos", workers=1, batch_size=4, step_ms=100, steps=60),
            vary("forkserver", data="table", start="forkserver", prefetch=4),
        ],
        ranges={
            "data": one_of("photos", "text", "table"),
            "batch_size": between(2, 4),
            "step_ms": between(80.0, 120.0),
        },
    ),
    Case(
        "tokens_ahead",
        BUSY,
        ci=True,
        variations=[vary(""), vary("iterable_long", window=2048, workers=1), vary("in_process", workers=0)],
        ranges={"window": between(256, 2048), "workers": one_of(0, 1, 2), "batch_size": between(8, 32)},
    ),
    Case(
        "slow_beginning",
        BUSY,
        variations=[vary(""), vary("workers", workers=1, first=8)],
        ranges={"first": between(1, 8), "first_ms": between(200.0, 1200.0)},
    ),
    Case(
        "modest_loop",
        BUSY,
        variations=[
            vary(""),
            vary("read_every_step", read_every=1),
            vary("print_every_step", print_every=1),
            vary("workers", workers=1),
        ],
        ranges={"every": between(30, 60), "print_every": between(1, 20), "step_ms": between(50.0, 90.0)},
    ),
    Case(
        "no_loader",
        UNKNOWN,
        variations=[vary(""), vary("on_cpu", model="cpu", step_ms=30)],
        ranges={"step_ms": between(30.0, 80.0)},
    ),
    Case(
        "insufficient_data",
        UNKNOWN,
        ci=True,
        variations=[vary(""), vary("workers", workers=2), vary("one_step", steps=1)],
        ranges={"steps": between(1, 9)},
    ),
)
