"""How many workers, how they start, what each of them meets."""

from .. import materials
from ..case import Case, Expected, between, one_of, vary

MADE = {"photos": {"stage": "decode"}, "text": {"stage": "user_code"}, "table": {"stage": "user_code"}}
PLAIN = vary("", data="photos")

CASES = (
    Case(
        "no_workers",
        Expected("no_workers", "decode", at="loader = DataLoader("),
        materials=[materials.photos],
        by_data=MADE,
        fix=True,
        ci=True,
        variations=[
            PLAIN,
            vary("text", data="text", loop="trainer"),
            vary("table", data="table", batch_size=16),
            vary("on_cpu", data="text", model="cpu", step_ms=12),
            vary("large_batch", data="photos", batch_size=48, steps=45),
        ],
        ranges={
            "data": one_of("photos", "text", "table"),
            "batch_size": between(12, 48),
            "step_ms": between(15.0, 60.0),
            "loop": one_of("plain", "trainer"),
        },
    ),
    Case(
        "too_few_workers",
        Expected("too_few_workers", "decode", at="loader = DataLoader("),
        materials=[materials.photos],
        by_data=MADE,
        fix=True,
        ci=True,
        variations=[
            PLAIN,
            vary("text_spawn", data="text", start="spawn"),
            vary("table_iterable", data="table", iterable=1, batch_size=16),
            vary("trainer", data="photos", loop="trainer", batch_size=16, step_ms=15, steps=100),
        ],
        ranges={
            "data": one_of("photos", "text", "table"),
            "batch_size": between(12, 48),
            "step_ms": between(5.0, 30.0),
            "start": one_of("fork", "forkserver"),
        },
    ),
    Case(
        "too_many_workers",
        Expected("too_many_workers", at="loader = DataLoader("),
        materials=[materials.photos],
        fix=True,
        judged_on="whole",
        variations=[
            PLAIN,
            vary("text", data="text"),
            vary("table", data="table", workers=12),
            vary("twenty_four", data="photos", workers=24, steps=200),
        ],
        ranges={"data": one_of("photos", "text", "table"), "workers": between(10, 28), "step_ms": between(40.0, 80.0)},
    ),
    Case(
        "slow_worker",
        Expected("slow_worker"),
        ci=True,
        variations=[
            vary(""),
            vary("packed", slow="packed", slow_ms=12),
            vary("four", workers=4, slow_ms=20, step_ms=20),
            vary("spawn", start="spawn", workers=2, slow_ms=10),
        ],
        ranges={
            "slow": one_of("service", "packed"),
            "slow_ms": between(10.0, 25.0),
            "workers": one_of(2, 3, 4),
            "batch_size": one_of(8, 16, 32),
        },
    ),
    Case(
        "slow_samples",
        Expected("slow_samples", "decode"),
        materials=[materials.photos, materials.large_photos],
        by_data=MADE,
        variations=[
            PLAIN,
            vary("table", data="table", rare=97),
            vary("rarer", data="photos", rare=120, batch_size=4, step_ms=25, steps=240),
            vary("spawn", data="table", start="spawn", rare=70),
        ],
        ranges={"data": one_of("photos", "table"), "rare": between(60, 120), "step_ms": between(35.0, 60.0)},
    ),
    Case(
        "duplicate_work",
        Expected("duplicate_work", at="def __iter__(self):  # of single events"),
        variations=[
            vary(""),
            vary("table", data="table", workers=3, batch_size=8),
            vary("shuffled_alike", shuffled=1, start="spawn", loop="trainer", steps=300),
            vary("whole_batches", {"at": "def __iter__(self):  # of whole batches"}, whole=1),
        ],
        ranges={
            "workers": one_of(2, 3, 4),
            "batch_size": between(8, 24),
            "shuffled": one_of(0, 1),
            "start": one_of("fork", "forkserver"),
        },
    ),
    Case(
        "duplicate_ranks",
        Expected("duplicate_work", at="loader = DataLoader("),
        variations=[vary(""), vary("iterable", iterable=1, workers=1), vary("larger", batch_size=32, steps=60)],
        ranges={"batch_size": between(8, 32), "workers": one_of(0, 1)},
    ),
    Case(
        "worker_restart",
        Expected("worker_restart", at="return DataLoader("),
        fix=True,
        judged_on="whole",
        variations=[
            vary(""),
            vary("forkserver", start="forkserver", workers=1),
            vary("init", start="fork", init=1, epochs=8),
            vary("iterable", start="spawn", iterable=1),
            vary("made_each_epoch", start="spawn", each=1, epochs=6),
        ],
        ranges={
            "start": one_of("spawn", "forkserver"),
            "rows": between(240, 480),
            "step_ms": between(50.0, 100.0),
            "workers": one_of(1, 2),
        },
    ),
    Case(
        "worker_startup",
        Expected("worker_startup", "worker_start", at="loader = DataLoader("),
        variations=[
            vary(""),
            vary("index", start="fork", words=5000, index_s=5),
            vary("forkserver", start="forkserver"),
            vary("iterable", iterable=1, words=800_000),
        ],
        ranges={
            "start": one_of("spawn", "forkserver"),
            "words": between(800_000, 1_400_000),
            "step_ms": between(25.0, 60.0),
        },
    ),
    Case(
        "worker_crash",
        Expected("worker_crash", at="loader = DataLoader(", silent=["worker_restart"]),
        fails=True,
        ci=True,
        variations=[
            vary(""),
            vary("abort", end="abort", workers=3),
            vary("exit", end="exit"),
            vary("killed", end="kill", iterable=1, last=900),
            vary("early", end="pointer", start="spawn", last=100),
        ],
        ranges={
            "end": one_of("pointer", "abort", "exit", "kill"),
            "last": between(200, 2800),
            "workers": one_of(1, 2, 3),
        },
    ),
    Case(
        "worker_memory_growth",
        Expected("worker_memory_growth", at="loader = DataLoader(", silent=["memory_pressure"]),
        variations=[
            vary(""),
            vary("three", workers=3, kilobytes=700, batch_size=2, step_ms=30),
            vary("iterable", iterable=1, kilobytes=600),
            vary("spawn", start="spawn", batch_size=8, kilobytes=250),
        ],
        ranges={"kilobytes": between(400, 900), "workers": one_of(2, 3), "step_ms": between(30.0, 50.0)},
    ),
)
