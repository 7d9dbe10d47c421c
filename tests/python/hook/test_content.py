"""What tells the contents of batches apart: the same for the same data, whatever they lie in; nothing where all is
alike. And which batches are looked at."""

import collections
import sys

import profile_support  # noqa: F401  puts the hook on the path
import pytest
from _fullbore_hook.loading.content import content_of

torch = pytest.importorskip("torch")


def test_the_same_bytes_have_the_same_content():
    made = torch.arange(50_000.0)
    assert content_of([made, 1]) == content_of((made.clone(), 2)) != 0
    assert content_of({"x": made}) == content_of(collections.UserDict(x=made)) != content_of([made + 1])


def test_large_tensors_are_told_apart_too():
    assert content_of(torch.full((4, 3, 224, 224), 1.0)) != content_of(torch.full((4, 3, 224, 224), 2.0))


def test_labels_do_not_make_the_same_pictures_differ():
    pictures = torch.zeros(8, 3, 16, 16)
    assert content_of([pictures, torch.arange(8)]) == content_of([pictures, torch.arange(8) + 1])


def test_arrays_texts_and_pictures_in_another_order_of_memory_are_read():
    numpy = pytest.importorskip("numpy")
    assert content_of(numpy.arange(9)) != content_of(numpy.arange(9) + 1) != 0
    assert content_of(["a", "b"]) != content_of(["a", "c"]) != 0
    last = torch.rand(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)
    assert content_of(last) != content_of(last + 1) != 0


def test_what_cannot_be_read_has_none_and_calls_nothing():
    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *arguments):
            raise AssertionError("the user's code was called")

    class Many(list):
        def __iter__(self):
            raise AssertionError("the user's code was called")

    for nothing in (None, 3, object(), (), torch.empty(0), torch.empty(3, device="meta"), Many([torch.ones(3)])):
        assert content_of(nothing) == 0, nothing
    assert content_of(torch.ones(3).as_subclass(Mine)) == 0
    assert content_of(torch.ones(4, 4).to_sparse()) == 0
    assert content_of([torch.rand(4, 6).t()]) == 0


PROGRAM = """
import sys
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset


class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.arange(400.0).split(1))


optimizer = torch.optim.SGD([torch.ones(3)], lr=0.1)
data = Stream() if sys.argv[1] == "stream" else TensorDataset(torch.arange(400.0))
loader = DataLoader(data, 4, num_workers=int(sys.argv[2]), multiprocessing_context="fork" if int(sys.argv[2]) else None)
for _ in range(2):
    for batch in loader:
        optimizer.step()
"""


def contents(bench, *arguments, **environment):
    done = bench.watched(sys.executable, bench.write(PROGRAM), *arguments, env=environment)
    assert done.code == 0, done.err
    return [batch for batch in done.records.of("Batch") if batch.samples > 0]


def test_workers_that_give_the_same_are_told_by_their_first_batches(bench):
    batches = contents(bench, "stream", "2")
    looked = [batch for batch in batches if batch.content]
    assert len(looked) == 2 * 2 * 32  # passes, workers, batches
    by_turn = collections.defaultdict(list)
    for batch in looked:
        by_turn[batch.batch // 2].append(batch.content)
    assert {len(same) for same in by_turn.values()} == {4} and {len(set(same)) for same in by_turn.values()} == {1}
    assert len({same[0] for same in by_turn.values()}) == 32


@pytest.mark.parametrize("kind", [("stream", "0"), ("table", "2"), ("table", "0")])
def test_nothing_is_looked_at_where_nobody_could_give_the_same(bench, kind):
    assert not any(batch.content for batch in contents(bench, *kind))


@pytest.mark.parametrize("workers", ["0", "2"])
def test_ranks_are_told_by_the_same(bench, workers):
    batches = contents(bench, "table", workers, WORLD_SIZE="2", RANK="0")
    assert sum(batch.content != 0 for batch in batches) == 2 * 32 * max(1, int(workers))
