"""Times lines and callees with sys.monitoring events that are local to single code objects, for Python 3.12 and later.

Nothing else in the process is slowed. Unwinding has no local event: the next event of an outer code object ends it.
"""

import sys
from threading import get_ident

from .. import is_ours
from . import codes, stages
from .discovery import Discovery
from .ledger import CELL, KEY, KIND, LINE, MODEL, PLAIN, USER

TOOL_NAME = "fullbore"
_TOOLS = (4, 3, 5)  # not those that a debugger, coverage or a profiler will ask for
MOST_BLOCKING = 4
_LONGEST_EVENT_NS = 200_000  # more is another process's time on this core
_LONGEST_NS = 60_000_000_000  # a window that nobody ended
_TOUCH_FILES = (stages.OPEN, stages.READ, stages.DECODE)
_CALL = object()  # key of a callee on the stack; its frame is the entry below


class Monitoring:
    """Tracer of one thread at a time. `clock` returns nanoseconds; construct through acquire()."""

    tier = "monitoring"
    heavy = False

    def __init__(self, tool, clock):
        self._tool = tool
        self._clock = clock
        self.dispatch_ns = self.skip_ns = 0  # of an event, and of one that changes nothing; see calibrate.py
        self.ledger = None   # where events go; None: nowhere
        self._window = None  # the same until end(), also when a limit has stopped the events
        self.cost_ns = self.events = self.skipped = 0
        self.expired = False
        self.broken = ""  # an error of ours, which ends line timing
        self.blocking = []
        self.paths = None  # a DataPaths, told of what opens files
        self._owner = 0
        self._reading = None
        self._limit_ns = self._deadline = 0
        self._code = Discovery(tool)
        self._resume = {}
        for event, callback in self._callbacks().items():
            sys.monitoring.register_callback(tool, event, callback)

    def _callbacks(self):
        events = sys.monitoring.events
        return {
            events.LINE: self._on_line,
            events.CALL: self._on_call,
            events.C_RETURN: self._on_c_return,
            events.C_RAISE: self._on_c_return,
            events.PY_START: self._on_start,
            events.PY_RETURN: self._on_return,
            events.PY_YIELD: self._on_yield,
            events.PY_RESUME: self._on_resume,
        }

    @classmethod
    def acquire(cls, clock):
        """(tracer, "") or (None, why)."""
        for tool in _TOOLS:
            if sys.monitoring.get_tool(tool) is None:
                sys.monitoring.use_tool_id(tool, TOOL_NAME)
                return cls(tool, clock), ""
        return None, "the sys.monitoring tool ids 3, 4 and 5 are taken"

    def taken(self):
        return ""

    # -- windows ------------------------------------------------------------------------------------------------

    def adopt(self, functions, ledger, lines):
        """Treats functions as the user's (`lines`), or as a library's, whatever their file says."""
        for function in functions:
            self._code.follow(function.__code__, ledger.where, lines)

    def prepare(self, ledger, functions):
        """Functions from which the discovery starts."""
        for function in functions:
            self._code.discover(function, ledger.where)

    def begin(self, ledger, base_frames, limit_ns, deadline_ns):
        """Follows this thread's events into `ledger`. `base_frames` are running already, outermost first."""
        start = self._clock()
        where = ledger.where
        ledger.begin(start)
        ledger.dispatch_ns = self.dispatch_ns
        self.cost_ns = self.events = self.skipped = 0
        self.expired = False
        self.blocking = []
        self._reading = None
        self._limit_ns = limit_ns
        self._deadline = start + _LONGEST_NS
        self._owner = get_ident()
        for frame in base_frames:
            code = frame.f_code
            self._code.follow(code, where, lines=True)
            ledger.enter_user(code, code, frame.f_lineno)
        ledger.floor(base_frames)
        self._code.arm(where)
        self.ledger = self._window = ledger
        ledger.last = self._clock()
        self.cost_ns = ledger.last - start

    def end(self):
        """Stops following; returns what tracing cost in this window. The code stays armed until release()."""
        now = self._clock()
        ledger = self._window
        if ledger is None:
            return 0
        self.ledger = self._window = None
        if not self.expired:
            ledger.charge(now)
        ledger.stack.clear()
        ledger.cell = ledger.nowhere
        self.cost_ns += self._clock() - now
        return self.cost_ns

    def release(self, where):
        """No window of this kind for a while: takes the events off the code."""
        self._code.disarm(where)

    def forget(self):
        """In a forked child: whatever the parent had armed ends here."""
        self.ledger = self._window = None
        for where in (stages.LOOP, stages.DATASET, stages.COLLATE_FN):
            self.release(where)

    def close(self):
        """Gives everything back to the interpreter."""
        self.forget()
        for event in self._callbacks():
            sys.monitoring.register_callback(self._tool, event, None)
        sys.monitoring.free_tool_id(self._tool)

    def _learn(self, describe, target, where):
        """What was not met before takes long, the first time, and none of it is the user's."""
        ledger = self.ledger
        now = self._clock()
        ledger.charge(now)
        info = describe(target, where)
        self._done(ledger, now)
        return info

    # -- events -------------------------------------------------------------------------------------------------

    def _settle(self, code, now):
        """Charges the time up to now and returns the ledger with `code` on top of its stack; None if not ours."""
        ledger = self.ledger
        if ledger is None or get_ident() != self._owner:
            return None
        ledger.charge(now)
        stack = ledger.stack
        if not stack or stack[-1][KEY] is not code:
            index = ledger.find(code)
            if index < 0:
                self._enter(ledger, code, None)
            else:
                del stack[index + 1:]
            ledger.cell = stack[-1][CELL]
            if self._reading is not None:
                self._close_reading(now)
        return ledger

    def _done(self, ledger, now):
        end = self._clock()
        self.cost_ns += min(end - now, _LONGEST_EVENT_NS) + self.dispatch_ns
        ledger.last = end
        self.events += 1
        if self.cost_ns > self._limit_ns or end > self._deadline or ledger.is_over():
            self._expire(ledger)

    def _skip(self, ledger):
        """An event that changes nothing: its cost is known, the clock need not be read."""
        self.skipped += 1
        ledger.last += self.skip_ns
        self.cost_ns += self.skip_ns
        if self.cost_ns > self._limit_ns:
            self._expire(ledger)

    def _expire(self, ledger):
        self.expired = True
        self.ledger = None
        ledger.stack.clear()
        ledger.cell = ledger.nowhere
        self.release(ledger.where)

    def _enter(self, ledger, code, number):
        info = self._code.infos[ledger.where].get(code) or codes.NOTHING
        if info.kind == USER and ledger.in_model() and code.co_name not in codes.LOOP_METHODS:
            ledger.enter_plain(code)
        elif info.kind == USER or (info.kind == codes.FALLBACK and not (ledger.stack and ledger.stack[-1][LINE])):
            ledger.enter_user(code, code, number)
        elif info.stage is None:
            ledger.enter_plain(code)
        else:
            ledger.enter_callee(code, info.stage, info.name)

    def _on_line(self, code, number):
        try:
            now = self._clock()
            ledger = self._settle(code, now)
            if ledger is not None:
                top = ledger.stack[-1]
                if top[KIND] == USER or top[LINE] is None:
                    ledger.at_line(len(ledger.stack) - 1, code, number)
                self._done(ledger, now)
        except Exception as error:
            self._broke(error)

    def _on_call(self, code, offset, target, first):
        ledger = self.ledger
        if ledger is None or get_ident() != self._owner:
            return
        try:
            info = self._code.of_callable(target, first, ledger.where, self._learn)
            if info.stage is None and ledger.stack and ledger.stack[-1][KEY] is code:
                self._skip(ledger)
                return
            now = self._clock()
            self._settle(code, now)
            if info.stage is not None:
                self._note(ledger, info, first, now)
                ledger.enter_callee(_CALL, info.stage, info.name, MODEL if info.kind == MODEL else PLAIN)
            self._done(ledger, now)
        except Exception as error:
            self._broke(error)

    def _on_c_return(self, code, offset, target, first):
        ledger = self.ledger
        if ledger is None or get_ident() != self._owner:
            return
        try:
            if ledger.stack and ledger.stack[-1][KEY] is code:
                self._skip(ledger)
                return
            now = self._clock()
            self._settle(code, now)
            self._done(ledger, now)
        except Exception as error:
            self._broke(error)

    def _on_start(self, code, offset):
        ledger = self.ledger
        if ledger is not None and get_ident() == self._owner:
            self._begin_frame(ledger, code, None)

    def _on_resume(self, code, offset):
        ledger = self.ledger
        if ledger is not None and get_ident() == self._owner:
            self._begin_frame(ledger, code, self._resume.get(code))

    def _begin_frame(self, ledger, code, number):
        try:
            now = self._clock()
            ledger.charge(now)
            self._enter(ledger, code, number)
            self._done(ledger, now)
        except Exception as error:
            self._broke(error)

    def _on_return(self, code, offset, value):
        ledger = self.ledger
        if ledger is not None and get_ident() == self._owner:
            try:
                now = self._clock()
                ledger.charge(now)
                ledger.leave(code)
                self._done(ledger, now)
            except Exception as error:
                self._broke(error)

    def _on_yield(self, code, offset, value):
        ledger = self.ledger
        if ledger is not None and get_ident() == self._owner:
            index = ledger.find(code)
            if index >= 0 and ledger.stack[index][LINE] is not None:
                self._resume[code] = ledger.stack[index][LINE].number
        self._on_return(code, offset, value)

    def _broke(self, error):
        """An error of ours must not reach the user's code; one of a signal handler that ran in ours must."""
        self.ledger = None
        self.expired = True
        if not is_ours(error):
            raise error
        self.broken = "{}: {}".format(type(error).__name__, error)

    def _note(self, ledger, info, first, now):
        """Blocking reads of the loop, and files that samples come from."""
        if info.stage == stages.BLOCKING:
            line = ledger.stack[-1][LINE]
            if self._reading is None and line is not None and len(self.blocking) < MOST_BLOCKING:
                self._reading = (now, info.name, line)
        elif info.stage in _TOUCH_FILES and ledger.where == stages.DATASET and not self.paths.done():
            self.paths.argument(first)

    def _close_reading(self, now):
        begin, name, line = self._reading
        self._reading = None
        self.blocking.append((begin, now, name, line.file, line.number))

