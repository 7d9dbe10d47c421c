"""A state is what was handed out: exact wherever it is taken, and resumed as often as one likes."""

import json

import pytest

torch = pytest.importorskip("torch")

import fullbore  # noqa: E402


def make(folder, batch_size=8, **options):
    transform = [fullbore.RandomResizedCrop(24), fullbore.RandomHorizontalFlip()]
    return fullbore.ImageLoader(folder, batch_size, transform=transform, **{"threads": 2, "seed": 3, **options})


def contents(batches):
    return [(batch.ids, batch.images.clone()) for batch in batches]


def same(left, right):
    return len(left) == len(right) and all(a == b and torch.equal(x, y) for (a, x), (b, y) in zip(left, right))


@pytest.mark.parametrize("taken", range(6))
def test_a_state_taken_after_any_batch_resumes_exactly(folder, taken):
    loader = make(folder)
    loader.set_epoch(4)
    batches = iter(loader)
    for _ in range(taken):
        next(batches)
    state = json.loads(json.dumps(loader.state_dict()))
    expected = contents(batches)
    for threads in (1, 3):
        resumed = make(folder, threads=threads, depth=4)
        resumed.load_state_dict(state)
        assert resumed.state_dict() == state
        resumed.set_epoch(4)  # a training loop says so before each pass
        assert same(contents(resumed), expected)


def test_a_state_taken_after_the_end_is_the_next_epoch(folder):
    loader = make(folder)
    list(loader)
    resumed = make(folder)
    resumed.load_state_dict(loader.state_dict())
    assert same(contents(resumed), contents(loader))


def test_after_an_error_the_state_is_where_the_pass_was(folder):
    loader = make(folder, memory_limit=1)  # two batches are the least
    batches = iter(loader)
    kept = [next(batches), next(batches)]
    with pytest.raises(RuntimeError, match="still held"):
        next(batches)
    resumed = make(folder)
    resumed.load_state_dict(loader.state_dict())
    assert same(contents(kept) + contents(resumed), contents(make(folder)))


def test_resuming_twice_goes_on_as_without(folder):
    whole = contents(make(folder))
    first = make(folder)
    next(iter(first))
    second = make(folder)
    second.load_state_dict(first.state_dict())
    next(iter(second))
    third = make(folder)
    third.load_state_dict(second.state_dict())
    assert same(contents(third), whole[2:])


def test_epochs_follow_each_other_unless_they_are_set(folder):
    loader = make(folder)
    first, second = contents(loader), contents(loader)
    assert not same(first, second)
    loader.set_epoch(0)
    assert same(contents(loader), first)
    next(iter(loader))  # left early: epoch 1
    loader.set_epoch(1)
    assert same(contents(loader), second)


def test_other_ranks_with_the_same_global_batch_go_on(folder):
    alone = make(folder)
    batches = iter(alone)
    next(batches), next(batches)
    state = alone.state_dict()
    ranks = [make(folder, 4, rank=rank, world_size=2) for rank in (0, 1)]
    for loader in ranks:
        loader.load_state_dict(state)
    together = [set(a.ids) | set(b.ids) for a, b in zip(*ranks)]
    assert together == [set(batch.ids) for batch in batches]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"data": "0" * 16}, "other files or labels"),
        ({"seed": 4}, "another seed"),
        ({"version": 2}, "version 2"),
        ({"samples": 12}, "no whole batches of 8"),
    ],
)
def test_a_state_that_does_not_belong_is_refused(folder, change, message):
    loader = make(folder)
    with pytest.raises(ValueError, match=message):
        loader.load_state_dict({**loader.state_dict(), **change})


def test_a_new_pass_ends_the_one_before(folder):
    loader = make(folder)
    old = iter(loader)
    next(old)
    new = iter(loader)
    with pytest.raises(RuntimeError, match="ended by a newer one"):
        next(old)
    assert len(list(new)) == 5
