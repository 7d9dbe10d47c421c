"""From a worker to the training process, and what workers are asked for."""

from .. import storage
from ..case import Case, Expected, between, one_of, vary

CASES = (
    Case(
        "handoff",
        Expected("handoff", "handoff", at="loader = DataLoader(", silent=["too_few_workers", "sampler_slow"]),
        ci=True,
        variations=[
            vary(""),
            vary("objects", tensors=0, boxes=60),
            vary("iterable", iterable=1, boxes=16),
            vary("spawn", start="spawn", batch_size=24),
        ],
        ranges={"boxes": between(10, 20), "batch_size": between(12, 24), "step_ms": between(15.0, 35.0)},
    ),
    Case(
        "sampler_slow",
        Expected("sampler_slow", "sampler", at="loader = DataLoader(", silent=["handoff", "too_few_workers"]),
        ci=True,
        variations=[
            vary(""),
            vary("lengths", draw="lengths"),
            vary("in_process", workers=0),
            vary("spawn", start="spawn", weights=4_000_000, steps=80),
        ],
        ranges={
            "draw": one_of("weights", "lengths"),
            "weights": between(1_500_000, 4_000_000),
            "workers": one_of(1, 2),
            "step_ms": between(20.0, 50.0),
        },
    ),
    Case(
        "shallow_prefetch",
        Expected("shallow_prefetch", at="loader = DataLoader(", silent=["too_few_workers", "slow_samples"]),
        fix=True,
        variations=[
            vary(""),
            vary("longer_trips", trip_ms=8, step_ms=480),
            vary("sixteen", accumulate=16, step_ms=620, steps=320),
            vary("iterable", iterable=1),
        ],
        ranges={"trip_ms": between(4.0, 8.0), "accumulate": between(8, 12), "step_ms": between(420.0, 560.0)},
    ),
    Case(
        "shm_limit",
        Expected("shm_limit", "handoff"),
        conditions=lambda cache, mib=64: [storage.shared_memory(mib)],
        fails=True,
        variations=[
            vary(""),
            vary("two_workers", workers=2, side=640, batch_size=8),
            vary("spawn", start="spawn", mib=48),
            vary("iterable", iterable=1, mib=32),
        ],
        ranges={"mib": between(24, 64), "side": between(512, 800), "workers": one_of(2, 3, 4)},
    ),
    Case(
        "fd_limit",
        Expected("fd_limit", "handoff"),
        conditions=lambda cache, files=512: [storage.open_files(files)],
        fails=True,
        ci=True,
        variations=[
            vary(""),
            vary("many_parts", parts=8, files=1024),
            vary("iterable", iterable=1, files=256),
            vary("spawn", start="spawn"),
        ],
        ranges={"files": between(256, 1024), "parts": between(1, 8), "batch_size": between(2, 8)},
    ),
)
