"""What stands in the training loop itself."""

from ..case import Case, Expected, between, one_of, vary

CASES = (
    Case(
        "host_sync",
        Expected("host_sync", at="mean += (loss.item()", silent=["no_workers", "logging_pause", "compute_bound"]),
        ci=True,
        variations=[
            vary(""),
            vary("cpu", expected={"at": "mean += (loss.detach().cpu()"}, read="cpu"),
            vary("tolist", expected={"at": "mean += (loss.tolist()"}, read="tolist", step_ms=60, scores=384),
            vary("workers", workers=1),
        ],
        ranges={"step_ms": between(30.0, 60.0), "scores": between(220, 400), "batch_size": one_of(16, 32)},
    ),
    Case(
        "logging_pause",
        Expected("logging_pause", at="log.info(", silent=["no_workers", "host_sync", "gc_pause"]),
        ci=True,
        variations=[
            vary(""),
            vary("every_step", every=1, trip_ms=40),
            vary("forced_to_disk", how="file", every=2),
            vary("workers", workers=1, every=8, trip_ms=250),
        ],
        ranges={"every": between(2, 8), "trip_ms": between(120.0, 300.0), "step_ms": between(30.0, 60.0)},
    ),
    Case(
        "gc_pause",
        Expected("gc_pause", silent=["no_workers", "logging_pause", "host_sync"]),
        ci=True,
        variations=[
            vary(""),
            vary("fewer_held", held=250_000, made=9000),
            vary("workers", workers=1),
            vary("long_steps", step_ms=80, held=700_000, rows=2400),
        ],
        ranges={"held": between(300_000, 700_000), "made": between(5000, 9000), "step_ms": between(30.0, 60.0)},
    ),
    Case(
        "checkpoint_pause",
        Expected("checkpoint_pause", at="torch.save(", silent=["no_workers"]),
        ci=True,
        variations=[
            vary(""),
            vary("large", embeddings=600_000, every=20),
            vary("every_step", embeddings=60_000, every=1),
            vary("workers", workers=2),
        ],
        ranges={"embeddings": between(250_000, 600_000), "every": between(5, 12), "step_ms": between(25.0, 50.0)},
    ),
    Case(
        "validation_pause",
        Expected("validation_pause", silent=["no_workers"]),
        ci=True,
        variations=[
            vary(""),
            vary("long_pass", held_out=640, every=40),
            vary("often", every=5, held_out=64),
            vary("workers", workers=1),
        ],
        ranges={"every": between(10, 25), "held_out": between(160, 480), "step_ms": between(30.0, 60.0)},
    ),
    Case(
        "warmup",
        Expected("warmup", silent=["no_workers", "logging_pause", "host_sync"]),
        judged_on="whole",
        variations=[vary(""), vary("workers", workers=1), vary("deeper", layers=20, lengths=16)],
        ranges={"each": between(6, 12), "layers": between(10, 20), "lengths": between(16, 30)},
    ),
)
