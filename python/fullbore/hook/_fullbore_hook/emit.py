"""The records that the other parts of the hook have to write: times of source lines, what --fix did, how it ended."""

import time

from . import abi, records

fixed_loaders = set()


def profile(where, stage, file, line, name, count, windows, wall_ns, window_ns, loader):
    abi.write(
        records.profile(
            time.monotonic_ns(),
            wall_ns,
            window_ns,
            loader,
            where,
            stage,
            records.known32(line),
            min(count, 0xFFFFFFFF),
            windows,
            abi.name(file),
            abi.name(name),
        )
    )


def data_path(path):
    abi.write(records.data_path(time.monotonic_ns(), abi.name(path)))


def batch_tensor(loader, tensor):
    shape = tuple(tensor.shape)
    size = tensor.numel() * tensor.element_size()
    first = [*shape, *[records.UNKNOWN] * 4][:4]
    abi.write(
        records.batch_tensor(time.monotonic_ns(), size, *first, len(shape), loader, abi.name(str(tensor.dtype)))
    )


def interval(kind, begin, end, name, file="", line=None, size=records.UNKNOWN):
    abi.write(records.interval(begin, end, kind, records.known32(line), abi.name(name), abi.name(file), size))


def failure(error, worker=None):
    """An error that ends the loader. Its text only where reading it runs no code of the user's."""
    kind, text = type(error), ""
    if kind.__module__ == "builtins" and type(error.args) is tuple:
        words = [word for word in error.args[:2] if type(word) is str]
        text = words[0].strip().split("\n")[0][:200] if words else ""
    number = getattr(error, "errno", None) if isinstance(error, OSError) and kind.__module__ == "builtins" else None
    abi.write(
        records.failure(
            time.monotonic_ns(),
            abi.name("%s.%s" % (kind.__module__, kind.__qualname__)),
            abi.name(text),
            records.known32(number if type(number) is int else None),
            records.known32(worker),
        )
    )


def fix(loader, setting, before, after, applied, why):
    if applied == 1:
        fixed_loaders.add(loader)
    values = [records.known(None if value is None else int(value)) for value in (before, after)]
    abi.write(records.fix(time.monotonic_ns(), loader, applied, values[0], values[1], abi.name(setting), abi.name(why)))
