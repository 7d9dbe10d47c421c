"""Copies to the GPU and a GPU that is the limit. Without one they are not run."""

from .. import conditions
from ..case import Case, Expected, vary


def _on_gpu(name, expected):
    return Case(name, expected, conditions=lambda cache: [conditions.nvidia_gpu()], variations=[vary("")])


CASES = (
    _on_gpu("pageable_copy", Expected("pageable_copy", at="images = images.to(")),
    _on_gpu("blocking_copy", Expected("blocking_copy", at="images = images.to(")),
    _on_gpu("unoverlapped_copy", Expected("unoverlapped_copy", at="images = images.to(")),
    _on_gpu("gpu_compute_bound", Expected("compute_bound", healthy=True)),
)
