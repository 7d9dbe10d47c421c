"""Applies `--fix` inside the training process: DataLoader settings changed without editing the script.

With settings from a report they are changed where the loader is constructed; otherwise at its first iter(), when the
dataset is complete. A changed loader is watched until its first batch: if that fails, everything is put back.
Without FULLBORE_FIX every function here does nothing; none of them raises except as the unchanged loader would.
"""

import json
import os
import weakref

from . import plan, probe, view
from .persistent import renew_persistent
from .takeback import RandomStates, SharedStates, turn_back

_FIRST_BATCH_SECONDS = 60.0
_MARK = "_fullbore_fix"


class Fixer:
    """The state of --fix in one process. `emit(loader=, setting=, before=, after=, applied=, why=)` records a change
    (applied 1), a setting left alone (0) or one taken back (2); values are int, bool or None."""

    def __init__(self, options, emit):
        self._options = options
        self._emit = emit
        self._known = {}  # id(loader) -> (weak reference, _Loader)
        self._pending = []  # (dataset, _Loader) between adjust() and loader_built()
        self._failed = {}  # type of dataset -> why its workers were taken back
        self._probes = []  # (weak reference to the dataset, what was measured of it, the result)
        self._built_at = {}  # (file, line) -> loaders constructed there so far

    # construction

    def adjust(self, arguments, location):
        if self._options.get("mode") != "run" or location is None:
            return {}
        place = (location[0], location[1])
        ordinal = self._built_at.get(place, 0)
        self._built_at[place] = ordinal + 1
        entry = _Loader(decided=True)
        self._pending.append((arguments.get("dataset"), entry))
        wanted = self._advice(place, ordinal)
        if wanted is None:
            self._copied(entry, arguments)
            return {}
        entry.decision = self._decide(view.from_arguments(arguments), wanted)
        return entry.decision.arguments(arguments)

    def loader_built(self, loader, loader_id):
        entry = self._take_pending(loader.dataset) or _Loader()
        entry.number = loader_id
        if entry.decision is not None:
            entry.decision.apply(loader)  # again, for what is no argument in every torch
            self._report(entry)
        self._remember(loader, entry)

    def _take_pending(self, dataset):
        """The entry of the innermost construction that got this dataset. Those whose __init__ raised stay behind."""
        for index in range(len(self._pending) - 1, -1, -1):
            if self._pending[index][0] is dataset:
                entry = self._pending.pop(index)[1]
                del self._pending[:-8]
                return entry
        return None

    def _advice(self, place, ordinal):
        for loader in self._options.get("loaders", ()):
            if (loader.get("file"), loader.get("line")) == place and loader.get("ordinal", ordinal) == ordinal:
                return loader.get("settings", {})
        return None

    def _copied(self, entry, arguments):
        """A framework that builds its own loader from the user's takes the changed settings over with the dataset."""
        for reference, other in list(self._known.values()):
            loader = reference()
            if (
                loader is not None
                and other.changed()
                and loader.dataset is arguments.get("dataset")
                and arguments.get("num_workers") == other.decision.after.num_workers
            ):
                entry.decision = other.decision._replace(
                    reasons={
                        name: "taken over from the loader that a framework copied" for name in other.decision.reasons
                    }
                )
                return

    def _remember(self, loader, entry):
        key = id(loader)
        known = self._known
        known[key] = (weakref.ref(loader, lambda _: known.pop(key, None)), entry)

    def _entry(self, loader):
        reference, entry = self._known.get(id(loader), (None, None))
        if reference is None or reference() is not loader:
            entry = _Loader(decided=self._options.get("mode") == "run")
            self._remember(loader, entry)
        return entry

    # decisions

    def _decide(self, seen, advice=None):
        failed = self._failed.get(type(seen.dataset), "")
        return plan.decide(seen, self._options, advice, failed and "workers failed before: " + failed, self._measure)

    def _measure(self, work):
        """A loader that is made anew in every epoch is measured once."""
        about = (work.batch_size, work.iterable, work.start_method, getattr(work.collate, "__qualname__", None))
        for reference, known, result in self._probes:
            if reference() is work.dataset and known == about:
                return result
        result = probe.measure(work)
        try:
            self._probes = [one for one in self._probes if one[0]() is not None]
            self._probes.append((weakref.ref(work.dataset), about, result))
        except TypeError:
            pass  # a list or tuple as the dataset
        return result

    # iteration

    def iterator_begin(self, loader):
        entry = self._entry(loader)
        if not entry.decided:
            entry.decided = True
            entry.decision = self._decide(view.from_loader(loader))
            entry.decision.apply(loader)
            self._report(entry)
        if entry.changed():
            renew_persistent(loader, entry)
            entry.states = RandomStates(loader)

    def iterator_created(self, loader, iterator):
        entry = self._entry(loader)
        if not entry.changed() or entry.proven is not None and entry.proven() is iterator:
            return
        if type(iterator).__module__ != "torch.utils.data.dataloader":
            return  # of a kind that could not be turned back
        entry.after_creation = SharedStates()
        iterator.__dict__[_MARK] = _Watch(loader, entry)

    def iterator_failed(self, loader, error):
        """The iterator that the original settings give, or None if this loader was not changed."""
        entry = self._entry(loader)
        if not entry.changed():
            return None
        self._take_back(loader, entry, "its iterator could not be created (%s)" % plan.one_line(error))
        if entry.states is not None:
            entry.states.restore()
        iterator = loader._get_iterator()
        if loader.persistent_workers and loader.num_workers > 0:
            loader._iterator = iterator
        return iterator

    def first_batch(self, iterator, next_data):
        watch = iterator.__dict__[_MARK]
        entry = watch.entry
        failure = self._try_first(iterator, next_data, entry)
        if failure.why is None:
            return failure.data
        loader = watch.loader()
        drawn_since = None if entry.after_creation.unchanged() else SharedStates()
        self._take_back(loader, entry, failure.why)
        entry.states.restore()
        turn_back(iterator, loader)
        if drawn_since is not None:
            drawn_since.restore()  # the script drew between iter() and the first batch: its numbers are used up
        return iterator._next_data()

    def _try_first(self, iterator, next_data, entry):
        limit, users_limit = self._limit(entry), iterator._timeout
        multi = hasattr(iterator, "_workers")
        if multi and users_limit == 0:
            iterator._timeout = limit
        try:
            data = next_data()
        except StopIteration:
            self._prove(iterator, entry, users_limit)
            raise
        except Exception as error:
            if not multi and not plan.raised_while_pinning(error):
                self._prove(iterator, entry, users_limit)
                raise  # the samples were made by the script's own process, as ever: the error is the script's
            timed_out = multi and "timed out after" in str(error)
            return _First(
                None,
                "no first batch came within %.0f s" % limit
                if timed_out
                else "its first batch failed (%s)" % plan.one_line(error),
            )
        self._prove(iterator, entry, users_limit)
        return _First(data, None)

    def _limit(self, entry):
        least = self._options.get("first_batch_timeout_s", _FIRST_BATCH_SECONDS)
        return max(least, 10 * (entry.decision.first_batch_seconds or 0.0))

    @staticmethod
    def _prove(iterator, entry, timeout):
        iterator._timeout = timeout
        iterator.__dict__.pop(_MARK, None)
        entry.proven = weakref.ref(iterator)

    def let_go(self):
        for reference, entry in list(self._known.values()):
            loader = reference()
            if loader is not None and entry.changed() and not entry.decision.before.persistent_workers:
                loader.__dict__.update(persistent_workers=False, _iterator=None)

    # records

    def _take_back(self, loader, entry, why):
        entry.taken_back = True
        self._failed[type(loader.dataset)] = why
        before, after = entry.decision.before, entry.decision.after
        entry.decision.put_back(loader)
        for name in before._fields:
            if getattr(before, name) != getattr(after, name):
                self._emit(
                    loader=entry.number,
                    setting=name,
                    before=getattr(before, name),
                    after=getattr(after, name),
                    applied=2,
                    why=why,
                )

    def _report(self, entry):
        before, after = entry.decision.before, entry.decision.after
        for name, why in entry.decision.reasons.items():
            old, new = getattr(before, name), getattr(after, name)
            self._emit(loader=entry.number, setting=name, before=old, after=new, applied=int(old != new), why=why)


