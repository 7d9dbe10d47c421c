"""Which code objects carry sys.monitoring events: found as they are called, from the roots on; nothing is run for it.

Code of the user gets line and call events, code of libraries that mix stages (PIL, torchvision) call events only.
"""

import functools
import sys
import types

from . import codes, roots, stages
from .ledger import MODEL, USER

MOST_CODES = {stages.LOOP: 64, stages.DATASET: 256, stages.COLLATE_FN: 64}
MOST_CALLABLES = 8192
_C_METHODS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.MethodWrapperType,
)
_TENSOR_READ = codes.Info(0, stages.BLOCKING, "torch.Tensor.item")


class Discovery:
    """The code that a sys.monitoring tool follows, for each of loop, dataset and collate function."""

    def __init__(self, tool):
        self._tool = tool
        self.infos = {where: {} for where in MOST_CODES}
        self._callables = {where: {} for where in MOST_CODES}
        self._wanted = {where: {} for where in MOST_CODES}
        self._armed = dict.fromkeys(MOST_CODES, False)
        self._tensor = None
        events = sys.monitoring.events
        self._calls = (
            events.CALL
            | events.C_RETURN
            | events.C_RAISE
            | events.PY_START
            | events.PY_RETURN
            | events.PY_YIELD
            | events.PY_RESUME
        )
        self._lines = self._calls | events.LINE

    def arm(self, where):
        if not self._armed[where]:
            self._armed[where] = True
            self._update(where)

    def disarm(self, where):
        if self._armed[where]:
            self._armed[where] = False
            self._update(where)

    def _update(self, where):
        for code in list(self._wanted[where]):
            self._set(code)

    def follow(self, code, where, lines):
        """Follows a code object as the user's (`lines`) or as a library's, whatever its file says."""
        if code not in self._wanted[where]:
            events, info = (self._lines, codes.Info(USER)) if lines else (self._calls, codes.NOTHING)
            self._want(code, events, where, info)

    def _set(self, code):
        events = 0
        for where, wanted in self._wanted.items():
            if self._armed[where]:
                events |= wanted.get(code, 0)
        sys.monitoring.set_local_events(self._tool, code, events)

    def _want(self, code, events, where, info):
        """Adds a code object, and the lambdas, generators and inner functions that are written inside it."""
        self.infos[where][code] = info
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

    def discover(self, function, where):
        """Info of a Python function; if its lines or calls are of interest they are followed from now on."""
        code = function.__code__
        info = self.infos[where].get(code)
        if info is not None:
            return info
        module = function.__module__ or ""
        info = codes.of_code(code, module, function.__qualname__, where)
        if info.kind in (USER, codes.FALLBACK):
            self._want(code, self._lines, where, info)
        elif where != stages.LOOP and stages.is_descended(module):
            self._want(code, self._calls, where, info)
        else:
            self.infos[where][code] = info
        if info.kind == USER:
            for generator in roots.generators(function):
                self.discover(generator, where)
        return info

    def of_callable(self, target, first, where, learn):
        """Info of what is about to be called; finds new code on the way. Never runs or hashes the user's objects.

        What was not met before is described through learn(describe, target, where).
        """
        kind = type(target)
        while kind is functools.partial or kind is types.MethodType:
            target = target.func if kind is functools.partial else target.__func__
            kind = type(target)
        if kind is types.FunctionType:
            return self.infos[where].get(target.__code__) or learn(self.discover, target, where)
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
        callables = self._callables[where]
        known = callables.get(key)
        if known is None:
            if len(callables) >= MOST_CALLABLES:
                callables.clear()
            # `keep` stays alive, or its id might be another's one day
            known = callables[key] = (learn(self._describe, target, where), keep)
        return known[0]

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
            found = self.discover(function, where)
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
