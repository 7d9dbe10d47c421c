"""A number that tells the contents of batches apart, from some bytes of each: a few microseconds, whatever the size."""

import ctypes
import sys
import zlib

_PIECES, _PIECE = 12, 32  # bytes looked at of each tensor, spread over all of it
_SMALL = _PIECES * _PIECE
_LEAVES = 4
_DEEP = 4


def content_of(batch):
    """Not 0; 0 where nothing in it can be read. Only of what is at least half as large as the largest: where pictures
    are all the same, labels that differ do not make them other data.
    """
    try:
        leaves = []
        _gather(batch, leaves, _DEEP)
        largest = max(len(leaf) for leaf in leaves) if leaves else 0
        hashed = 0
        for leaf in leaves:
            if 2 * len(leaf) >= largest:
                hashed = _hash(leaf, hashed)
        return (hashed or 1) if largest else 0
    except Exception:
        return 0  # it says no more than that nothing was seen


def _hash(leaf, hashed):
    if len(leaf) <= _SMALL:
        return zlib.crc32(leaf, hashed)
    for begin in range(0, len(leaf) - _PIECE, len(leaf) // _PIECES):
        hashed = zlib.crc32(leaf[begin : begin + _PIECE], hashed)
    return hashed


def _gather(thing, leaves, deep):
    """The bytes of tensors, arrays and texts. Of other classes nothing is called: that may be the user's code."""
    kind = type(thing)
    if len(leaves) >= _LEAVES:
        return
    if kind is sys.modules["torch"].Tensor:
        leaf = _tensor_bytes(thing)
    elif kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        leaf = memoryview(thing).cast("B")
    elif kind is str:
        leaf = memoryview(thing[:_SMALL].encode("utf-8", "replace"))
    elif kind is bytes:
        leaf = memoryview(thing)
    else:
        for inner in _inner(thing, kind) if deep else ():
            _gather(inner, leaves, deep - 1)
        return
    if leaf is not None and len(leaf):
        leaves.append(leaf)


def _inner(thing, kind):
    if kind is dict:
        return list(thing.values())[:_LEAVES]
    if issubclass(kind, (list, tuple)) and kind.__iter__ in (list.__iter__, tuple.__iter__):
        return thing[:_LEAVES]
    data = getattr(thing, "__dict__", {}).get("data")  # collections.UserDict and its like
    return list(data.values())[:_LEAVES] if type(data) is dict else ()


def _tensor_bytes(tensor):
    if tensor.device.type != "cpu" or not (tensor.is_contiguous() or _is_channels_last(tensor)):
        return None
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_ubyte * size).from_address(tensor.data_ptr())).cast("B") if size else None


def _is_channels_last(tensor):
    return tensor.dim() == 4 and tensor.is_contiguous(memory_format=sys.modules["torch"].channels_last)
