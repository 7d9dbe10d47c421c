"""Finds the tensors in a batch of any shape and puts their copies in the same places.

No class is built through its own constructor, which may have side effects or other arguments: containers are copied and
refilled. What holds no tensor is handed through as it is, the very object.
"""

import collections
import copy
import dataclasses
import types
from collections.abc import Mapping

import torch

_PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray, range, type(Ellipsis))
_ROOTS = (type, types.FunctionType, types.ModuleType)


class Parts:
    """What has to be moved in one batch: `tensors` by the engine, `others` by their own `.to`."""

    def __init__(self):
        self.tensors = []
        self.others = []
        self.on_device = False  # a tensor lay on a device already
        self._moving = {}  # id -> whether something inside must be moved; None while it is being looked at

    def rebuild(self, batch, moved):
        """The batch with each part replaced; `moved`: id of the part -> its replacement."""
        return batch if not moved else _rebuild(batch, dict(moved), self._moving)


def find(batch, is_host):
    """The Parts of a batch. `is_host(tensor)`: whether a tensor must be moved."""
    parts = Parts()
    _look(batch, parts, is_host)
    return parts


def _look(node, parts, is_host):
    kind = type(node)
    if kind in _PLAIN:
        return False
    seen = parts._moving
    if id(node) in seen:
        return seen[id(node)] is not False  # a cycle: what holds it is rebuilt, so this is too
    seen[id(node)] = None
    seen[id(node)] = result = _moves(node, kind, parts, is_host)
    return result


def _moves(node, kind, parts, is_host):
    if isinstance(node, torch.Tensor):
        if not is_host(node):
            parts.on_device = True
            return False
        (parts.tensors if _is_plain(node) else parts.others).append(node)
        return True
    if issubclass(kind, _ROOTS):
        return False
    if callable(getattr(kind, "to", None)):
        parts.others.append(node)
        return True
    # No short cut: every child is looked at.
    return any([_look(child, parts, is_host) for child in _children(node)])


def _is_plain(tensor):
    """A tensor that is nothing but its bytes."""
    return (
        type(tensor) is torch.Tensor
        and tensor.layout is torch.strided
        and not tensor.is_quantized
        and tensor.grad_fn is None
        and not tensor.is_conj()
        and not tensor.is_neg()
    )


def _children(node):
    if isinstance(node, Mapping):
        return list(node.values())
    if isinstance(node, (list, tuple, collections.deque)):
        return list(node)
    if dataclasses.is_dataclass(node):
        return [getattr(node, field.name) for field in dataclasses.fields(node) if hasattr(node, field.name)]
    return ()


def _rebuild(node, memo, moving):
    if id(node) in memo:
        return memo[id(node)]
    if type(node) in _PLAIN or moving.get(id(node)) is False or id(node) not in moving:
        return node
    if isinstance(node, tuple):
        new = _new_tuple(node, [_rebuild(child, memo, moving) for child in node])
        memo[id(node)] = new
        return new
    if isinstance(node, Mapping) and not hasattr(node, "__setitem__"):
        new = type(node)({key: _rebuild(value, memo, moving) for key, value in node.items()})
        memo[id(node)] = new
        return new
    new = memo[id(node)] = copy.copy(node)  # known before its children: cycles lead back to it
    if isinstance(node, dict):
        for key, value in node.items():
            dict.__setitem__(new, key, _rebuild(value, memo, moving))
    elif isinstance(node, Mapping):
        for key, value in node.items():
            new[key] = _rebuild(value, memo, moving)
    elif isinstance(node, (list, collections.deque)):
        for index, value in enumerate(node):
            new[index] = _rebuild(value, memo, moving)
    else:
        for field in dataclasses.fields(node):
            if hasattr(node, field.name):
                object.__setattr__(new, field.name, _rebuild(getattr(node, field.name), memo, moving))
    return new


def _new_tuple(old, items):
    new = tuple.__new__(type(old), items)  # named tuples and other subclasses alike
    if hasattr(old, "__dict__"):
        new.__dict__.update(old.__dict__)
    return new


def tensors_inside(node, seen=None):
    """Every tensor that a moved object holds, through containers and attributes; for record_stream."""
    seen = set() if seen is None else seen
    if type(node) in _PLAIN or id(node) in seen or isinstance(node, _ROOTS):
        return
    seen.add(id(node))
    if isinstance(node, torch.Tensor):
        yield from _parts_of_tensor(node, seen)
        return
    inside = list(_children(node))
    inside += list(vars(node).values()) if hasattr(node, "__dict__") else []
    for kind in type(node).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        inside += [getattr(node, name, None) for name in ((slots,) if isinstance(slots, str) else slots)]
    for child in inside:
        yield from tensors_inside(child, seen)


def _parts_of_tensor(tensor, seen):
    if tensor.layout is torch.sparse_coo:
        yield from (tensor._indices(), tensor._values())
    elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        yield from (tensor.crow_indices(), tensor.col_indices(), tensor.values())
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        yield from (tensor.ccol_indices(), tensor.row_indices(), tensor.values())
    elif hasattr(type(tensor), "__tensor_flatten__"):
        names, _ = tensor.__tensor_flatten__()
        for name in names:
            yield from tensors_inside(getattr(tensor, name), seen)
    elif tensor.is_nested and tensor.layout is torch.jagged:
        yield from (tensor.values(), tensor.offsets())
    else:
        yield tensor
