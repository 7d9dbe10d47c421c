"""Times lines and callees with sys.settrace and sys.setprofile, for Python 3.8 to 3.11.

While armed every call of the thread costs, so it is armed for one sample or one loop body at a time and always
disarmed by end(). It never takes the place of a tracer that is there, and leaves one alone that came meanwhile.
"""

import sys

from .. import is_ours
from . import codes, stages
from .ledger import KEY, LINE, MODEL, PLAIN, STAGE, USER

MOST_BLOCKING = 4
_LONGEST_EVENT_NS = 200_000  # more is another process's time on this core
_TOUCH_FILES = (stages.OPEN, stages.READ, stages.DECODE)


class Windows:
    """Tracer of one thread at a time. `clock` returns nanoseconds."""

    def __init__(self, clock):
        self._clock = clock
        self.dispatch_ns = self.skip_ns = 0  # of an event, and of one that changes nothing; see calibrate.py
        self.ledger = None
        self.cost_ns = self.events = self.skipped = 0
        self.expired = False
        self.broken = ""  # an error of ours, which ends line timing
        self.blocking = []
        self._reading = None
        self.paths = None  # a DataPaths, told of what opens files
        self._infos = {where: {} for where in (stages.LOOP, stages.DATASET, stages.COLLATE_FN)}
        self._kept = []
        self._touched = []
        self._limit_ns = self._deadline = 0
        # one object each, so that "is it still ours" can be asked
        self._trace, self._local, self._profile = self._on_call, self._on_line, self._on_event

    tier = "windows"
    heavy = True

    def taken(self):
        """Why no window can be opened now, or ""."""
        if sys.gettrace() is not None:
            return "another tracer (debugger or coverage) is installed by sys.settrace"
        if sys.getprofile() is not None:
            return "another profiler is installed by sys.setprofile"
        if _compiled_frames():
            return "torch.compile is active, tracing would disturb it"
        return ""

    def adopt(self, functions, ledger, lines):
        """Treats functions as the user's (`lines`), or as a library's, whatever their file says."""
        for function in functions:
            self._infos[ledger.where][function.__code__] = codes.Info(USER) if lines else codes.NOTHING

    def prepare(self, ledger, functions):
        """Nothing: everything that the thread calls is seen."""

    def begin(self, ledger, base_frames, limit_ns, deadline_ns):
        """Arms this thread. `base_frames` are running already, outermost first; stops by itself past a limit."""
        start = self._clock()
        self.ledger = ledger
        self.cost_ns = self.events = self.skipped = 0
        self.expired = False
        self.blocking = []
        self._reading = None
        self._limit_ns = limit_ns
        self._deadline = start + deadline_ns
        ledger.begin(start)
        ledger.dispatch_ns = self.dispatch_ns
        for frame in base_frames:
            ledger.enter_user(frame, frame.f_code, frame.f_lineno)
            self._touched.append((frame, frame.f_trace))
            frame.f_trace = self._local
        ledger.floor(base_frames)
        sys.settrace(self._trace)
        sys.setprofile(self._profile)
        ledger.last = self._clock()
        self.cost_ns = ledger.last - start

    def end(self):
        """Disarms; returns what tracing cost in this window."""
        now = self._clock()
        ledger = self.ledger
        if ledger is None:
            return 0
        disturbed = not self.expired and sys.getprofile() is not self._profile
        self._disarm()
        if not self.expired and not disturbed:
            ledger.charge(now)
        self.expired = self.expired or disturbed
        ledger.stack.clear()
        ledger.cell = ledger.nowhere
        self.ledger = None
        self._reading = None
        self.cost_ns += self._clock() - now
        return self.cost_ns

    def release(self, where):
        """Nothing stays armed between windows."""

    def close(self):
        self.forget()

    def forget(self):
        """In a forked child: whatever the parent had armed ends here."""
        self._disarm()
        if self.ledger is not None:
            self.ledger.stack.clear()
            self.ledger.cell = self.ledger.nowhere
        self.ledger = None

    def _disarm(self):
        if sys.getprofile() is self._profile:
            sys.setprofile(None)
        if sys.gettrace() is self._trace:
            sys.settrace(None)
        for frame, before in self._touched:
            if frame.f_trace is self._local:
                frame.f_trace = before
        self._touched = []

    def _leave_early(self):
        self.expired = True
        self._disarm()

    # -- events -------------------------------------------------------------------------------------------------

    def _on_call(self, frame, event, arg):
        ledger = self.ledger
        if ledger is None:
            return self._disarm()
        try:
            info = self._infos[ledger.where].get(frame.f_code) or self._learn(codes.of_frame, frame, frame.f_code)
            self._skip(ledger)
            return self._local if self._carries(info, frame.f_code) else None
        except Exception as error:
            return self._broke(error)

    def _on_line(self, frame, event, arg):
        ledger = self.ledger
        if ledger is None:
            frame.f_trace = None
            return None
        if event == "line":
            try:
                now = self._clock()
                ledger.charge(now)
                index = ledger.find(frame)
                if index >= 0:
                    ledger.at_line(index, frame.f_code, frame.f_lineno)
                self._done(now)
            except Exception as error:
                self._broke(error)
        return self._local

    def _on_event(self, frame, event, arg):
        ledger = self.ledger
        if ledger is None:
            # ended by another thread
            self._disarm()
            return
        try:
            stack = ledger.stack
            info = None
            if event == "c_call":
                info = self._builtin(arg)
                changes = info.stage is not None
            elif event == "call":
                info = self._infos[ledger.where].get(frame.f_code) or self._learn(codes.of_frame, frame, frame.f_code)
                changes = info.stage is not None or self._carries(info, frame.f_code)
            else:
                key = frame if event == "return" else arg
                changes = bool(stack) and stack[-1][KEY] is key
            if not changes:
                self._skip(ledger)
                return
            now = self._clock()
            ledger.charge(now)
            if event == "call":
                self._enter(frame, info, now)
            elif event == "c_call":
                self._enter_builtin(frame, arg, info, now)
            else:
                self._leave(key, now)
            self._done(now)
        except Exception as error:
            self._broke(error)

    def _skip(self, ledger):
        """An event that changes nothing: its cost is known, the clock need not be read."""
        self.skipped += 1
        ledger.last += self.skip_ns
        self.cost_ns += self.skip_ns
        if self.cost_ns > self._limit_ns:
            self._leave_early()

    def _learn(self, describe, thing, key):
        """Info of what was not met before. Takes long, the first time, and none of it is the user's."""
        ledger = self.ledger
        now = self._clock()
        ledger.charge(now)
        infos = self._infos[ledger.where]
        if len(infos) > 8192:
            infos.clear()
        info = infos[key] = describe(thing, ledger.where)
        self._done(now)
        return info

    def _broke(self, error):
        """An error of ours must not reach the user's code; one of a signal handler that ran in ours must."""
        self._leave_early()
        if not is_ours(error):
            raise error
        self.broken = "{}: {}".format(type(error).__name__, error)

    def _done(self, now):
        """Restarts the clock that stood still for this event, and watches the window's limits."""
        end = self._clock()
        self.cost_ns += min(end - now, _LONGEST_EVENT_NS) + self.dispatch_ns
        self.ledger.last = end
        self.events += 1
        if self.cost_ns > self._limit_ns or end > self._deadline or self.ledger.is_over():
            self._leave_early()

    def _leave(self, key, now):
        ledger = self.ledger
        if ledger.cell[STAGE] == stages.OPEN and ledger.where == stages.DATASET:
            self.paths.opened()
        ledger.leave(key)
        if self._reading is not None and self._reading[0] is key:
            self._close_reading(now)

    def _enter_builtin(self, frame, function, info, now):
        ledger = self.ledger
        self._open_reading(function, info, frame, now)
        ledger.enter_callee(function, info.stage, info.name)
        if info.stage in _TOUCH_FILES and ledger.where == stages.DATASET and not self.paths.done():
            self.paths.variables(frame.f_locals.values())

    def _enter(self, frame, info, now):
        ledger = self.ledger
        code = frame.f_code
        if self._carries(info, code):
            number = frame.f_lineno
            ledger.enter_user(frame, code, None if number == code.co_firstlineno and ledger.stack else number)
        else:
            self._open_reading(frame, info, frame, now)
            ledger.enter_callee(frame, info.stage, info.name, MODEL if info.kind == MODEL else PLAIN)

    def _carries(self, info, code):
        ledger = self.ledger
        if info.kind == USER:
            return not ledger.in_model() or code.co_name in codes.LOOP_METHODS
        return info.kind == codes.FALLBACK and not (ledger.stack and ledger.stack[-1][LINE] is not None)

    def _builtin(self, function):
        owner = function.__self__
        kind = owner if issubclass(type(owner), type) else type(owner)
        key = (function.__module__, function.__name__, id(kind))
        info = self._infos[self.ledger.where].get(key)
        if info is None:
            info = self._learn(codes.of_builtin, function, key)
            self._kept.append(kind)  # or its id might be another's one day
        return info

    # -- blocking reads of the loop -----------------------------------------------------------------------------

    def _open_reading(self, key, info, frame, now):
        if info.stage == stages.BLOCKING and self._reading is None and len(self.blocking) < MOST_BLOCKING:
            self._reading = (key, info.name, frame, now)

    def _close_reading(self, now):
        key, name, frame, begin = self._reading
        self._reading = None
        chain = codes.carriers(frame)
        if chain:
            self.blocking.append((begin, now, name, chain[-1].f_code.co_filename, chain[-1].f_lineno))


def _compiled_frames():
    """True once torch.compile has compiled a frame in this process."""
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    frames = counters.get("frames") if isinstance(counters, dict) else None
    return bool(frames) and bool(frames.get("total") or frames.get("ok"))
