"""Where the tensors of a batch go on the device, and which bytes are copied there.

Tensors that share memory go on sharing it. Small tensors share one buffer, so that one copy carries them: a copy costs
about 5 us whatever its size.
"""

from typing import Any, List, NamedTuple

import torch

SMALL_BYTES = 64 << 10
_PACK_ALIGNMENT = 256
_SPAN_ALIGNMENT = 16


class Placed(NamedTuple):
    moved: dict  # id of a tensor -> its copy
    copies: list  # (source address, destination address, bytes, pack) for the engine: equal packs, one copy
    sources: list  # what the addresses lie in, to be kept until they are read
    buffers: list  # one tensor per piece of device memory


class _Span(NamedTuple):
    """Bytes of one host storage that are copied in one piece."""

    source: Any  # a tensor that keeps them alive
    address: int
    bytes: int
    views: list  # (tensor of the batch, its offset in the span in bytes)


def place(tensors, device, pack_bytes):
    """Reserves device memory for `tensors` (each once) and lists the copies. `pack_bytes`: the most that one pack holds."""
    placed = Placed({}, [], [], [])
    small: List[_Span] = []
    for span in _spans(tensors):
        if span.bytes == 0:
            for tensor, _ in span.views:
                _take(placed, tensor, device.empty_strided(tensor.size(), tensor.stride(), tensor.dtype))
        elif span.bytes <= min(SMALL_BYTES, pack_bytes):
            small.append(span)
        else:
            _place_alone(placed, span, device)
    if len(small) == 1:
        _place_alone(placed, small[0], device)
    else:
        _place_packed(placed, small, device, pack_bytes)
    return placed


def _spans(tensors):
    groups = {}
    for tensor in tensors:
        # Tensors of no elements have no memory to share.
        key = tensor.untyped_storage().data_ptr() if tensor.numel() else ("empty", id(tensor))
        groups.setdefault(key, []).append(tensor)
    for group in groups.values():
        if len(group) == 1:
            yield _alone(group[0])
        else:
            yield from _sharing(group)


def _alone(tensor):
    """One tensor: its bytes as they are if they lie dense, otherwise gathered first, as `.to` does."""
    source = tensor.detach()
    if not source.is_contiguous() and torch.empty_like(source, device="meta").stride() != source.stride():
        source = source.clone()
    return _Span(source, source.data_ptr(), source.numel() * source.element_size(), [(tensor, 0)])


def _sharing(group):
    begins, ends = zip(*(_extent(tensor) for tensor in group))
    begin = min(begins) // _SPAN_ALIGNMENT * _SPAN_ALIGNMENT
    size = max(ends) - begin
    if size > 2 * sum(end - first for first, end in zip(begins, ends)):
        # Two corners of a large storage: what lies between is not worth the bus.
        yield from (_alone(tensor) for tensor in group)
        return
    base = group[0].untyped_storage().data_ptr()
    views = [(tensor, first - begin) for tensor, first in zip(group, begins)]
    yield _Span(group[0].detach(), base + begin, size, views)


def _extent(tensor):
    """First byte and the one after the last in the tensor's storage."""
    item = tensor.element_size()
    first = tensor.storage_offset()
    last = first + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride()))
    return first * item, (last + 1) * item


def _place_alone(placed, span, device):
    ((tensor, offset), *rest) = span.views
    if not rest and offset == 0 and span.bytes == tensor.numel() * tensor.element_size():
        copy = device.empty_strided(tensor.size(), span.source.stride(), tensor.dtype)
        buffer = copy
        _take(placed, tensor, copy)
    else:
        buffer = device.empty_strided((span.bytes,), (1,), torch.uint8)
        _take_views(placed, span, buffer, 0)
    placed.buffers.append(buffer)
    placed.sources.append(span.source)
    placed.copies.append((span.address, buffer.data_ptr(), span.bytes, 0))


def _place_packed(placed, spans, device, pack_bytes):
    pack, used = [], 0
    for span in [*spans, None]:
        if span is None or used + span.bytes > pack_bytes:
            if pack:
                _fill_pack(placed, pack, device)
            pack, used = [], 0
        if span is not None:
            pack.append((span, used))
            used += -(-span.bytes // _PACK_ALIGNMENT) * _PACK_ALIGNMENT


def _fill_pack(placed, pack, device):
    last, offset = pack[-1]
    buffer = device.empty_strided((offset + last.bytes,), (1,), torch.uint8)
    placed.buffers.append(buffer)
    start, number = buffer.data_ptr(), len(placed.buffers)
    for span, offset in pack:
        placed.sources.append(span.source)
        placed.copies.append((span.address, start + offset, span.bytes, number))
        _take_views(placed, span, buffer, offset)


def _take_views(placed, span, buffer, offset):
    for tensor, inside in span.views:
        stride = tensor.stride() if len(span.views) > 1 else span.source.stride()
        _take(placed, tensor, view(buffer, offset + inside, tensor.dtype, tensor.size(), stride))


def view(buffer, offset, dtype, size, stride):
    """A tensor of another type in the memory of `buffer`, `offset` bytes into it."""
    new = torch.empty(0, dtype=dtype, device=buffer.device)
    return new.set_(buffer.untyped_storage(), offset // dtype.itemsize, size, stride)


def _take(placed, tensor, copy):
    placed.moved[id(tensor)] = copy.requires_grad_() if tensor.requires_grad else copy
