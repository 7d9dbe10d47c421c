"""What a watched process is told of batches that a thread draws ahead: the loop waits for the hand-out, not for torch's
`next`, which runs in that thread. Where nobody watches, nothing is asked and nothing is done.
"""

import contextlib
import sys

_NOTHING = contextlib.nullcontext()


class Unwatched:
    """Where nobody watches."""

    def draws(self):
        """In the drawing thread, before its first batch."""

    def drawn(self):
        """In the drawing thread: what the last batch was, for `took`."""

    def waiting(self):
        """The context of one hand-out, in the thread that gets the batch."""
        return _NOTHING

    def took(self, drawn, ready, batch):
        """Within it: the batch is there; `ready` batches lay there when it was asked for."""


class Watched(Unwatched):
    def __init__(self, hook, iterators):
        self._abi = hook.abi
        self._probes = iterators.probes
        self._hand_out = iterators.HandOut()

    def draws(self):
        self._probes.draws_for_another()

    def drawn(self):
        return self._probes.drawn()

    def waiting(self):
        return self._hand_out if self._abi.active() else _NOTHING

    def took(self, drawn, ready, batch):
        if self._abi.active():
            self._hand_out.took(drawn, ready, batch)


def watch():
    """For one pass over a loader."""
    hook = sys.modules.get("_fullbore_hook")
    iterators = sys.modules.get("_fullbore_hook.loading.iterators")
    if iterators is None or not hook.abi.active():
        return Unwatched()
    return Watched(hook, iterators)
