"""Times lines and callees with sys.monitoring events that are local to single code objects, for Python 3.12 and later.

Code of the user gets line and call events, code of libraries that mix stages (PIL, torchvision) call events only, both
as they are met; nothing else in the process is slowed. Unwinding has no local event: an outer code's next event ends it.
"""

import functools
import sys
import types
from threading import get_ident

from . import codes, is_ours, roots, stages
from .ledger import CELL, KEY, KIND, LINE, MODEL, PLAIN, USER

TOOL_NAME = "fullbore"
MOST_CODES = {stages.LOOP: 64, stages.DATASET: 256, stages.COLLATE_FN: 64}
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
        self._infos = {where: {} for where in MOST_CODES}
        self._callables = {where: {} for where in MOST_CODES}
        self._wanted = {where: {} for where in MOST_CODES}
        self._armed = {where: False for where in MOST_CODES}
        self._resume = {}
        self._tensor = None
        events = sys.monitoring.events
        self._calls = (events.CALL | events.C_RETURN | events.C_RAISE | events.PY_START | events.PY_RETURN
                       | events.PY_YIELD | events.PY_RESUME)
        self._lines = self._calls | events.LINE
        for event, callback in ((events.LINE, self._on_line), (events.CALL, self._on_call),
                                (events.C_RETURN, self._on_c_return), (events.C_RAISE, self._on_c_return),
                                (events.PY_START, self._on_start), (events.PY_RETURN, self._on_return),
                                (events.PY_YIELD, self._on_yield), (events.PY_RESUME, self._on_resume)):
            sys.monitoring.register_callback(tool, event, callback)

    @classmethod
    def acquire(cls, clock):
        """(tracer, "") or (None, why)."""
        for tool in (4, 3, 0, 1, 2, 5):
            if sys.monitoring.get_tool(tool) is None:
                sys.monitoring.use_tool_id(tool, TOOL_NAME)
                return cls(tool, clock), ""
        return None, "all six sys.monitoring tool ids are taken"

    def taken(self):
        return ""

    # -- windows ------------------------------------------------------------------------------------------------

    def adopt(self, functions, ledger, lines):
        """Treats functions as the user's (`lines`), or as a library's, whatever their file says."""
        for function in functions:
            if lines:
                self._want(function.__code__, self._lines, ledger.where, codes.Info(USER))
            else:
                self._want(function.__code__, self._calls, ledger.where, codes.NOTHING)

    def prepare(self, ledger, functions):
        """Functions from which the discovery starts."""
        for function in functions:
            self._discover(function, ledger.where)

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
        wanted = self._wanted[where]
        for frame in base_frames:
            code = frame.f_code
            if code not in wanted:
                self._want(code, self._lines, where, codes.Info(USER))
            ledger.enter_user(code, code, frame.f_lineno)
        ledger.floor(base_frames)
        if not self._armed[where]:
            self._armed[where] = True
            for code in list(wanted):
                self._set(code)
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
        if self._armed[where]:
            self._armed[where] = False
            for code in list(self._wanted[where]):
                self._set(code)

    def forget(self):
        """In a forked child: whatever the parent had armed ends here."""
        self.ledger = self._window = None
        for where in MOST_CODES:
            self.release(where)

    def close(self):
        """Gives everything back to the interpreter."""
        self.forget()
        events = sys.monitoring.events
        for event in (events.LINE, events.CALL, events.C_RETURN, events.C_RAISE, events.PY_START, events.PY_RETURN,
                      events.PY_YIELD, events.PY_RESUME):
            sys.monitoring.register_callback(self._tool, event, None)
        sys.monitoring.free_tool_id(self._tool)

    # -- which code ---------------------------------------------------------------------------------------------

    def _set(self, code):
        events = 0
        for where, wanted in self._wanted.items():
            if self._armed[where]:
                events |= wanted.get(code, 0)
        sys.monitoring.set_local_events(self._tool, code, events)

    def _want(self, code, events, where, info):
        """Adds a code object, and the lambdas, generators and inner functions that are written inside it."""
        self._infos[where][code] = info
        wanted = self._wanted[where]
        if code in wanted or len(wanted) >= MOST_CODES[where]:
            return
        wanted[code] = events
        if self._armed[where]:
            self._set(code)
        if info.kind != USER or code.co_name == "<module>":
            return
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                self._want(inner, events, where, info)

    def _discover(self, function, where):
        """Info of a Python function; if its lines or calls are of interest they are followed from now on."""
        code = function.__code__
        info = self._infos[where].get(code)
        if info is not None:
            return info
        module = function.__module__ or ""
        info = codes.of_code(code, module, function.__qualname__, where)
        if info.kind in (USER, codes.FALLBACK):
            self._want(code, self._lines, where, info)
        elif where != stages.LOOP and stages.is_descended(module):
            self._want(code, self._calls, where, info)
        else:
            self._infos[where][code] = info
        if info.kind == USER:
            for generator in roots.generators(function):
                self._discover(generator, where)
        return info

    def _callable(self, target, first):
        """Info of what is about to be called; finds new code on the way. Never runs or hashes the user's objects."""
        where = self.ledger.where
        kind = type(target)
        while kind is functools.partial or kind is types.MethodType:
            target = target.func if kind is functools.partial else target.__func__
            kind = type(target)
        if kind is types.FunctionType:
            return self._infos[where].get(target.__code__) or self._learn(self._discover, target, where)
        if kind is types.BuiltinFunctionType:
            owner = target.__self__
            keep = owner if issubclass(type(owner), type) else type(owner)
            key = (target.__module__, target.__name__, id(keep))
        elif kind in _C_METHODS or issubclass(kind, type):
            if self._reads_tensor(target, first):
                return _TENSOR_READ if where == stages.LOOP else codes.NOTHING
            keep, key = target, id(target)
        else:
            keep, key = kind, id(kind)
        known = self._callables[where].get(key)
        if known is None:
            # `keep` stays alive, or its id might be another's one day
            known = self._callables[where][key] = (self._learn(self._describe, target, where), keep)
        return known[0]

    def _learn(self, describe, target, where):
        """What was not met before takes long, the first time, and none of it is the user's."""
        ledger = self.ledger
        now = self._clock()
        ledger.charge(now)
        if len(self._callables[where]) > 8192:
            self._callables[where].clear()
        info = describe(target, where)
        self._done(ledger, now)
        return info

    def _describe(self, target, where):
        kind = type(target)
        if kind is types.BuiltinFunctionType:
            return codes.of_builtin(target, where)
        if kind in _C_METHODS:
            return codes.of_method(target.__objclass__, target.__name__, where)
        if issubclass(kind, type):
            info = codes.of_class(target, where)
            function = codes.function_of(target, "__init__")
        elif codes.is_module_instance(target):
            if where == stages.LOOP:
                return codes.Info(MODEL, stages.MODEL, "torch.nn.Module")
            info = codes.NOTHING
            function = codes.function_of(kind, "forward")
        else:
            info = codes.NOTHING
            function = codes.function_of(kind, "__call__")
        if function is not None:
            found = self._discover(function, where)
            inherited = codes.of_class(kind, where) if not issubclass(kind, type) else info
            return inherited if inherited.stage is not None else found
        return info if issubclass(kind, type) else codes.of_class(kind, where)

    def _reads_tensor(self, target, first):
        """float(), int() and bool() of a tensor wait for its value."""
        if target is not float and target is not int and target is not bool:
            return False
        if self._tensor is None:
            self._tensor = getattr(sys.modules.get("torch"), "Tensor", None)
        return self._tensor is not None and issubclass(type(first), self._tensor)

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
        info = self._infos[ledger.where].get(code) or codes.NOTHING
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
            info = self._callable(target, first)
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


_C_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType, types.MethodWrapperType)
_TENSOR_READ = codes.Info(0, stages.BLOCKING, "torch.Tensor.item")