class _Watch:
    """On an iterator until its first batch: its loader, or if the script dropped that, one with the same attributes.
    No reference to the loader itself: the garbage collector, breaking the cycle with a persistent iterator, would close
    the workers' pipes before torch can tell them to end, and torch then waits 5 s for each."""

    def __init__(self, loader, entry):
        self.entry = entry
        self._reference = weakref.ref(loader)
        self._kind = type(loader)
        self._attributes = dict(loader.__dict__, _iterator=None)

    def loader(self):
        loader = self._reference()
        if loader is None:
            loader = object.__new__(self._kind)
            loader.__dict__.update(self._attributes)
        return loader


class _First:
    def __init__(self, data, why):
        self.data = data
        self.why = why


class _Loader:
    """What is known of one loader: the decision on it and, while an iterator is being tried, how to undo it."""

    def __init__(self, decided=False):
        self.decided = decided
        self.decision = None
        self.number = 0
        self.states = None
        self.after_creation = None
        self.dataset_state = None
        self.proven = None
        self.taken_back = False

    def changed(self):
        return self.decision is not None and self.decision.before != self.decision.after and not self.taken_back


_fixer = None


def start(emit):
    """Reads FULLBORE_FIX; to be called once per process before the first DataLoader."""
    global _fixer
    path = os.environ.get("FULLBORE_FIX")
    if not path:
        return
    try:
        with open(path, encoding="utf-8") as file:
            _fixer = Fixer(json.load(file), emit)
    except (OSError, ValueError):
        _fixer = None


def active():
    """True if loaders are changed and looked after in this process, also when nothing is recorded any more."""
    return _fixer is not None


def stop():
    """No further loader is changed. Those that were keep their workers, but new ones in every epoch: without the look at
    each iter(), persistent ones could be noticed."""
    global _fixer
    if _fixer is not None:
        _fixer.let_go()
    _fixer = None


def adjust(arguments, location):
    """Arguments of DataLoader.__init__ to replace."""
    return _guarded({}, "adjust", arguments, location)


def loader_built(loader, loader_id):
    _guarded(None, "loader_built", loader, loader_id)


def iterator_begin(loader):
    _guarded(None, "iterator_begin", loader)


def iterator_created(loader, iterator):
    _guarded(None, "iterator_created", loader, iterator)


def iterator_failed(loader, error):
    """A replacement for an iterator that a changed loader could not create, or None. Raises as the unchanged one."""
    return _fixer.iterator_failed(loader, error) if _fixer is not None else None


def guards(iterator):
    """True if `iterator` belongs to a changed loader and has not given its first batch yet."""
    return _fixer is not None and _MARK in iterator.__dict__


def first_batch(iterator, next_data):
    """The first batch: from `next_data`, or from the original settings if that fails or takes too long."""
    return _fixer.first_batch(iterator, next_data)


def _guarded(otherwise, name, *arguments):
    if _fixer is None:
        return otherwise
    try:
        return getattr(_fixer, name)(*arguments)
    except Exception:
        return otherwise
