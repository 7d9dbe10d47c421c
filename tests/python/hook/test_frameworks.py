"""What frameworks around the loader and the optimiser do to the records, with the real ones."""

import sys

import pytest

ACCELERATE = """
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
loader = DataLoader(TensorDataset(torch.arange(32.0).reshape(32, 1)), batch_size=8, shuffle=True)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for (x,) in loader:
    accelerator.backward(model(x).sum())
    optimizer.step()
"""

COMPILED = """
import logging, torch
logging.disable(logging.CRITICAL)
from torch._dynamo.utils import counters, get_compilation_metrics
from torch.utils.data import DataLoader

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

@torch.compile(backend="eager")
def train(x):
    model(x).sum().backward()
    optimizer.step()

for x in DataLoader(torch.ones(6, 4), batch_size=2):
    train(x)
print(dict(counters["graph_break"]), dict(counters["stats"]))
print([(frame.co_name, frame.co_filename, frame.co_firstlineno, frame.fail_reason) for frame in get_compilation_metrics()])
"""


def needs(module):
    return pytest.importorskip(module, reason="%s is not installed for this Python" % module)


def test_a_loader_rebuilt_by_accelerate_has_the_users_line(bench):
    needs("accelerate")
    records = bench.watched(sys.executable, bench.write(ACCELERATE)).records
    loader = records.one("Loader")
    assert loader.code.startswith("loader = DataLoader(TensorDataset(")
    assert (loader.batch_size, loader.dataset_length) == (8, 32) and loader.flags & 32
    assert len(records.of("Step")) == 4 and len(records.of("Next")) == 5


def test_a_compiled_step_is_compiled_as_without_us(bench):
    needs("torch")
    watched = bench.both(sys.executable, bench.write(COMPILED))
    assert watched.code == 0 and len(watched.records.of("Next")) == 4
