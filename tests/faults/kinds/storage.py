"""Where the samples lie: the disk, the cache, the way to the server, the shape of the files."""

from .. import conditions, materials, storage
from ..case import Case, Expected, between, one_of, vary


def _remote(cache, open_ms=4, read_ms=8, folder="arrays"):
    return [storage.slow_mount(cache, cache / folder, open_ms, read_ms)]


CASES = (
    Case(
        "small_files",
        Expected("small_files", "open"),
        materials=[materials.landmarks],
        conditions=lambda cache: [conditions.cold_cache()],
        variations=[
            vary(""),
            vary("two_workers", workers=2, batch_size=32, steps=50),
            vary("iterable", iterable=1, points=30),
            vary("in_process", expected={"instead": ["no_workers"]}, workers=0),
        ],
        ranges={"points": between(24, 40), "batch_size": between(12, 24), "step_ms": between(5.0, 15.0)},
    ),
    Case(
        "storage_bandwidth",
        Expected("storage_bandwidth", "read"),
        materials=[materials.volumes],
        conditions=lambda cache, mb_per_s=40: [
            storage.uncached(cache / "volumes"),
            conditions.disk_rate(mb_per_s, cache / "volumes"),
        ],
        variations=[
            vary(""),
            vary("iterable", iterable=1, mb_per_s=60),
            vary("four_workers", workers=4, mb_per_s=50, batch_size=2),
            vary("trainer", loop="trainer", start="spawn", mb_per_s=40),
        ],
        ranges={
            "mb_per_s": between(35, 70),
            "batch_size": between(3, 6),
            "step_ms": between(30.0, 60.0),
            "workers": one_of(2, 3),
        },
    ),
    Case(
        "storage_latency",
        Expected("storage_latency", "read"),
        materials=[materials.one_file],
        conditions=lambda cache, per_s=300: [
            storage.uncached(cache / "one"),
            storage.disk_requests(per_s, cache / "one"),
        ],
        variations=[
            vary(""),
            vary("more_reads", reads=4, batch_size=8, per_s=250),
            vary("iterable", iterable=1, per_s=200, steps=80),
            vary("three_workers", workers=3, per_s=350),
        ],
        ranges={"per_s": between(180, 380), "reads": between(2, 4), "step_ms": between(25.0, 50.0)},
    ),
    Case(
        "network_storage",
        Expected("network_storage", "read"),
        materials=[materials.arrays, materials.photos],
        conditions=_remote,
        seen_at=lambda cache, folder: cache / "remote",
        variations=[
            vary(""),
            vary("scanned_on_open", expected={"stage": "open"}, open_ms=20, read_ms=0),
            vary("photos", data="photos", folder="photos", open_ms=2, read_ms=12, batch_size=4),
            vary("iterable", iterable=1, open_ms=2, read_ms=10, start="spawn"),
        ],
        ranges={
            "open_ms": between(1, 4),
            "read_ms": between(8, 16),
            "batch_size": between(6, 12),
            "step_ms": between(20.0, 40.0),
        },
    ),
    Case(
        "read_amplification",
        Expected("read_amplification", "read"),
        materials=[materials.one_file],
        conditions=lambda cache, mb_per_s=200: [
            storage.uncached(cache / "one"),
            storage.memory_limit(640),
            conditions.disk_rate(mb_per_s, cache / "one"),
        ],
        variations=[
            vary(""),
            vary("long_windows", window=1024, mb_per_s=150),
            vary("iterable", iterable=1, step_ms=30),
            vary("larger_batch", batch_size=8, step_ms=60, steps=80),
        ],
        ranges={"window": between(128, 1024), "mb_per_s": between(120, 220), "batch_size": between(4, 8)},
    ),
    Case(
        "io_neighbour",
        Expected("io_neighbour", "read"),
        materials=[materials.volumes],
        conditions=lambda cache, mb_per_s=120, readers=8: [
            storage.uncached(cache / "volumes"),
            storage.shared_disk(mb_per_s, cache / "volumes", readers),
        ],
        variations=[
            vary(""),
            vary("more", readers=12, mb_per_s=150),
            vary("iterable", iterable=1, mb_per_s=100),
            vary("three_workers", workers=3, readers=12),
        ],
        ranges={"mb_per_s": between(90, 160), "readers": between(8, 14), "step_ms": between(30.0, 60.0)},
    ),
    Case(
        "cache_thrash",
        Expected("cache_thrash", "read"),
        materials=[materials.volumes],
        conditions=lambda cache, mb_per_s=110, mib=512: [
            storage.uncached(cache / "volumes"),
            storage.memory_limit(mib),
            conditions.disk_rate(mb_per_s, cache / "volumes"),
        ],
        variations=[
            vary(""),
            vary("smaller_limit", mib=460, mb_per_s=100),
            vary("slower_disk", mb_per_s=90, epochs=2),
            vary("iterable", iterable=1),
        ],
        ranges={"mb_per_s": between(80, 150), "mib": between(440, 520), "batch_size": between(3, 6)},
    ),
    Case(
        "cold_cache",
        Expected("cold_cache", "read"),
        materials=[materials.volumes],
        conditions=lambda cache, mb_per_s=100: [
            storage.uncached(cache / "volumes"),
            conditions.disk_rate(mb_per_s, cache / "volumes"),
        ],
        variations=[
            vary(""),
            vary("slower_disk", mb_per_s=70, epochs=4),
            vary("iterable", iterable=1, mb_per_s=90),
            vary("trainer", loop="trainer", start="spawn"),
        ],
        ranges={"mb_per_s": between(70, 130), "batch_size": between(3, 6), "epochs": between(3, 5)},
    ),
    Case(
        "memory_pressure",
        Expected("memory_pressure"),
        materials=[materials.volumes],
        conditions=lambda cache, mib=700: [storage.swap(2048), storage.memory_limit(mib)],
        variations=[
            vary(""),
            vary("tighter", mib=620),
            vary("three_workers", workers=3, mib=850),
            vary("in_process", expected={"instead": ["no_workers"]}, workers=0, mib=560),
        ],
        ranges={"mib": between(600, 740), "step_ms": between(20.0, 40.0)},
    ),
)
