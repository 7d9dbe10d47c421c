from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class JpegHeader:
    """What the markers before the first scan of a JPEG say."""

    @property
    def height(self) -> int:
        """Pixels."""

    @property
    def width(self) -> int:
        """Pixels."""

    @property
    def components(self) -> int:
        """1 (gray), 3 or 4."""

    @property
    def channels(self) -> int:
        """Of the decoded picture: 3 (RGB), or 4 (CMYK as stored)."""

    @property
    def native(self) -> bool:
        """Decoded by Fullbore's own decoder, not by libjpeg-turbo."""

    @property
    def coding(self) -> str:
        """'baseline', 'extended', 'progressive' or 'other'."""

def jpeg_header(data: object) -> JpegHeader: ...

def jpeg_checkpoints(data: object) -> bytes: ...

def decode_jpeg(data: object, *, crop: tuple[int, int, int, int] | None = None, size: tuple[int, int] | None = None, filter: str = 'bilinear', flip: bool = False, tolerant: bool = False, checkpoints: bytes | None = None) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C')]: ...

class UsableLimits:
    """What this process may use of its machine; None: not known or not set."""

    @property
    def usable_cores(self) -> float: ...

    @property
    def quota_cores(self) -> float | None: ...

    @property
    def affinity_cores(self) -> int: ...

    @property
    def shm_free(self) -> int | None: ...

    @property
    def memory_available(self) -> int | None: ...

    @property
    def why(self) -> list[str]: ...

def read_limits() -> UsableLimits:
    """Reads affinity, control groups, /dev/shm and memory of this process."""

class TransferTimes:
    """What one batch took; milliseconds and bytes."""

    @property
    def bytes(self) -> int: ...

    @property
    def pageable_bytes(self) -> int: ...

    @property
    def stage_ms(self) -> float: ...

    @property
    def slot_wait_ms(self) -> float: ...

    @property
    def queue_ms(self) -> float: ...

    @property
    def h2d_ms(self) -> float: ...

class Transfer:
    """One batch on its way to the device."""

    def hand_over(self, stream: int) -> None:
        """
        Makes what `stream` is given from now on run after the copies. Raises RuntimeError with a copy's error.
        """

    def wait_for_sources(self) -> None:
        """Blocks until the sources are not read any more."""

    def wait(self) -> None:
        """Blocks until all copies are complete."""

    def done(self) -> bool:
        """Whether all copies are complete; never blocks."""

    def times(self) -> TransferTimes | None:
        """TransferTimes, or None until all copies are complete."""

    def release(self) -> None:
        """
        Gives the transfer back: drops copies that were not begun, waits for those under way.
        """

class TransferEngine:
    """Copies batches to one device on a stream of their own."""

    def __init__(self, device: int, stream: int, *, slot_bytes: int, slots: int, threads: int) -> None:
        """
        Reserves slots * slot_bytes of page-locked memory and starts the threads. `stream` is a CUstream as int.
        """

    def submit(self, copies: Sequence[tuple[int, int, int, int]]) -> Transfer:
        """Queues copies (source, destination, bytes, pack) and returns at once."""

    def enter_thread(self) -> None:
        """
        Lets this thread's CUDA calls pass while another thread captures a graph.
        """

    @property
    def slots(self) -> int: ...

    @property
    def shortfall(self) -> str:
        """Why there are fewer slots than asked for, or an empty string."""
