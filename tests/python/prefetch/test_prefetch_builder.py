"""build_optimized_dataloader: P19, P26, P27, its limits and what it explains."""

import json
import multiprocessing
import os
import time

import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, SequentialSampler

import fullbore
from fullbore import build_optimized_dataloader, optimized


class Costly(Dataset):
    """20 ms a sample; says in which process it was asked."""

    def __init__(self, length=200):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        return torch.full((100,), index), os.getpid()


class Cheap(Costly):
    def __getitem__(self, index):
        return torch.tensor(index), os.getpid()


@pytest.fixture
def cores(monkeypatch):
    """Sets the limits that the builder sees."""

    def set_to(count, **more):
        monkeypatch.setattr(
            optimized,
            "_limits",
            lambda choose, cuda: choose.Limits(**{"cores": count, "shm_free": 8 << 30, "memory_available": 32 << 30, **more}),
        )

    set_to(4)
    return set_to


@pytest.mark.parametrize("count,most", [(1, 1), (2, 2), (4, 3), (8, 6), (16, 14)])
def test_workers_are_never_as_many_as_cores_where_cores_can_be_spared(cores, count, most):
    cores(count)
    loader = build_optimized_dataloader(Costly(4000), batch_size=32)
    assert loader.num_workers == most


def test_cheap_samples_get_no_workers_and_the_reason(cores):
    loader = build_optimized_dataloader(Cheap(), batch_size=8)
    assert loader.num_workers == 0
    assert "workers would not be faster" in loader.explain()


def test_ranks_quota_and_shared_memory_are_kept_to(cores):
    cores(16, ranks=4)
    assert build_optimized_dataloader(Costly(4000), batch_size=32).num_workers == 3
    cores(16, quota=2.0)
    assert build_optimized_dataloader(Costly(4000), batch_size=32).num_workers == 2
    cores(16, shm_free=80_000)  # a batch of 32 holds 26 kB
    loader = build_optimized_dataloader(Costly(4000), batch_size=32)
    assert loader.num_workers <= 1 and "/dev/shm" in loader.explain()


def test_the_limits_of_this_machine_are_read(monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
    optimized._hook()
    from _fullbore_hook.fix import choose

    limits = optimized._limits(choose, False)
    assert 1 <= limits.cores <= os.cpu_count() and limits.ranks == 3
    assert limits.shm_free > 0 and limits.memory_available > 0


def test_what_is_given_is_taken_as_it_is(cores):
    loader = build_optimized_dataloader(
        Costly(), batch_size=4, num_workers=2, prefetch_factor=5, persistent_workers=False, pin_memory=False
    )
    assert (loader.num_workers, loader.prefetch_factor, loader.persistent_workers, loader.pin_memory) == (2, 5, False, False)
    assert loader.explain().count("given") == 4
    assert build_optimized_dataloader(Costly(), num_workers=0).num_workers == 0


def test_shuffle_drop_last_and_samplers_are_torchs(cores):
    dataset = Cheap(10)
    loader = build_optimized_dataloader(dataset, batch_size=4, shuffle=True, drop_last=True)
    assert [len(batch[0]) for batch in loader] == [4, 4]
    sampler = BatchSampler(SequentialSampler(dataset), 5, False)
    assert [batch[0].tolist() for batch in build_optimized_dataloader(dataset, batch_sampler=sampler)] == [
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9],
    ]
    with pytest.raises(ValueError):
        build_optimized_dataloader(dataset, shuffle=True, sampler=SequentialSampler(dataset))


def test_p26_the_same_inputs_give_the_same_choice(cores):
    made = {str(build_optimized_dataloader(Costly(4000), batch_size=32).__dict__["_fullbore_choice"].settings) for _ in range(3)}
    assert len(made) == 1


def test_p26_deciding_takes_no_longer_than_its_budget():
    class Endless(Costly):
        def __getitem__(self, index):
            time.sleep(60)

    begin = time.monotonic()
    loader = build_optimized_dataloader(Endless(), budget=0.5)
    assert time.monotonic() - begin < 3
    assert loader.num_workers == 0 and "no sample was ready" in loader.explain()


def test_p27_no_sample_is_made_and_nothing_collated_in_this_process(cores):
    asked = []

    class Watched(Costly):
        def __getitem__(self, index):
            asked.append(index)
            return super().__getitem__(index)

    def collate(samples):
        asked.append("collate")
        return torch.utils.data.default_collate(samples)

    build_optimized_dataloader(Watched(), batch_size=2, collate_fn=collate)
    assert asked == []


def test_p27_a_dataset_with_an_open_file_gets_no_workers_and_the_reason(tmp_path, cores):
    (tmp_path / "data").write_bytes(b"0" * 1000)
    dataset = Costly()
    dataset.file = open(tmp_path / "data", "rb")
    loader = build_optimized_dataloader(dataset)
    assert loader.num_workers == 0 and "dataset.file is an open file" in loader.explain()
    dataset.file.close()


def test_p19_the_start_method_that_is_set_is_used(cores):
    loader = build_optimized_dataloader(Costly(4000), batch_size=32, multiprocessing_context="fork")
    assert loader.multiprocessing_context.get_start_method() == "fork"
    pids = set()
    for batch, _ in zip(loader, range(2)):
        pids |= set(batch[1].tolist())
    assert os.getpid() not in pids and multiprocessing.active_children()
    del loader


def test_an_iterable_dataset_that_does_not_share_itself_out_gets_no_workers(cores):
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(100))

    loader = build_optimized_dataloader(Stream(), batch_size=10)
    assert loader.num_workers == 0 and len(list(loader)) == 10
    assert "does not share its samples out" in loader.explain()


def test_what_was_measured_is_kept_in_the_cache_and_chosen_from_anew(tmp_path, cores, monkeypatch):
    path = str(tmp_path / "cache.json")
    first = build_optimized_dataloader(Costly(4000), batch_size=32, cache=path)
    assert len(json.load(open(path))) == 1
    optimized._hook()
    from _fullbore_hook.fix import probe

    monkeypatch.setattr(probe, "measure", lambda *_, **__: pytest.fail("measured again"))
    assert build_optimized_dataloader(Costly(4000), batch_size=32, cache=path).num_workers == first.num_workers
    cores(2)
    assert build_optimized_dataloader(Costly(4000), batch_size=32, cache=path).num_workers == 2


def test_with_a_device_the_loader_is_wrapped_and_still_explains(cores):
    loader = build_optimized_dataloader(Cheap(), batch_size=50, device="cpu")
    assert isinstance(loader, fullbore.PrefetchDataLoader) and len(list(loader)) == 4
    assert "pin_memory" in loader.explain() and "limits: 4 cores" in loader.explain()
    assert isinstance(build_optimized_dataloader(Cheap()), DataLoader)


def test_a_budget_of_nothing_is_refused():
    with pytest.raises(ValueError, match="budget"):
        build_optimized_dataloader(Cheap(), budget=0)
