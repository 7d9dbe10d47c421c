"""The loader of pictures for Python. What is decided about pixels and order is decided in C++; here are the arguments,
the state, and arrays that Python knows."""

import atexit
import os
import sys
import weakref

from .pipeline import arrange, choose_dtype, compile_into
from .ranks import find_rank

_STATE_VERSION = 1
_open = weakref.WeakSet()


def _load_core():
    try:
        from fullbore import _core
    except ImportError as error:
        raise RuntimeError(
            "this installation of fullbore has no image loader for Python %s (%s); reinstall fullbore with this Python"
            % (".".join(map(str, sys.version_info[:2])), error)
        ) from error
    return _core


class ImageBatch(tuple):
    """(images, labels), and where they come from. While a part of it is kept, its memory is not used again.

    images: [samples, 3, height, width] or [samples, height, width, 3], by the loader's layout
    labels: int64 [samples], or [samples, columns] where more columns of a list are labels
    """

    _fields = ("images", "labels")  # as named tuples have: who counts the samples of a batch looks for it

    def __new__(cls, images, labels, raw, core, convert):
        self = super().__new__(cls, (images, labels))
        self._raw = raw
        self._core = core
        self._convert = convert
        return self

    def __reduce__(self):
        return tuple, (tuple(self),)

    @property
    def images(self):
        return self[0]

    @property
    def labels(self):
        return self[1]

    @property
    def ids(self):
        """Numbers of the samples in the data set."""
        return self._raw.ids

    @property
    def paths(self):
        return [os.fsdecode(self._core.path(sample)) for sample in self._raw.ids]

    @property
    def replaced(self):
        """Places whose picture is black because its file is bad (on_error="replace")."""
        return self._raw.replaced

    @property
    def fields(self):
        """{name: values} of the columns that the loader was asked for. Whole numbers are int64, others float64 with NaN
        where a line has none, both in the loader's kind of array; texts are a list."""
        fields = {}
        for name in self._core.fields:
            values = self._core.field(name, self._raw.ids)
            texts = isinstance(values, list)
            fields[os.fsdecode(name)] = [os.fsdecode(text) for text in values] if texts else self._convert(values)
        return fields

    @property
    def timing(self):
        """Milliseconds: read_ms, decode_ms, finish_ms over all threads, make_ms, slot_wait_ms, queue_ms, wait_ms. On a
        device also, by its clock, h2d_ms and device_finish_ms, and bytes; None until the batch is there."""
        return self._raw.times


