"""--fix on real loaders with real worker processes: what is changed, and that nothing else is."""

import os
import random
import time

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, IterableDataset, get_worker_info  # noqa: E402

from fix_harness import QuickEach, SAMPLE_SECONDS, Slow, fixing, indices_and_pids, line_of, of, why  # noqa: E402


def test_plain_adds_workers_that_give_each_sample_once(tmp_path):
    with fixing(tmp_path) as records:
        loader = DataLoader(Slow(), batch_size=8, shuffle=True)
        for _ in range(2):
            indices, pids = indices_and_pids(loader)
            assert sorted(indices) == list(range(128))
            assert os.getpid() not in pids and len(pids) == 2
    assert of(records, "num_workers") == [(0, 2, 1)] and of(records, "persistent_workers") == [(False, True, 1)]
    assert of(records, "prefetch_factor")[0][::2] == (None, 1)


def test_persistent_workers_are_kept_over_epochs(tmp_path):
    with fixing(tmp_path):
        loader = DataLoader(Slow(), batch_size=8)
        assert indices_and_pids(loader)[1] == indices_and_pids(loader)[1]


def test_a_dataset_changed_between_epochs_reaches_the_workers(tmp_path):
    class Scheduled(Slow):
        epoch = 0

        def __getitem__(self, index):
            return torch.cat([super().__getitem__(index), torch.tensor([self.epoch])])

    with fixing(tmp_path) as records:
        dataset = Scheduled()
        loader = DataLoader(dataset, batch_size=8)
        for epoch in range(3):
            dataset.epoch = epoch
            assert {batch[0, 2].item() for batch in loader} == {epoch}
    assert of(records, "num_workers") == [(0, 2, 1)]


def test_two_iterators_of_one_loader_stay_apart(tmp_path):
    with fixing(tmp_path):
        loader = DataLoader(Slow(), batch_size=8)
        for first, second in zip(loader, loader):
            assert first[:, 0].tolist() == second[:, 0].tolist()


def test_exact_leaves_every_random_number_and_batch_as_it_was(tmp_path):
    class Augmented(Slow):
        def __getitem__(self, index):
            return torch.rand(3), random.random(), index

    def run():
        torch.manual_seed(7), random.seed(7)
        seen = []
        loader = DataLoader(Augmented(32), batch_size=8, shuffle=True)
        for _ in range(2):
            seen += [(a.tolist(), b.tolist(), c.tolist(), torch.rand(1).item()) for a, b, c in loader]
        workers = DataLoader(Augmented(32), batch_size=8, shuffle=True, num_workers=2, prefetch_factor=1)
        seen += [(a.tolist(), b.tolist(), c.tolist(), torch.rand(1).item()) for a, b, c in workers]
        return seen, torch.rand(1).item(), random.random()

    unchanged = run()
    with fixing(tmp_path, mode="exact") as records:
        assert run() == unchanged
    assert of(records, "num_workers") == [] and of(records, "prefetch_factor") == [(1, 2, 1)]
    if not torch.cuda.is_initialized():
        assert of(records, "pin_memory") == [(False, False, 0)] * 2 and "CUDA" in why(records, "pin_memory")


def test_the_settings_of_a_report_go_to_the_loader_of_that_line(tmp_path):
    line = line_of(test_the_settings_of_a_report_go_to_the_loader_of_that_line, "train = DataLoader(")
    advice = [
        {
            "file": __file__,
            "line": line,
            "settings": {
                "num_workers": "4",
                "persistent_workers": "True",
                "prefetch_factor": "3",
                "pin_memory": "False",
            },
        }
    ]
    with fixing(tmp_path, mode="run", loaders=advice) as records:
        train = DataLoader(Slow(), batch_size=8)
        val = DataLoader(Slow(), batch_size=8)
        assert (train.num_workers, train.prefetch_factor, train.persistent_workers) == (2, 3, True)
        assert val.num_workers == 0
        assert sorted(indices_and_pids(train)[0]) == list(range(128)) == indices_and_pids(val)[0]
    assert why(records, "num_workers") == "4 recommended, limited by 2 usable cores"


def test_ordinals_tell_loaders_of_one_line_apart(tmp_path):
    line = line_of(test_ordinals_tell_loaders_of_one_line_apart, "loaders = [")
    advice = [{"file": __file__, "line": line, "ordinal": 1, "settings": {"num_workers": "2"}}]
    with fixing(tmp_path, mode="run", loaders=advice):
        loaders = [DataLoader(Slow(), batch_size=8) for _ in range(3)]
    assert [loader.num_workers for loader in loaders] == [0, 2, 0]


def test_a_loader_made_anew_in_every_epoch_is_fixed_each_time(tmp_path):
    with fixing(tmp_path) as records:
        for _ in range(2):
            assert os.getpid() not in indices_and_pids(DataLoader(Slow(), batch_size=8))[1]
    assert of(records, "num_workers") == [(0, 2, 1)] * 2


def test_train_and_val_are_fixed_apart(tmp_path):
    with fixing(tmp_path) as records:
        train, val = DataLoader(Slow(), batch_size=8, shuffle=True), DataLoader(Slow(64), batch_size=8)
        for _ in range(2):
            assert sorted(indices_and_pids(train)[0]) == list(range(128))
            assert indices_and_pids(val)[0] == list(range(64))
    assert sorted(one["loader"] for one in records if one["setting"] == "num_workers") == [1, 2]


