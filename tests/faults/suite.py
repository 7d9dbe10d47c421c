"""The fault suite: every case is an ordinary PyTorch script with a known fault, and the conditions that it needs."""
import contextlib
import dataclasses
from pathlib import Path
from typing import Callable, Sequence

import conditions
import materials
import storage

HERE = Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    materials: Sequence[Callable] = ()
    conditions: Callable = lambda cache: ()
    seen_at: Callable = lambda cache, folder: folder  # where the script finds a material
    fails: bool = False  # the script ends with an error

    @property
    def script(self):
        return HERE / "cases" / (self.name + ".py")

    def arguments(self, cache):
        """What the script is called with; materials are made before the conditions, which may hide or slow them."""
        return [str(self.seen_at(cache, make(cache))) for make in self.materials]

    @contextlib.contextmanager
    def prepared(self, cache):
        """Sets the conditions up; yields what the child calls before it runs."""
        with contextlib.ExitStack() as stack:
            enter = [stack.enter_context(condition) for condition in self.conditions(cache)]
            yield lambda: [join() for join in enter]


CASES = (
    Case("no_workers", [materials.photos]),
    Case("too_few_workers", [materials.photos]),
    Case("too_many_workers", [materials.photos]),
    Case("thread_oversubscription"),
    Case("cpu_saturated", [materials.photos]),
    Case("cpu_quota", [materials.photos], lambda cache: [conditions.cpu_quota(0.6)]),
    Case("slow_worker"),
    Case("slow_samples", [materials.photos, materials.large_photos]),
    Case("small_files", [materials.landmarks], lambda cache: [conditions.cold_cache()]),
    Case("storage_bandwidth", [materials.volumes],
         lambda cache: [conditions.cold_cache(), conditions.disk_rate(40, cache / "volumes")]),
    Case("network_storage", [materials.arrays],
         lambda cache: [storage.slow_mount(cache, cache / "arrays", open_ms=4, read_ms=8)],
         lambda cache, folder: cache / "remote"),
    Case("storage_latency", [materials.one_file],
         lambda cache: [storage.uncached(cache / "one"), storage.disk_requests(300, cache / "one")]),
    Case("read_amplification", [materials.one_file],
         lambda cache: [storage.uncached(cache / "one"), storage.memory_limit(640),
                        conditions.disk_rate(200, cache / "one")]),
    Case("io_neighbour", [materials.volumes],
         lambda cache: [storage.uncached(cache / "volumes"), storage.shared_disk(120, cache / "volumes")]),
    Case("cache_thrash", [materials.volumes],
         lambda cache: [storage.uncached(cache / "volumes"), storage.memory_limit(512),
                        conditions.disk_rate(150, cache / "volumes")]),
    Case("cold_cache", [materials.volumes],
         lambda cache: [storage.uncached(cache / "volumes"), conditions.disk_rate(100, cache / "volumes")]),
    Case("memory_pressure", [materials.volumes],
         lambda cache: [storage.swap(2048), storage.memory_limit(700)]),
    Case("shm_limit", (), lambda cache: [storage.shared_memory(64)], fails=True),
    Case("fd_limit", (), lambda cache: [storage.open_files(512)], fails=True),
    Case("worker_restart"),
    Case("cpu_affinity", [materials.photos], lambda cache: [conditions.one_core()]),
    Case("shallow_prefetch"),
    Case("worker_startup"),
    Case("worker_crash", fails=True),
    Case("logging_pause"),
    Case("gc_pause"),
    Case("gil_contention"),
    Case("handoff"),
    Case("sampler_slow"),
    Case("host_sync"),
    Case("checkpoint_pause"),
    Case("validation_pause"),
    Case("compute_bound"),
    Case("insufficient_data"),
)
