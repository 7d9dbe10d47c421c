"""What a dataset looks like, cheaply enough to compare before and after, without calling its code.

Two uses: a dataset that changes itself while samples are made (a cache, a counter) works differently in workers, which
have copies; and one that the script changes between epochs must be sent to persistent workers anew.
"""

import sys
import zlib

from ..objects import attributes, isinstance_exactly, walk

_SCALARS = (bool, int, float, complex, str, bytes, type(None))
_SIZED = (list, tuple, dict, set, frozenset, bytearray)


def snapshot(root, name="dataset"):
    """Path -> token for the attributes of `root` and of what it holds; tokens are equal when nothing was changed."""
    tokens = {}
    for path, node in walk(root, name, nodes=600, depth=4):
        for key, value in attributes(node).items():
            tokens[path + "." + key] = _token(value)
        tokens.setdefault(path, _token(node))
    return tokens


def changes(before, after):
    """Paths whose value was replaced, grew or was changed in place. Filling in a None is no change: a file opened at
    first use looks like that, and each worker then opens its own."""
    empty = _token(None)
    return sorted(path for path, token in before.items() if token != empty and after.get(path, token) != token)


def _token(value):
    kind = type(value)
    if kind in _SCALARS:
        return (kind.__name__, hash(value) if kind in (str, bytes) else value)
    if kind in _SIZED:
        return (kind.__name__, id(value), len(value), _order(value))
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    if tensor is not None and isinstance_exactly(value, tensor):
        return (kind.__name__, id(value), getattr(value, "_version", 0))  # torch counts changes in place
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        return (kind.__name__, id(value), _content(value))
    return (kind.__name__, id(value))


def _order(value):
    """Which elements stand where, at up to 64 places: a list that was shuffled in place keeps its length."""
    if type(value) not in (list, tuple):
        return 0
    return hash(tuple(map(id, value[:: max(1, len(value) // 64)])))


def _content(array):
    """A checksum over up to 64 places of a numpy array."""
    try:
        data = memoryview(array).cast("B")
    except (TypeError, ValueError):
        return 0  # strided, or of objects
    checksum = 0
    for begin in range(0, len(data), max(1, len(data) // 64)):
        checksum = zlib.crc32(data[begin : begin + 64], checksum)
    return checksum
