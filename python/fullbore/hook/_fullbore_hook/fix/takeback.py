"""Undoes a change that failed: random states as they were, workers ended, the user's iterator turned into the original
kind in place (the training loop already holds the object, so no other one can be handed over)."""

import contextlib
import sys
import threading

from .handles import is_random_generator
from ..objects import walk

# Politely first: healthy workers leave at once. A worker that hangs is killed, so that taking back stays bounded.
_POLITE_SECONDS = 2.0
_FORCED_SECONDS = 8.0


class RandomStates:
    """Every random state that starting a loader's iterator can advance, as it was when this was made."""

    def __init__(self, loader):
        self._shared = _shared_states()
        self._own = [(one, _state_of(one)) for one in _own_generators(loader)]

    def restore(self):
        _restore_shared(self._shared)
        for generator, state in self._own:
            _set_state(generator, state)


class SharedStates:
    """The process-wide random states alone, to tell whether someone drew from them."""

    def __init__(self):
        self._states = _shared_states()

    def unchanged(self):
        return _same(self._states, _shared_states())

    def restore(self):
        _restore_shared(self._states)


def _shared_states():
    states = {}
    if "random" in sys.modules:
        states["random"] = sys.modules["random"].getstate()
    if "numpy.random" in sys.modules:
        states["numpy"] = sys.modules["numpy.random"].get_state(legacy=False)
    torch = sys.modules["torch"]
    if hasattr(torch, "get_rng_state"):
        states["torch"] = torch.get_rng_state()
    states["cuda"] = [generator.get_state() for generator in _cuda_generators(torch)]
    return states


def _cuda_generators(torch):
    cuda = getattr(torch, "cuda", None)
    return cuda.default_generators if hasattr(cuda, "default_generators") and cuda.is_initialized() else ()


def _restore_shared(states):
    if "random" in states:
        sys.modules["random"].setstate(states["random"])
    if "numpy" in states:
        sys.modules["numpy.random"].set_state(states["numpy"])
    torch = sys.modules["torch"]
    if "torch" in states:
        torch.set_rng_state(states["torch"])
    for generator, state in zip(_cuda_generators(torch), states["cuda"]):
        generator.set_state(state)


def _same(first, second):
    if hasattr(first, "equal"):
        return bool(first.equal(second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_same(value, second[key]) for key, value in first.items())
    if isinstance(first, list):
        return len(first) == len(second) and all(map(_same, first, second))
    return first.tobytes() == second.tobytes() if hasattr(first, "tobytes") else first == second


def _own_generators(loader):
    roots = (getattr(loader, name, None) for name in ("generator", "sampler", "batch_sampler"))
    return [
        node
        for root in roots
        if root is not None
        for _, node in walk(root, "sampler", nodes=200, depth=4)
        if is_random_generator(node)
    ]


def _state_of(generator):
    for name in ("getstate", "get_state"):
        if hasattr(generator, name):
            return getattr(generator, name)()
    return generator.bit_generator.state  # numpy's Generator


def _set_state(generator, state):
    for name in ("setstate", "set_state"):
        if hasattr(generator, name):
            getattr(generator, name)(state)
            return
    generator.bit_generator.state = state


def turn_back(iterator, loader):
    """Makes `iterator` what `iter(loader)` gives with the loader's present settings. Raises what that would raise."""
    module = sys.modules["torch.utils.data.dataloader"]
    kind = module._SingleProcessDataLoaderIter if loader.num_workers == 0 else module._MultiProcessingDataLoaderIter
    end_workers(iterator)
    object.__setattr__(iterator, "__class__", kind)
    kind.__init__(iterator, loader)


def end_workers(iterator):
    """Empties `iterator` and ends its workers and pin thread within about ten seconds, dead or alive."""
    shell = object.__new__(type(iterator))
    object.__setattr__(shell, "__dict__", object.__getattribute__(iterator, "__dict__"))
    object.__setattr__(iterator, "__dict__", {})
    if not hasattr(shell, "_workers"):
        return
    if getattr(shell, "_worker_pids_set", False):
        # Registered under the iterator's own id: torch's SIGCHLD handler would raise for workers that we end.
        signals = sys.modules["torch.utils.data._utils.signal_handling"]
        signals._remove_worker_pids(id(iterator))
        shell._worker_pids_set = False
    end = threading.Thread(target=_shut_down, args=(shell,), name="fullbore-end-workers", daemon=True)
    end.start()
    end.join(_POLITE_SECONDS)
    if end.is_alive():
        for worker in shell._workers:
            with contextlib.suppress(Exception):
                worker.kill()
        end.join(_FORCED_SECONDS)


def _shut_down(shell):
    with contextlib.suppress(Exception):
        shell._shutdown_workers()
