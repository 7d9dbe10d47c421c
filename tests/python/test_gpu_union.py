"""Steps are told apart by their first kernel, and what runs at the same time counts once."""

import gpu_union


def test_kernels_side_by_side_count_once():
    kernels = [(10, 20, "triu_tril"), (15, 30, "gemm"), (40, 50, "relu"), (60, 61, "triu_tril")]
    assert gpu_union.per_step_ns(kernels) == [30]


def test_only_whole_steps_count():
    kernels = [(0, 9, "gemm"), (10, 20, "void triu_tril<float>"), (20, 25, "gemm"), (30, 31, "triu_tril"), (35, 90, "gemm")]
    assert gpu_union.per_step_ns(kernels) == [15]


def test_a_kernel_that_reaches_into_the_next_step_is_not_counted_again():
    kernels = [(0, 1, "triu_tril"), (1, 15, "side"), (10, 20, "triu_tril"), (30, 31, "triu_tril")]
    assert gpu_union.per_step_ns(kernels) == [15, 5]
