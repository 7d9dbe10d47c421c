"""Cores: too few of them, fewer than counted, or fought over."""

from .. import conditions, materials
from ..case import Case, Expected, between, one_of, vary
from .workers import MADE, PLAIN

CASES = (
    Case(
        "cpu_saturated",
        Expected("cpu_saturated", "decode", silent=["too_few_workers"]),
        materials=[materials.photos],
        by_data=MADE,
        ci=True,
        fix=True,
        variations=[
            PLAIN,
            vary("text", data="text", batch_size=24),
            vary("table", data="table", loop="trainer"),
            vary("iterable", data="photos", iterable=1, batch_size=16, steps=100),
        ],
        ranges={
            "data": one_of("photos", "text", "table"),
            "batch_size": between(16, 48),
            "step_ms": between(2.0, 15.0),
        },
    ),
    Case(
        "cpu_quota",
        Expected("cpu_quota", "decode", silent=["too_few_workers"]),
        materials=[materials.photos],
        by_data=MADE,
        conditions=lambda cache, cores=0.6: [conditions.cpu_quota(cores)],
        variations=[
            PLAIN,
            vary("text", data="text", cores=0.5),
            vary("four_workers", data="table", workers=4, cores=0.7),
            vary("in_process", data="photos", workers=1, cores=0.4, batch_size=8),
        ],
        ranges={"data": one_of("photos", "text", "table"), "cores": between(0.35, 0.8), "step_ms": between(25.0, 50.0)},
    ),
    Case(
        "cpu_affinity",
        Expected("cpu_affinity", silent=["cpu_saturated", "cpu_quota", "too_few_workers"]),
        materials=[materials.photos],
        conditions=lambda cache, whole_job=1: [conditions.one_core()] if whole_job else [],
        variations=[
            PLAIN,
            vary("text", data="text"),
            vary("table_iterable", data="table", iterable=1),
            vary("spawn", data="photos", start="spawn", batch_size=8, steps=80),
            vary("set_by_worker", data="text", whole_job=0, pin=1),
        ],
        ranges={"data": one_of("photos", "text", "table"), "batch_size": between(8, 24), "step_ms": between(5.0, 20.0)},
    ),
    Case(
        "thread_oversubscription",
        Expected("thread_oversubscription", "user_code", silent=["too_few_workers", "too_many_workers"]),
        conditions=lambda cache, blas=0: [conditions.environment(OPENBLAS_NUM_THREADS=blas)] if blas else [],
        fix=True,
        variations=[
            vary(""),
            vary("four_threads", threads=4, samples=60_000),
            vary("blas", library="numpy", blas=8),
            vary("iterable", iterable=1, batch_size=4, threads=6),
        ],
        ranges={"threads": between(5, 12), "samples": between(36_000, 60_000), "batch_size": one_of(4, 8, 12)},
    ),
    Case(
        "gil_contention",
        Expected("gil_contention", silent=["cpu_saturated", "host_sync", "no_workers"]),
        variations=[
            vary(""),
            vary("two_threads", threads=2),
            vary("long_texts", words=4096, layers=100),
            vary("workers", workers=1),
        ],
        ranges={"threads": one_of(1, 2), "words": between(1800, 4000), "layers": between(100, 200)},
    ),
)
