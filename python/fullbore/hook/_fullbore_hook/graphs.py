"""Watches for CUDA graphs, which go before the tracer of the GPU: a graph that was captured while it traced failed when
launched afterwards, and took the job with it. Only where a capture can be seen coming may it trace at all.
"""

from . import abi, handover, rewrite
from .guard import contexts

_done = []


class _Probe:
    @contexts
    def capturing(self, graph):
        handover.give_for_good("CUDA graphs are captured, and a graph that was traced once cannot be launched afterwards")


_PROBE = _Probe()


def install(module):
    if not handover.is_here():
        return None  # nothing traces: captures are nobody's concern
    function = vars(getattr(module, "CUDAGraph", object)).get("capture_begin")
    if not hasattr(function, "__code__"):
        return abi.missing("cuda_graphs", "this version of torch does not capture graphs in Python")
    done, problems = rewrite.instrument(module, [(function, rewrite.Rules(_PROBE, context=("capturing", ("self",))))])
    _done.extend(done)
    for name, why in problems:
        abi.missing(name, why)
    if done:
        handover.allow()


def uninstall():
    if _done:
        handover.give_for_good("the hook, which sees CUDA graphs coming, has ended")
    rewrite.restore(_done)
    del _done[:]
