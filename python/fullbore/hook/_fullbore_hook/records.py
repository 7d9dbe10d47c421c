"""Packs the records of src/wire/records.h, field by field in its order. abi compares the sizes with the library's."""

import struct

UNKNOWN = -(1 << 63)
UNKNOWN32 = -(1 << 31)

# Role, StartMethod
OTHER, TRAINER, WORKER = 0, 1, 2
FORK, SPAWN, FORKSERVER, THREAD = 1, 2, 3, 4

# LoaderFlags
PIN_MEMORY, PERSISTENT_WORKERS, DROP_LAST, IN_ORDER = 1, 2, 4, 8
ITERABLE_DATASET, SHUFFLE, CUSTOM_BATCH_SAMPLER, DISTRIBUTED_SAMPLER, FIXED = 16, 32, 64, 128, 256
# IteratorFlags, NextFlags
RESET = 1
STOP, ERROR, FIRST, TRACED = 1, 2, 4, 8

# IntervalKind
CHECKPOINT, GARBAGE_COLLECTION, BLOCKING_READ, COPY_CALL, LOGGING, PROFILER, COLLECTIVE = 1, 2, 3, 4, 5, 6, 7

_KINDS = {}


def _record(kind, fields):
    """A function that packs a whole record, header included."""
    packer = struct.Struct("<HHI" + fields)
    size = packer.size
    assert size % 8 == 0
    _KINDS[kind] = size
    pack = packer.pack
    return lambda *values: pack(kind, size, 0, *values)


process = _record(2, "qIIiiiIiIIIqQQQQ")
loader = _record(3, "qIIqqiiiiiiIIQQQQQQ")
iterator = _record(4, "qqIIiiIiQq")
next_ = _record(5, "qqqqqqqqqqqIIiiiiII")
batch = _record(6, "qqqqqqqqqqqqqqIiiiII")
sample = _record(7, "qqqqqIi")
profile = _record(8, "qqqIIIiIIQQ")
step = _record(9, "qqII")
model = _record(10, "qQqqIIQQ")
interval = _record(11, "qqIiQQq")
missing = _record(12, "qQQ")
fix = _record(13, "qIIqqQQ")
user_step = _record(14, "qqiI")
data_path = _record(15, "qQ")
failure = _record(25, "qQQii")
worker_exit = _record(24, "qIiiI")
batch_tensor = _record(26, "qqqqqqIIQ")


def sizes():
    return dict(_KINDS)


def known(value):
    """The number, or what stands for "not measured"."""
    return UNKNOWN if value is None else value


def known32(value):
    return UNKNOWN32 if value is None or not -(1 << 31) < value < 1 << 31 else value
