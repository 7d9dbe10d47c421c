from collections.abc import Sequence
import enum
from typing import Annotated, Any

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

class ImageDType(enum.Enum):
    uint8 = 0

    float32 = 1

    float16 = 2

    bfloat16 = 3

class ImageLayout(enum.Enum):
    NCHW = 0

    NHWC = 1

class ImageOnError(enum.Enum):
    raise = 0

    skip = 1

    replace = 2

class ImageUneven(enum.Enum):
    pad = 0

    drop = 1

class ImagePadMode(enum.Enum):
    constant = 0

    edge = 1

    reflect = 2

    symmetric = 3

class ImageFilter(enum.Enum):
    bilinear = 0

    bicubic = 1

class ImageLoaderOptions:
    """include/fullbore/image_loader.h says what each field means."""

    def __init__(self) -> None: ...

    @property
    def batch_size(self) -> int: ...

    @batch_size.setter
    def batch_size(self, arg: int, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def shuffle(self) -> bool: ...

    @shuffle.setter
    def shuffle(self, arg: bool, /) -> None: ...

    @property
    def rank(self) -> int: ...

    @rank.setter
    def rank(self, arg: int, /) -> None: ...

    @property
    def world_size(self) -> int: ...

    @world_size.setter
    def world_size(self, arg: int, /) -> None: ...

    @property
    def drop_last(self) -> bool: ...

    @drop_last.setter
    def drop_last(self, arg: bool, /) -> None: ...

    @property
    def uneven(self) -> ImageUneven: ...

    @uneven.setter
    def uneven(self, arg: ImageUneven, /) -> None: ...

    @property
    def filter(self) -> ImageFilter: ...

    @filter.setter
    def filter(self, arg: ImageFilter, /) -> None: ...

    @property
    def flip(self) -> float: ...

    @flip.setter
    def flip(self, arg: float, /) -> None: ...

    @property
    def dtype(self) -> ImageDType: ...

    @dtype.setter
    def dtype(self, arg: ImageDType, /) -> None: ...

    @property
    def layout(self) -> ImageLayout: ...

    @layout.setter
    def layout(self, arg: ImageLayout, /) -> None: ...

    @property
    def exif_orientation(self) -> bool: ...

    @exif_orientation.setter
    def exif_orientation(self, arg: bool, /) -> None: ...

    @property
    def label_columns(self) -> list[str]: ...

    @label_columns.setter
    def label_columns(self, arg: Sequence[str], /) -> None: ...

    @property
    def field_columns(self) -> list[str]: ...

    @field_columns.setter
    def field_columns(self, arg: Sequence[str], /) -> None: ...

    @property
    def all_fields(self) -> bool: ...

    @all_fields.setter
    def all_fields(self, arg: bool, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

    @property
    def adapt_threads(self) -> bool: ...

    @adapt_threads.setter
    def adapt_threads(self, arg: bool, /) -> None: ...

    @property
    def depth(self) -> int: ...

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    @property
    def on_error(self) -> ImageOnError: ...

    @on_error.setter
    def on_error(self, arg: ImageOnError, /) -> None: ...

    @property
    def max_bad(self) -> int: ...

    @max_bad.setter
    def max_bad(self, arg: int, /) -> None: ...

    @property
    def max_pixels(self) -> int: ...

    @max_pixels.setter
    def max_pixels(self, arg: int, /) -> None: ...

    @property
    def index(self) -> str: ...

    @index.setter
    def index(self, arg: str, /) -> None: ...

    @property
    def index_cache(self) -> str: ...

    @index_cache.setter
    def index_cache(self, arg: str, /) -> None: ...

    @property
    def index_memory(self) -> int: ...

    @index_memory.setter
    def index_memory(self, arg: int, /) -> None: ...

    @property
    def memory_limit(self) -> int: ...

    @memory_limit.setter
    def memory_limit(self, arg: int, /) -> None: ...

    @property
    def listing_cache(self) -> str: ...

    @listing_cache.setter
    def listing_cache(self, arg: str, /) -> None: ...

    def random_resized_crop(self, height: int, width: int, scale: Sequence[float], ratio: Sequence[float]) -> None: ...

    def resize_center_crop(self, shorter_side: int, resized: Sequence[int], crop: Sequence[int]) -> None:
        """
        Sizes are (height, width). shorter_side 0: to `resized` whatever the shape.
        """

    def normalise(self, mean: Sequence[float], std: Sequence[float]) -> None: ...

    @property
    def scale(self) -> float: ...

    @scale.setter
    def scale(self, arg: float, /) -> None: ...

    def pad(self, borders: Sequence[int], fill: Sequence[int], mode: ImagePadMode) -> None:
        """Borders are left, top, right, bottom."""

    def color_jitter(self, brightness: Sequence[float] | None, contrast: Sequence[float] | None, saturation: Sequence[float] | None, hue: Sequence[float] | None) -> None: ...

    def random_grayscale(self, p: float) -> None: ...

    def random_erasing(self, p: float, scale: Sequence[float], ratio: Sequence[float], value: Sequence[float] | None, finished: bool) -> None:
        """`finished`: after the normalisation. No value: normal numbers."""

class ImageBatchTimes:
    """
    What one batch took, in milliseconds: read_ms, decode_ms and finish_ms summed over threads.
    """

    @property
    def read_ms(self) -> float: ...

    @property
    def decode_ms(self) -> float: ...

    @property
    def finish_ms(self) -> float: ...

    @property
    def make_ms(self) -> float: ...

    @property
    def slot_wait_ms(self) -> float: ...

    @property
    def queue_ms(self) -> float: ...

    @property
    def wait_ms(self) -> float: ...

class ImageBatch:
    """One batch; arrays made of it keep its memory."""

    def pixels(self) -> Any:
        """A 4-D array without a copy."""

    def labels(self) -> Any:
        """
        int64 [samples], or [samples, columns] where more columns are labels; without a copy.
        """

    @property
    def samples(self) -> int: ...

    @property
    def ids(self) -> list[int]: ...

    @property
    def replaced(self) -> list[int]: ...

    @property
    def times(self) -> ImageBatchTimes: ...

class ImageLoader:
    """Threads that make batches of pictures ahead of the caller."""

    def __init__(self, data: Sequence[str], options: ImageLoaderOptions) -> None:
        """
        Lists the data, one name or several of tar shards, and starts the threads.
        """

    def start(self, epoch: int, first: int) -> None:
        """Begins a pass at batch `first`; ends the one before."""

    def ready(self) -> bool:
        """Whether next() would not wait."""

    def next(self) -> object:
        """The next ImageBatch, or None at the end. Ctrl-C ends the wait."""

    def stop(self) -> None:
        """Ends the pass."""

    def close(self) -> None:
        """
        Ends the threads, after the samples under way. What is known of the samples stays.
        """

    def path(self, arg: int, /) -> bytes: ...

    @property
    def samples(self) -> int: ...

    @property
    def batches(self) -> int: ...

    @property
    def dropped(self) -> int: ...

    @property
    def padded(self) -> int: ...

    @property
    def threads(self) -> int: ...

    def explain(self) -> str: ...

    @property
    def fingerprint(self) -> int: ...

    @property
    def classes(self) -> list:
        """Per column of labels."""

    @property
    def fields(self) -> list: ...

    def field(self, name: bytes, ids: Sequence[int]) -> object:
        """An array of int64 or float64, or a list of bytes."""

    @property
    def index(self) -> tuple: ...

    @property
    def bad_samples(self) -> list: ...

class ImageDeliveredTimes:
    """
    What one batch took, in milliseconds: ImageBatchTimes, and by the device's clock h2d_ms and device_finish_ms, None until the batch is there.
    """

    @property
    def read_ms(self) -> float: ...

    @property
    def decode_ms(self) -> float: ...

    @property
    def finish_ms(self) -> float: ...

    @property
    def make_ms(self) -> float: ...

    @property
    def slot_wait_ms(self) -> float: ...

    @property
    def queue_ms(self) -> float: ...

    @property
    def wait_ms(self) -> float: ...

    @property
    def bytes(self) -> int | None: ...

    @property
    def h2d_ms(self) -> float | None: ...

    @property
    def device_finish_ms(self) -> float | None: ...

class ImageDelivered:
    """One batch on its way to the device, or there."""

    def hand_over(self, stream: int) -> None:
        """Makes what `stream` is given from now on run after the batch is there."""

    @property
    def ids(self) -> list[int]: ...

    @property
    def replaced(self) -> list[int]: ...

    @property
    def times(self) -> ImageDeliveredTimes: ...

class ImageDeliverySums:
    """Sums over the batches that are there."""

    @property
    def batches(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def h2d_ms(self) -> float: ...

    @property
    def finish_ms(self) -> float: ...

class ImageDeliveryOptions:
    """Of what is delivered."""

    def __init__(self, options: ImageLoaderOptions, loader: ImageLoader) -> None:
        """
        Type, layout, normalisation and batch size are those of `options`; `loader` gives the pixels.
        """

    @property
    def picture(self) -> tuple:
        """(height, width) in pixels."""

    @property
    def workspace_bytes(self) -> int: ...

class ImageDelivery:
    """Sends batches to one device and finishes them there."""

    def __init__(self, device: int, stream: int, options: ImageDeliveryOptions, workspace: int) -> None:
        """
        `stream` is a CUstream as int, `workspace` the address of device memory that stays.
        """

    @property
    def no_kernel(self) -> str:
        """
        Why decoded pixels are delivered where others were asked for, or an empty string.
        """

    def send(self, batch: ImageBatch, images: int, labels: int) -> ImageDelivered:
        """
        Queues the copies to these addresses, and what finishes them, and returns at once.
        """

    def sums(self) -> ImageDeliverySums: ...

    def wait(self) -> None:
        """Blocks until all that was sent is there."""

def use_pinned_memory(options: ImageLoaderOptions, device: int) -> None:
    """Batches of a loader with these options will lie in page-locked memory."""

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
