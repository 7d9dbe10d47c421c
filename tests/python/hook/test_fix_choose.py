"""The rule of --fix, limit by limit."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python/fullbore/hook"))
from _fullbore_hook.fix.choose import Limits, Probe, Settings, choose, worker_cap  # noqa: E402

AS_USUAL = Settings(num_workers=0, prefetch_factor=None, persistent_workers=False, pin_memory=False)
PHOTOS = Probe(batch_seconds=0.3, batch_bytes=38_000_000, batches=40)  # 64 JPEGs decoded to float, seen on two cores
ROOMY = Limits(cores=16, shm_free=8 << 30, memory_available=64 << 30)


def test_workers_are_added_where_a_batch_takes_long():
    chosen, reasons = choose(AS_USUAL, ROOMY, PHOTOS)
    assert chosen == Settings(15, 2, True, False, keep_freed_memory=True)
    assert "300.0 ms" in reasons["num_workers"] and "one left to the training thread" in reasons["num_workers"]


@pytest.mark.parametrize(
    "limits, most",
    [
        (Limits(cores=1), 1),
        (Limits(cores=2), 2),
        (Limits(cores=3), 2),
        (Limits(cores=8), 7),
        (Limits(cores=128), 16),
        (Limits(cores=2, quota=1.0), 1),
        (Limits(cores=8, quota=2.5), 2),
        (Limits(cores=8, quota=0.5), 1),
        (Limits(cores=2, ranks=2), 1),
        (Limits(cores=64, ranks=8), 7),
        (Limits(cores=4, ranks=8), 1),
    ],
)
def test_workers_stay_within_cores_quota_and_ranks(limits, most):
    assert worker_cap(limits)[0] == most


def test_a_quota_is_named_as_the_limit():
    assert "quota of 1.0 cores" in choose(AS_USUAL, ROOMY._replace(quota=1.0), PHOTOS)[1]["num_workers"]


def test_batches_that_are_quick_to_make_stay_in_the_training_process():
    chosen, reasons = choose(AS_USUAL, ROOMY, Probe(batch_seconds=0.0008, batch_bytes=10_000))
    assert chosen.num_workers == 0 and "would not be faster" in reasons["num_workers"]


def test_large_batches_count_their_hand_over():
    quick_but_large = Probe(batch_seconds=0.02, batch_bytes=100_000_000)
    assert choose(AS_USUAL, ROOMY, quick_but_large)[0].num_workers == 0


def test_no_more_workers_than_the_hand_over_can_keep_up_with():
    assert choose(AS_USUAL, ROOMY, Probe(batch_seconds=0.004, batch_bytes=0))[0].num_workers == 4


def test_no_more_workers_than_batches_in_a_pass():
    assert choose(AS_USUAL, ROOMY, PHOTOS._replace(batches=3))[0].num_workers == 3


def test_a_short_pass_is_not_worth_starting_workers():
    chosen, reasons = choose(AS_USUAL, ROOMY, PHOTOS._replace(batch_seconds=0.05, batch_bytes=0, batches=2))
    assert chosen.num_workers == 0 and "a whole pass takes 100.0 ms" in reasons["num_workers"]


def test_spawned_workers_need_a_longer_pass():
    spawned = PHOTOS._replace(batches=20, start_method="spawn")
    assert choose(AS_USUAL, ROOMY, spawned)[0].num_workers == 0
    assert choose(AS_USUAL, ROOMY, spawned._replace(batches=200))[0].num_workers > 0


def test_batches_that_do_not_fit_into_shared_memory_leave_the_loader_alone():
    chosen, reasons = choose(AS_USUAL, ROOMY._replace(shm_free=20_000_000), PHOTOS._replace(batch_bytes=12_000_000))
    assert chosen == AS_USUAL and "/dev/shm (20 MB free)" in reasons["num_workers"]


def test_small_shared_memory_takes_depth_before_workers():
    limits = Limits(cores=2, shm_free=60_000_000, memory_available=8 << 30)
    chosen, reasons = choose(AS_USUAL, limits, PHOTOS._replace(batch_bytes=12_000_000))
    assert (chosen.num_workers, chosen.prefetch_factor) == (2, 1) and "/dev/shm" in reasons["prefetch_factor"]


def test_little_memory_takes_workers_away():
    chosen, reasons = choose(AS_USUAL, ROOMY._replace(memory_available=1 << 30), PHOTOS)
    assert 1 <= chosen.num_workers < 6 and "memory available" in reasons["num_workers"]


def test_shared_memory_is_divided_by_ranks():
    limits = Limits(cores=2, ranks=4, shm_free=160_000_000)
    assert choose(AS_USUAL, limits, PHOTOS)[0].num_workers == 0


def test_uneven_samples_get_a_deeper_queue():
    assert choose(AS_USUAL, ROOMY, PHOTOS._replace(spread=9.0))[0].prefetch_factor == 4


def test_exact_touches_pinning_and_depth_alone():
    present = Settings(4, 1, False, False)
    chosen, reasons = choose(present, ROOMY._replace(cuda=True), PHOTOS, mode="exact")
    assert chosen == Settings(4, 2, False, True) and set(reasons) == {"prefetch_factor", "pin_memory"}


def test_exact_keeps_the_depth_when_the_sampler_draws_as_it_goes():
    chosen, reasons = choose(Settings(4, 1, False, False), ROOMY, PHOTOS, mode="exact", prefetch="draws as it goes")
    assert chosen.prefetch_factor == 1 and reasons["prefetch_factor"] == "draws as it goes"


def test_pinning_needs_a_device():
    chosen, reasons = choose(AS_USUAL, ROOMY, PHOTOS)
    assert not chosen.pin_memory and reasons["pin_memory"] == "no CUDA device is in use"


def test_workers_that_the_script_asks_for_stay():
    chosen, reasons = choose(Settings(2, 2, True, True), ROOMY, None)
    assert chosen == Settings(2, 2, True, True) and "the script sets it" in reasons["num_workers"]


def test_far_too_many_computing_workers_are_reduced_to_the_cores():
    present = Settings(16, 2, False, False)
    assert choose(present, Limits(cores=2), PHOTOS)[0].num_workers == 2
    assert choose(present, Limits(cores=2), PHOTOS._replace(cpu_share=0.1))[0].num_workers == 16


def test_a_recommendation_is_clipped_to_this_machine_with_the_reason():
    wanted = Settings(12, 2, True, False)
    chosen, reasons = choose(AS_USUAL, Limits(cores=2), PHOTOS, "run", wanted)
    assert chosen.num_workers == 2 and reasons["num_workers"] == "12 recommended, limited by 2 usable cores"


def test_a_recommendation_of_more_never_takes_workers_away():
    wanted = Settings(12, 2, False, False)
    chosen, reasons = choose(Settings(4, 2, False, False), Limits(cores=2), PHOTOS, "run", wanted)
    assert chosen.num_workers == 4 and "limited by 2 usable cores" in reasons["num_workers"]


def test_a_recommendation_to_have_fewer_workers_is_followed_whatever_the_dataset_holds():
    wanted = Settings(2, 2, False, False)
    chosen, _ = choose(Settings(8, 2, False, False), ROOMY, None, "run", wanted, movable="an open file")
    assert chosen.num_workers == 2


def test_nothing_is_added_when_something_speaks_against_it():
    chosen, reasons = choose(AS_USUAL, ROOMY, PHOTOS, movable="dataset.file is an open file")
    assert chosen == AS_USUAL and reasons["num_workers"] == "dataset.file is an open file"


def test_an_unmeasured_loader_is_left_alone():
    chosen, reasons = choose(AS_USUAL, ROOMY, None)
    assert chosen == AS_USUAL and "could not be measured" in reasons["num_workers"]
