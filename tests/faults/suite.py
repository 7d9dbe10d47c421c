"""Runs what was selected, one run after the other: takes what was kept, runs the rest while there is time, and says
how far it is."""

import shutil
import tempfile
import time
from pathlib import Path

from . import gains, judge, record, watch

LIMIT_REACHED = {"not_run": "the time limit was reached before it"}


class Clock:
    """How far the suite is, and whether there is time for more."""

    def __init__(self, limit_s, count):
        self.began, self.limit_s, self.count = time.monotonic(), limit_s, count
        self.done = self.kept = 0

    def over(self):
        return self.limit_s is not None and time.monotonic() - self.began > self.limit_s

    def line(self, name, text, kept):
        """Counts one more as done and prints it; what was kept says nothing of the time that a run takes."""
        self.done += 1
        self.kept += kept
        spent = time.monotonic() - self.began
        left = spent / max(1, self.done - self.kept) * (self.count - self.done)
        times = "kept" if kept else "%.0f min, at most %.0f left" % (spent / 60, left / 60)
        print("[%3d/%d] %-36s %s   (%s)" % (self.done, self.count, name, text, times), flush=True)


class Suite:
    """`asked` are the options of the command line, `store` the results."""

    def __init__(self, asked, store):
        self.asked, self.store = asked, store

    def all(self, wanted, fixes):
        """([(run, found, judgement)], [(run, gain)]), in order; what the time limit left out is not run."""
        clock = Clock(self.asked.limit, len(wanted) + len(fixes))
        judged, measured = [], []
        for run in wanted:
            with tempfile.TemporaryDirectory(prefix="fullbore-fault-") as base:
                folder = Path(self.asked.keep or base) / run.id
                found, kept = self._once(run, "found", lambda run: self._found(run, folder), clock)
                judgement = judge.judge(run, found)
                judged.append((run, found, judgement))
                clock.line(run.id, judgement.outcome + "".join(": " + why for why in judgement.why[:1]), kept)
                if run not in fixes:
                    continue
                # The run that was judged is the first of the pairs.
                before = None if kept or "not_run" in found else folder
                gain, kept = self._once(run, "gain", lambda run: self._gain(run, before), clock)
            measured.append((run, gain))
            clock.line(run.id, gain.get("not_run") or "gain measured %.2fx" % gains.summary(gain)["measured"], kept)
        return judged, measured

    def _once(self, run, kind, make, clock):
        """(result, whether it was kept from a former suite). What was not run then is run now."""
        kept = self.store.load(run, kind) if self.asked.resume else None
        if kept is not None and "not_run" not in kept:
            return kept, True
        if clock.over():
            return LIMIT_REACHED, False
        made_of = self.store.made_of(run)
        result = make(run)
        self.store.keep(run, kind, result, made_of)
        return result, False

    def _found(self, run, folder):
        for tries in range(1, 2 + self.asked.retry):
            found = {**self._watched(run, folder), "tries": tries}
            if judge.judge(run, found).outcome == judge.RIGHT:
                break
        return found

    def _watched(self, run, folder):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            found = watch.found(watch.watch(run, self.asked.cache, folder))
            if self.asked.record and judge.judge(run, found).outcome == judge.RIGHT:
                record.store(run, folder, self.asked.cache)
            return found
        except watch.NotRun as reason:
            return {"not_run": str(reason)}

    def _gain(self, run, before):
        try:
            return gains.measure(run, self.asked.cache, self.asked.pairs, before)
        except watch.NotRun as reason:
            return {"not_run": str(reason)}
