"""`with fullbore.watching():` in a process that nobody started under `fullbore run`, with the real program."""

import json
import os

import pytest
from pythons import STANDIN

PROGRAM = """
import os, sys, time
sys.path.insert(0, %r)
import torch, fullbore
from torch.utils.data import DataLoader

optimizer = torch.optim.SGD([torch.Tensor([1.0])], lr=0.1)

def train(workers):
    method = "spawn" if workers else None
    for batch in DataLoader([1.0] * 60, batch_size=2, num_workers=workers, multiprocessing_context=method):
        time.sleep(0.002)
        optimizer.step()

before = dict(os.environ), list(sys.path)
for workers in (0, 1):
    if __name__ == "__main__":
        with fullbore.watching(out="run-%%d" %% workers) as run:
            print(os.path.basename(run))
            rings = os.environ["FULLBORE_RINGS"]
            train(workers)
        assert not os.path.exists(rings)
        assert before == (dict(os.environ), sys.path)
        assert not [c for c in DataLoader.__init__.__code__.co_consts if "fullbore" in repr(c)]
"""


@pytest.fixture
def program(bench, package):
    if not os.path.exists(os.path.join(package, "bin", "fullbore")):
        pytest.fail("the fullbore program is not built; run cmake --build --preset dev")
    return bench.write(PROGRAM % os.path.dirname(package))


def test_a_notebook_is_watched_twice_and_left_as_it_was(bench, bare_python, program):

    done = bench.alone(bare_python, program, path=[STANDIN])
    assert (done.returncode, done.stdout) == (0, "run-0\nrun-1\n"), done.stderr
    # each block ends with the report of its own loop
    assert done.stderr.count("Your training loop") == 2, done.stderr
    assert "have no record of how they were made" not in done.stderr, done.stderr
    for number in "01":
        assert (bench.folder / ("run-" + number)).is_dir()


CELLS = """
import linecache, os, sys, time
sys.path.insert(0, %r)
import torch, fullbore
from torch.utils.data import DataLoader

SOURCE = '''
optimizer = torch.optim.SGD([torch.Tensor([1.0])], lr=0.1)
for batch in DataLoader([1.0] * 120, batch_size=2):
    time.sleep(0.002)  # the model
    optimizer.step()
'''
with fullbore.watching(out="run"):
    name = "<ipython-input-7>"
    linecache.cache[name] = (len(SOURCE), None, SOURCE.splitlines(True), name)
    exec(compile(SOURCE, name, "exec"))
"""


def test_the_lines_of_a_cell_are_shown_and_the_run_has_its_verdict(bench, bare_python, package):
    done = bench.alone(bare_python, bench.write(CELLS % os.path.dirname(package)), path=[STANDIN])
    assert done.returncode == 0, done.stderr
    assert "time.sleep(0.002)  # the model" in done.stderr
    assert json.loads((bench.folder / "run" / "report.json").read_text())["verdict"]["cause"]
    assert "the model" in (bench.folder / "run" / "report.txt").read_text()


def test_inside_fullbore_run_it_steps_aside(bench, bare_python, package):
    code = (
        "import sys; sys.path.insert(0, %r); import fullbore\nwith fullbore.watching() as run: print(run)"
        % os.path.dirname(package)
    )
    assert bench.both(bare_python, "-c", "print(1)").out == "1\n"
    assert bench.watched(bare_python, "-c", code).out == "None\n"
