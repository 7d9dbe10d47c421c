"""Writes what the line timing found as records."""

import time

from . import abi, records


class RecordEmit:
    """The `emit` of profile.start() in a watched process."""

    def profile(self, where, stage, file, line, name, count, windows, wall_ns, window_ns, loader):
        abi.write(records.profile(time.monotonic_ns(), wall_ns, window_ns, loader, where, stage, line,
                                  min(count, 0xFFFFFFFF), windows, abi.name(file), abi.name(name)))

    def interval(self, kind, begin_ns, end_ns, name, file, line):
        abi.write(records.interval(begin_ns, end_ns, kind, line, abi.name(name), abi.name(file), records.UNKNOWN))

    def data_path(self, path):
        abi.write(records.data_path(time.monotonic_ns(), abi.name(path)))