def test_a_subclass_of_dataloader_is_fixed(tmp_path):
    class Endless(DataLoader):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.iterator = super().__iter__()

        def __iter__(self):
            return iter([next(self.iterator) for _ in range(len(self))])

    with fixing(tmp_path) as records:
        assert indices_and_pids(Endless(Slow(), batch_size=8))[0] == list(range(128))
    assert of(records, "num_workers") == [(0, 2, 1)]


def test_workers_that_the_script_sets_are_only_made_persistent(tmp_path):
    with fixing(tmp_path) as records:
        assert len(indices_and_pids(DataLoader(Slow(), batch_size=8, num_workers=1))[1]) == 1
    assert of(records, "num_workers") == [(1, 1, 0)] and of(records, "persistent_workers") == [(False, True, 1)]


class Sharing(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for index in range(128)[info.id if info else 0 :: info.num_workers if info else 1]:
            time.sleep(SAMPLE_SECONDS)
            yield index


def test_an_iterable_dataset_that_shards_itself_gets_workers(tmp_path):
    with fixing(tmp_path) as records:
        assert sorted(torch.cat(list(DataLoader(Sharing(), batch_size=8))).tolist()) == list(range(128))
    assert of(records, "num_workers") == [(0, 2, 1)]


def test_ranks_share_the_cores(tmp_path, monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    with fixing(tmp_path) as records:
        assert len(indices_and_pids(DataLoader(Slow(), batch_size=8))[1]) == 1
    assert of(records, "num_workers") == [(0, 1, 1)] and "2 ranks" in why(records, "num_workers")


def test_a_quota_of_one_core_gives_one_worker(tmp_path):
    with fixing(tmp_path, quota_cores=1.0) as records:
        list(DataLoader(Slow(), batch_size=8))
    assert of(records, "num_workers") == [(0, 1, 1)] and "quota of 1.0 cores" in why(records, "num_workers")


def test_a_lazily_opened_file_is_opened_by_each_worker(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(b"".join(index.to_bytes(4, "little") for index in range(256)))

    class Lazy(Slow):
        file = None

        def __getitem__(self, index):
            super().__getitem__(index)
            if self.file is None:
                self.file = open(path, "rb", buffering=0)
            self.file.seek(4 * index)
            time.sleep(0)
            return int.from_bytes(self.file.read(4), "little")

    with fixing(tmp_path) as records:
        dataset = Lazy(256)
        assert torch.cat(list(DataLoader(dataset, batch_size=8))).tolist() == list(range(256))
        assert dataset.file is None  # never touched in this process
    assert of(records, "num_workers") == [(0, 2, 1)]


def test_workers_of_a_dataset_that_keeps_what_it_made_are_not_made_persistent(tmp_path):
    class Caching(QuickEach):
        def __getitem__(self, index):
            self.cache[index] = index
            return super().__getitem__(index)

    with fixing(tmp_path) as records:
        list(DataLoader(Caching(cache={}), num_workers=1))
    assert of(records, "persistent_workers") == [(False, False, 0)]
    assert "changes dataset.cache" in why(records, "persistent_workers")


def test_a_loader_made_anew_is_measured_once(tmp_path, monkeypatch):
    from _fullbore_hook.fix import probe

    measured = []
    measure = probe.measure
    monkeypatch.setattr(probe, "measure", lambda work: measured.append(work) or measure(work))
    dataset = Slow(64)
    with fixing(tmp_path):
        for _ in range(3):
            assert indices_and_pids(DataLoader(dataset, batch_size=8))[0] == list(range(64))
    assert len(measured) == 1


@pytest.mark.parametrize(
    "sampling",
    [
        dict(batch_size=8, sampler=torch.utils.data.SubsetRandomSampler(range(0, 512, 2))),
        dict(batch_size=8, sampler=list(range(0, 512, 2))),
        dict(batch_sampler=[list(range(i, i + 16, 2)) for i in range(0, 512, 16)]),
    ],
)
def test_samplers_of_every_kind_are_followed(tmp_path, sampling):
    class EvenOnly(QuickEach):
        def __getitem__(self, index):
            if index % 2:
                raise KeyError(index)
            return super().__getitem__(index)

    with fixing(tmp_path) as records:
        loader = DataLoader(EvenOnly(), **sampling)
        assert sorted(torch.cat(list(loader)).tolist()) == list(range(0, 512, 2))
    assert of(records, "num_workers") == [(0, 2, 1)]


def test_a_loader_dropped_before_its_first_batch_leaves_no_worker(tmp_path):
    import gc
    import multiprocessing

    with fixing(tmp_path):
        iterator = iter(DataLoader(Slow(), batch_size=8))
        pids = {child.pid for child in multiprocessing.active_children()}
        assert pids
        del iterator
        gc.collect()
        assert not pids & {child.pid for child in multiprocessing.active_children()}


def test_a_recommended_depth_that_does_not_fit_into_shared_memory_is_less_deep(tmp_path):
    here = line_of(test_a_recommended_depth_that_does_not_fit_into_shared_memory_is_less_deep, "loader = DataLoader")
    loaders = [{"file": os.path.abspath(__file__), "line": here, "settings": {"prefetch_factor": "16"}}]
    batch = 8 * 16  # bytes
    with fixing(tmp_path, "run", loaders=loaders, shm_free=int(2 * 6.5 * batch / 0.8)) as records:
        loader = DataLoader(Slow(), batch_size=8, num_workers=2)
        assert loader.prefetch_factor == 5  # ten batches, one on its way and one in the loop's hands
        assert sorted(indices_and_pids(loader)[0]) == list(range(128))
    assert of(records, "prefetch_factor") == [(2, 5, 1)] and "/dev/shm" in why(records, "prefetch_factor")
