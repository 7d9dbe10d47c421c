"""Keeps persistent workers that the script did not ask for from being noticed by it."""

import sys

from . import snapshot


def renew_persistent(loader, entry):
    """Before iter(): the script did not ask for persistent workers, so it must not notice them. They are started
    anew if it changed the dataset since, and if it still holds an unfinished iterator that a reset would take away."""
    if entry.decision.before.persistent_workers or not entry.decision.after.persistent_workers:
        return
    state = snapshot.snapshot(loader.dataset)
    known, entry.dataset_state = entry.dataset_state, state
    if loader.__dict__.get("_iterator") is None:
        return
    held = _references(loader.__dict__) > _UNHELD
    if known != state or (held and not _exhausted(loader.__dict__["_iterator"])):
        loader.__dict__["_iterator"] = None


def _exhausted(iterator):
    return iterator._rcvd_idx >= iterator._send_idx and iterator._tasks_outstanding == 0


def _references(holder):
    iterator = holder["_iterator"]
    return sys.getrefcount(iterator)


_UNHELD = _references({"_iterator": object()})  # how many the holder and the call itself make differs by Python version
