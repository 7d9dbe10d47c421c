"""Finds a few files that samples are read from, so that their disk and mount can be told.

Looks only at calls that a tracer has seen in a traced sample: at their arguments, or at the files open just then.
"""

import os
import pathlib

MOST_FOLDERS = 4
MOST_ATTEMPTS = 32
_PATH_TYPES = (str, bytes, pathlib.PosixPath)
_NOT_DATA = ("/proc/", "/dev/", "/sys/", "/tmp/pymp-", "/dev/shm/")
_CODE_ENDS = (".py", ".pyc", ".so")


class DataPaths:
    """Reports each new folder once through `report(path of a file in it)`."""

    def __init__(self, report):
        self._report = report
        self._folders = set()
        self._attempts = 0
        self._before = self._open_files()

    def done(self):
        return len(self._folders) >= MOST_FOLDERS or self._attempts >= MOST_ATTEMPTS

    def argument(self, value):
        """A value given to a callee that opens or reads."""
        if type(value) in _PATH_TYPES and not self.done():
            self._attempts += 1
            path = os.path.abspath(os.fsdecode(value))
            if os.path.isfile(path):
                self._found(path)

    def variables(self, values):
        """Local variables around a call whose arguments are unknown."""
        for value in list(values)[:32]:
            if type(value) in _PATH_TYPES and 2 < len(str(value)) < 4096:
                self.argument(value)

    def opened(self):
        """A file was opened just now and may still be open."""
        if self.done():
            return
        self._attempts += 1
        for path in self._open_files() - self._before:
            if path.startswith("/") and os.path.isfile(path):
                self._found(path)

    def _found(self, path):
        folder = os.path.dirname(path)
        if folder in self._folders or len(self._folders) >= MOST_FOLDERS:
            return
        if not path.startswith(_NOT_DATA) and not path.endswith(_CODE_ENDS):
            self._folders.add(folder)
            self._report(path)

    @staticmethod
    def _open_files():
        paths = set()
        try:
            for descriptor in os.listdir("/proc/self/fd"):
                try:
                    paths.add(os.readlink("/proc/self/fd/" + descriptor))
                except OSError:
                    pass  # the one of the listing itself
        except OSError:
            pass
        return paths
