"""keep_freed_memory: pages that were freed are used again, and what is set already is left alone."""

import os
import subprocess
import sys

import pytest

HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "fullbore", "hook")

# A batch of photographs of 3 MB each, freed when it is done; prints the faults of five such and what was answered.
CHILD = """
import resource, sys
sys.path.insert(0, %r)
from _fullbore_hook.fix import memory

why = memory.keep_freed() if "keep" in sys.argv else "not asked"


def batch():
    return len([bytearray(3 << 20) for _ in range(16)])


for _ in range(2):
    batch()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    batch()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, why)
""" % os.path.abspath(HOOK)


def faults(python, *arguments, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_TUNABLES"))}
    done = subprocess.run(
        [python, "-c", CHILD, *arguments], env={**clean, **environment}, capture_output=True, text=True, check=True
    )
    count, _, why = done.stdout.strip().partition(" ")
    return int(count), why


def test_freed_pages_are_used_again(bare_python):
    given_back, _ = faults(bare_python)
    kept, why = faults(bare_python, "keep")
    assert why == ""
    assert given_back > 5 * 16 * 768 / 2  # 3 MB are 768 pages; the largest block may be kept
    assert kept < 100


@pytest.mark.parametrize(
    "environment, reason",
    [
        ({"MALLOC_TRIM_THRESHOLD_": "131072"}, "MALLOC_TRIM_THRESHOLD_ is set already"),
        ({"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=131072"}, "GLIBC_TUNABLES sets malloc already"),
        ({"LD_PRELOAD": "libjemalloc.so.2"}, "jemalloc is loaded in place of glibc's malloc"),
    ],
)
def test_what_somebody_chose_is_left_alone(environment, reason):
    assert faults(sys.executable, "keep", **environment)[1] == reason


def test_it_is_a_worker_init_fn_that_spawned_workers_can_take():
    import pickle

    fullbore = pytest.importorskip("fullbore")
    assert pickle.loads(pickle.dumps(fullbore.keep_freed_memory)) is fullbore.keep_freed_memory
    assert fullbore.keep_freed_memory(0) is True
