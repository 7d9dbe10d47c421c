"""Where the discovery of the user's code starts: functions of datasets, collate objects and framework loops, found by
looking into instance and class dictionaries, so that nothing of the user's is called."""

import functools
import types

from . import codes, stages
from ..frames import is_user_frame

_DATASET_METHODS = ("__getitem__", "__getitems__", "__iter__", "__next__")
_DEEPEST = 3
_MOST_INNER = 8
_MOST_OBJECTS = 400
_GENERATOR = 0x20 | 0x200  # code flags, asynchronous ones too


def functions(target, where):
    """Python functions that a call of the dataset, or of the collate function, will enter."""
    found = {}
    if where == stages.DATASET:
        _of_dataset(target, found, 0)
    else:
        _of_callable(target, found)
    return list(found.values())


def loop_methods(frame):
    """The user's methods that a framework's loop will call (training_step, compute_loss): found from the objects that
    the framework's frames between `frame` and the user's hold, because no event leads from the loop to them."""
    found = {}
    waiting = []
    while frame is not None and not is_user_frame(frame) and len(waiting) < 32:
        code = frame.f_code
        if code.co_argcount and code.co_varnames[0] == "self":
            waiting.append((frame.f_locals.get("self"), 0))
        frame = frame.f_back
    seen = set()
    while waiting and len(seen) < _MOST_OBJECTS:
        value, depth = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        for name in codes.LOOP_METHODS:
            function = codes.function_of(type(value), name)
            if function is not None and codes.is_user_function(function.__code__, function.__module__):
                _add(function, found)
        if depth < _DEEPEST:
            waiting.extend((inner, depth + 1) for inner in _inner(value))
    return list(found.values())


def generators(function):
    """The user's generator functions that `function` names: their resuming makes no call event."""
    found = []
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if type(value) is types.FunctionType and value.__code__.co_flags & _GENERATOR:
            if codes.is_user_function(value.__code__, value.__module__):
                found.append(value)
    return found


def _add(function, found):
    if type(function) is types.FunctionType:
        found[function.__code__] = function


def _of_dataset(dataset, found, depth):
    kind = type(dataset)
    for name in _DATASET_METHODS:
        _add(codes.function_of(kind, name), found)
    _of_class(kind, found)
    if depth >= _DEEPEST:
        return
    for value in _inner(dataset):
        _of_class(type(value), found)
        if any(codes.function_of(type(value), name) for name in _DATASET_METHODS[:3]):
            _of_dataset(value, found, depth + 1)


def _of_class(kind, found):
    """All methods that the user wrote in this class: properties and operators make no call event."""
    for base in kind.__mro__:
        for value in list(base.__dict__.values()):
            value = getattr(value, "__func__", value) if isinstance(value, (staticmethod, classmethod)) else value
            value = value.fget if type(value) is property else value
            if type(value) is types.FunctionType and codes.is_user_function(value.__code__, value.__module__):
                _add(value, found)


def _inner(target):
    """Objects held by a wrapper (Subset, ConcatDataset, the user's own), read from its dictionary only."""
    try:
        values = list(object.__getattribute__(target, "__dict__").values())
    except AttributeError:
        return []
    inner = []
    for value in values[:64]:
        inner.extend(value[:_MOST_INNER] if type(value) in (list, tuple) else (value,))
    return [value for value in inner if type(value).__module__ != "builtins"][:64]


def _of_callable(target, found):
    while type(target) is functools.partial:
        target = target.func
    target = getattr(target, "__func__", target) if type(target) is types.MethodType else target
    if type(target) is types.FunctionType:
        _add(target, found)
    else:
        _add(codes.function_of(type(target), "__call__"), found)
        _of_class(type(target), found)
