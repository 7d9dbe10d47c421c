"""fullbore.step() and fullbore.observe() for loops without a DataLoader, with and without somebody watching."""

import os

LOOP = """
import sys
sys.path.insert(0, %r)
import fullbore

print([type(fullbore.observe(range(3))).__name__, len(fullbore.observe(range(3)))])
for item in fullbore.observe([[1, 2], [3, 4, 5]]):
    print(item)
for number in range(2):
    fullbore.step(samples=7)
fullbore.step()

def failing():
    yield (1,)
    raise ValueError("mine")

for item in fullbore.observe(failing()): pass
"""


def loop(package):
    return LOOP % os.path.dirname(package)


def test_steps_and_observed_items_are_on_record(bench, bare_python, package):
    watched = bench.watched(bare_python, bench.write(loop(package)))
    assert watched.out == "['_Observed', 3]\n[1, 2]\n[3, 4, 5]\n" and watched.err.endswith("ValueError: mine\n")
    steps = watched.records.of("UserStep")
    assert [(step.observed, step.samples) for step in steps] == [
        (1, 2),
        (1, 3),
        (0, 7),
        (0, 7),
        (0, -(1 << 31)),
        (1, 1),
    ]
    assert all(step.begin_ns <= step.end_ns if step.observed else step.begin_ns == step.end_ns for step in steps)
    assert watched.records.one("Process").role == 1


def test_without_a_watcher_they_do_nothing(bench, bare_python, package):
    done = bench.alone(bare_python, bench.write(loop(package)))
    assert done.stdout == "['range', 3]\n[1, 2]\n[3, 4, 5]\n" and done.stderr.endswith("ValueError: mine\n")
