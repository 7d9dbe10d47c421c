"""libfullbore_record.so through ctypes.PyDLL: the GIL stays held, as giving it up for each record costs 240 us when
another Python thread is busy, this 1 us. Opened with the first record; after close() every call does nothing.
"""

import ctypes
import struct
import time

from . import environment, records

_ABI = 1
_OPENING, _OPEN, _CLOSED = 0, 1, 2
_NAMES_KEPT = 20000

_names = {}
_missing = set()
_status = _OPENING
_library = None
_write = None
_name = None
_usage = None
_native = None  # the probes in C


def _open():
    """Loads the library and opens the rings, once. Any obstacle closes the hook: it has nowhere to write why."""
    global _status, _library, _write, _name, _usage
    if _status != _OPENING:
        return _status == _OPEN
    _status = _CLOSED
    if not environment.RINGS or not environment.LIBRARY or not _in_main_interpreter():
        return False
    try:
        library = ctypes.PyDLL(environment.LIBRARY)
        library.fullbore_record_abi.restype = ctypes.c_uint32
        if library.fullbore_record_abi() != _ABI:
            return False
        size = library.fullbore_record_size
        size.restype, size.argtypes = ctypes.c_uint32, [ctypes.c_uint32]
        if any(size(kind) != mine for kind, mine in records.sizes().items()):
            return False
        begin = library.fullbore_record_open
        begin.restype, begin.argtypes = ctypes.c_int, [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int32]
        directory = environment.RINGS.encode("utf-8", "surrogateescape")
        if begin(directory, environment.RING_BYTES, records.known32(environment.rank())) != 0:
            return False
        _write = library.fullbore_record_write
        _write.restype, _write.argtypes = ctypes.c_int, [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32]
        _name = library.fullbore_record_name
        _name.restype, _name.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_uint32]
        _usage = library.fullbore_thread_usage_now
        _usage.restype, _usage.argtypes = None, [ctypes.c_void_p, ctypes.c_int]
        library.fullbore_record_close_thread.restype = None
    except (OSError, AttributeError):
        return False
    _library = library
    _status = _OPEN
    if _native is not None:
        _open_native()
    return True


def _open_native():
    _native.open(ctypes.cast(_library.fullbore_record_write, ctypes.c_void_p).value,
                 ctypes.cast(_library.fullbore_thread_usage_now, ctypes.c_void_p).value)


def serve(native):
    """The probes in C write where this module does, for as long as it does."""
    global _native
    _native = native
    if _status == _OPEN:
        _open_native()


def _in_main_interpreter():
    # A sub-interpreter would share the rings of its process, and its threads.
    python = ctypes.pythonapi
    current = getattr(python, "PyInterpreterState_Get", None) or getattr(python, "_PyInterpreterState_Get", None)
    main = getattr(python, "PyInterpreterState_Main", None)
    if current is None or main is None:
        return True
    current.restype = main.restype = ctypes.c_void_p
    return current() == main()


def active():
    return _status == _OPEN or (_status == _OPENING and _open())


def close():
    """Ends all writing in this process; nothing opens it again."""
    global _status
    _status = _CLOSED
    if _native is not None:
        _native.close()


def reopen(rings, library, ring_bytes):
    """Starts over for an observation that this process itself began; a closed hook writes again."""
    global _status
    environment.RINGS, environment.LIBRARY, environment.RING_BYTES = rings, library, ring_bytes
    _names.clear()
    _missing.clear()
    _status = _OPENING
    return _open()


def write(packed, count=1):
    """Writes whole records to this thread's ring. Returns False once the observation has ended."""
    if _status != _OPEN and not active():
        return False
    if _write(packed, len(packed), count) == 2:
        ended()
        return False
    return True


def ended():
    """The observation is over: the hook turns itself off."""
    from . import stop

    stop()


def name(text):
    """Id of a string; its record goes out the first time."""
    if not text:
        return 0
    known = _names.get(text)
    if known is not None:
        return known
    if not active():
        return 0
    encoded = text.encode("utf-8", "replace")
    known = _name(encoded, len(encoded))
    if len(_names) < _NAMES_KEPT:
        _names[text] = known
    return known


def missing(signal, why):
    """Says once that a signal cannot be had here."""
    if (signal, why) not in _missing and active():
        _missing.add((signal, why))
        write(records.missing(time.monotonic_ns(), name(signal), name(why)))


def close_thread():
    if _status == _OPEN:
        _library.fullbore_record_close_thread()


class Usage:
    """Reads what its owner's thread has used so far. Not to be shared between threads."""

    __slots__ = ("_memory", "_address", "_unpack")

    def __init__(self):
        self._memory = (ctypes.c_int64 * 5)()
        self._address = ctypes.addressof(self._memory)
        self._unpack = struct.Struct("=5q").unpack_from

    def now(self, with_io=0):
        """(cpu_ns, runq_ns, read_chars, read_bytes, major_faults), with UNKNOWN for what is not to be had."""
        _usage(self._address, with_io)
        return self._unpack(self._memory)