class ImageLoader:
    """Hands out batches of pictures that threads of C++ made ahead: read, decode, crop, resize, flip, normalise.

        loader = fullbore.ImageLoader("train/", 256, transform=[
            fullbore.RandomResizedCrop(224), fullbore.RandomHorizontalFlip(), fullbore.Normalize(mean, std)])
        for images, labels in loader:
            ...

    Bytes are equal for any number of threads, any depth and any place a run was resumed at: order, crop and flip are
    functions of (seed, epoch, sample). Without set_epoch() each pass is the next epoch.

    data: a folder with one folder of pictures per class (torchvision's ImageFolder: the same classes, files and order),
        or a list of files, *.csv with columns path and label, or *.jsonl with objects that have them; or tar shards in
        WebDataset's form: a folder of them, a pattern ("train-{0000..0146}.tar"), or a list of names and patterns
    label: the list's column of labels; with several, labels are [samples, columns]
    fields: other columns of the list, for `batch.fields`; "all" of them
    transform: RandomResizedCrop, or Resize and CenterCrop; RandomHorizontalFlip; Pad, ColorJitter, RandomGrayscale and
        RandomErasing in any order; ToDtype; Normalize; RandomErasing. torchvision's go too.
    device: "cpu", or a CUDA device ("cuda" is the one that is current now): then 8-bit pixels are copied ahead out of
        page-locked memory and normalised there, and batches are torch tensors. On a machine without CUDA it is the CPU
    dtype: "float32", "float16", "bfloat16" (value / 255, then Normalize), or "uint8" (0 to 255; no Normalize). By
        default that of ToDtype, else float32
    layout: "NCHW" or "NHWC"
    drop_last: leave out a last batch that is not full
    uneven: what does not divide among ranks is filled up with the epoch's first samples ("pad") or left out ("drop")
    rank, world_size: by default those of torch.distributed, torchrun, MPI or Slurm
    threads: "auto" leaves one core free, two where there are more than eight, and after some batches lets only so many
        threads work as your loop needs, since more would disturb it
    depth: batches made ahead of the one that is asked for
    on_error: "raise" ends the pass at a bad picture, "skip" puts another one in its place, "replace" a black one
    exif_orientation: turn pictures upright as their EXIF says; torchvision's ImageFolder does not
    max_bad: so many different bad pictures are put up with
    memory_limit: bytes of all batches together, those that you keep included; on a device depth + 2 batches of 8 bits are
        page-locked instead, and what you keep is torch's memory
    index: file that keeps the places in JPEGs where decoding can start, about 0.7 % of the data; pictures that have been
        decoded once then cost a third less, also in later runs. "auto": in the data's folder, or under ~/.cache/fullbore
        where that cannot be written; a path; None: no file. Batches are the same with and without
    index_memory: bytes of memory for them, about 1 kB a picture, where no file can be written
    listing_cache: folder in which the places of the members of shards are kept for the next run; "auto" is
        fullbore/shards in the user's cache ($XDG_CACHE_HOME or ~/.cache), None reads the shards' headers every time
    output: "torch", "numpy" or "dlpack" (objects with __dlpack__); None: torch where it is installed, else NumPy

    Raises ValueError for arguments, RuntimeError for data that cannot be read. One pass at a time: a new one ends the
    one before. Does not work in a forked child; says so.
    """

    def __new__(cls, *args, device="cpu", **options):
        if cls is ImageLoader and str(device) != "cpu":
            from .on_device import DeviceImageLoader, open_device

            cls = cls if open_device(device) is None else DeviceImageLoader
        return super().__new__(cls)

    def __init__(self, data, batch_size, *, transform, device="cpu", dtype=None, layout="NCHW", seed=0,
                 shuffle=True, drop_last=True, label="label", fields=(), uneven="pad", rank=None, world_size=None,
                 threads="auto", depth=2, on_error="raise", exif_orientation=False, max_bad=1000,
                 max_pixels=178_956_970, memory_limit=4 << 30, index="auto", index_memory=256 << 20,
                 listing_cache="auto", output=None):  # fmt: skip
        core = self._extension()
        pipeline = arrange(transform)
        dtype = choose_dtype(pipeline, dtype)
        self._convert = _converter(output, dtype)
        options = core.ImageLoaderOptions()
        compile_into(options, pipeline)
        options.dtype = choice(core.ImageDType, dtype, "dtype")
        options.layout = choice(core.ImageLayout, layout, "layout")
        options.uneven = choice(core.ImageUneven, uneven, "uneven")
        options.on_error = choice(core.ImageOnError, on_error, "on_error")
        options.rank, options.world_size = find_rank(rank, world_size)
        options.threads = _default_threads(core) if threads == "auto" else threads
        options.adapt_threads = threads == "auto"
        options.batch_size, options.seed, options.shuffle, options.drop_last = batch_size, seed, shuffle, drop_last
        options.depth, options.max_bad, options.max_pixels = depth, max_bad, max_pixels
        options.label_columns = [label] if isinstance(label, str) else list(label)
        options.all_fields = fields == "all"
        options.field_columns = [] if options.all_fields else list(fields)
        options.exif_orientation = exif_orientation
        options.memory_limit, options.index_memory = memory_limit, index_memory
        options.listing_cache = os.path.join(_cache_folder(), "shards") if listing_cache == "auto" else os.fspath(listing_cache or "")
        options.index = "" if index is None else os.fspath(index)
        options.index_cache = _cache_folder()
        self.batch_size, self.seed, self.rank, self.world_size = batch_size, seed, options.rank, options.world_size
        self._options = options
        names = data if isinstance(data, (list, tuple)) else [data]
        self._choose_memory(core, options)
        self._core = core.ImageLoader([os.fspath(name) for name in names], options)
        self._pid = os.getpid()
        self._epoch = 0  # of the next pass
        self._first = 0  # batch that it begins at
        self._pass = None
        _open.add(self)

    def __len__(self):
        """Batches of a whole pass, on each rank."""
        return self._opened().batches

    def __iter__(self):
        core = self._opened()
        core.start(self._epoch, self._first)
        self._pass = self._new_pass(self._epoch, self._first)
        # If this pass is left early, the next one is another epoch.
        self._epoch, self._first = self._epoch + 1, 0
        return self._pass

    def set_epoch(self, epoch):
        """The next pass is `epoch`. After load_state_dict, the epoch of the state goes on where it was."""
        if epoch != self._epoch:
            self._epoch, self._first = epoch, 0

    def state_dict(self):
        """What was handed out; a few numbers. Taken after the last batch, the resumed pass is empty; taken after the
        pass has ended, the next one is the next epoch."""
        epoch, batch = self._epoch, self._first
        if self._pass is not None and not self._pass.complete:
            epoch, batch = self._pass.epoch, self._pass.handed_out
        return {
            "version": _STATE_VERSION,
            "data": "%016x" % self._opened().fingerprint,
            "seed": self.seed,
            "shuffle": self._options.shuffle,
            "epoch": epoch,
            "samples": batch * self.batch_size * self.world_size,  # of all ranks
        }

    def load_state_dict(self, state):
        """The next pass goes on where `state` was taken, also with other threads, or another number of ranks if the
        batches of all ranks together are as large. Raises ValueError for a state of other data, seed or batches."""
        if state.get("version") != _STATE_VERSION:
            raise ValueError("a state of version %r; this is version %d" % (state.get("version"), _STATE_VERSION))
        mine = self.state_dict()
        for key, what in (("data", "other files or labels"), ("seed", "another seed"), ("shuffle", "another shuffle")):
            if state[key] != mine[key]:
                raise ValueError("the state was taken with %s (%s, here %s)" % (what, state[key], mine[key]))
        step = self.batch_size * self.world_size
        if state["samples"] % step:
            raise ValueError(
                "the state was taken after %d samples of the epoch, which are no whole batches of %d on %d ranks"
                % (state["samples"], self.batch_size, self.world_size)
            )
        self._core.stop()
        self._pass = None
        self._epoch, self._first = state["epoch"], min(state["samples"] // step, len(self))

    @property
    def classes(self):
        """Names of the classes; a label is an index of it. Empty where a list gave numbers. Where more columns of a
        list are labels, a dictionary with the names of each."""
        columns = [[os.fsdecode(name) for name in names] for names in self._opened().classes]
        return columns[0] if len(columns) == 1 else dict(zip(self._options.label_columns, columns))

    @property
    def class_to_idx(self):
        if isinstance(self.classes, dict):
            return {column: _numbered(names) for column, names in self.classes.items()}
        return _numbered(self.classes)

    @property
    def samples(self):
        """Pictures in the data."""
        return self._opened().samples

    @property
    def dropped(self):
        """Samples that an epoch leaves out, of all ranks together."""
        return self._opened().dropped

    @property
    def padded(self):
        """Samples that an epoch takes twice, of all ranks together."""
        return self._opened().padded

    @property
    def threads(self):
        return self._opened().threads

    def explain(self):
        """What the threads do and what limits the rate, in sentences, from the batches handed out so far."""
        return self._opened().explain()

    @property
    def index(self):
        """(path, bytes, problem) of the index file: path "" if there is none, problem "" or why it is not added to."""
        path, size, problem = self._opened().index
        return os.fsdecode(path), size, os.fsdecode(problem)

    def bad_samples(self):
        """[(number, path, stage, reason)] of each bad picture met so far; stage is "read" or "decode"."""
        return [(number, os.fsdecode(path), *rest) for number, path, *rest in self._opened().bad_samples]

    def close(self):
        """Ends the threads; batches that were handed out stay as they are. Called again it does nothing."""
        core, self._core, self._pass = self._core, None, None
        if core is not None and os.getpid() == self._pid:
            core.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getstate__(self):
        raise TypeError("an ImageLoader has threads and cannot be pickled; make one in each process")

    def _opened(self):
        if self._core is None:
            raise RuntimeError("this loader was closed")
        return self._core

    # What is otherwise where batches go to a device.

    def _extension(self):
        return _load_core()

    def _choose_memory(self, core, options):
        pass

    def _new_pass(self, epoch, first):
        return Pass(self, epoch, first)

    def _hand_out(self, raw, core):
        convert = self._convert
        return ImageBatch(convert(raw.pixels()), convert(raw.labels()), raw, core, convert)


class Pass:
    """One pass over the data, until the next one begins."""

    def __init__(self, loader, epoch, first):
        self._loader = loader
        self.epoch = epoch
        self.handed_out = first
        self.ended = False
        self.complete = False  # ended at its end, not by an error

    def __iter__(self):
        return self

    def __next__(self):
        if self.ended:
            raise StopIteration
        core = self._loader._opened()
        if self._loader._pass is not self:
            raise RuntimeError("this pass was ended by a newer one, or by a state; a loader has one at a time")
        try:
            raw = self._take(core)
        except RuntimeError:
            self.ended = True
            raise
        if raw is None:
            self.ended = self.complete = True
            raise StopIteration
        self.handed_out += 1
        return self._loader._hand_out(raw, core)

    def _take(self, core):
        return core.next()


def _numbered(names):
    return {name: index for index, name in enumerate(names)}


def choice(kind, name, what):
    if name not in kind.__members__:
        raise ValueError("%s %r; use one of %s" % (what, name, ", ".join(kind.__members__)))
    return kind.__members__[name]


def _converter(output, dtype):
    if output is None:
        import importlib.util

        output = "torch" if importlib.util.find_spec("torch") else "numpy"
    if output == "torch":
        import torch

        return torch.from_dlpack
    if output == "numpy":
        if dtype == "bfloat16":
            raise ValueError("NumPy has no bfloat16; use float16 or float32, or output='dlpack'")
        import numpy

        return numpy.asarray
    if output == "dlpack":
        return lambda array: array
    raise ValueError("output %r; use 'torch', 'numpy' or 'dlpack'" % (output,))


def _default_threads(core):
    cores = int(core.read_limits().usable_cores)
    return max(1, cores - (2 if cores > 8 else 1))


def _cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "fullbore")


@atexit.register
def _close_all():
    for loader in list(_open):
        loader.close()
