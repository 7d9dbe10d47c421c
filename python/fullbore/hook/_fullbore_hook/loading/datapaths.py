"""Finds a few files that samples are read from, so that their disk and mount can be told.

Looks at what the dataset holds (paths, lists of them, mapped arrays), and at calls that a tracer has seen in a traced
sample: at their arguments, or at the files open just then. A library that opens files by itself is known by the first.
"""

import os
import pathlib

MOST_FOLDERS = 4
MOST_ATTEMPTS = 32
_PATH_TYPES = (str, bytes, pathlib.PosixPath)
_NOT_DATA = ("/proc/", "/dev/", "/sys/", "/tmp/pymp-", "/dev/shm/")
_CODE_ENDS = (".py", ".pyc", ".so")
_WRAPPED_DEEP = 5
_MOST_ATTRIBUTES = 64


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


def named_by(dataset):
    """Existing files and folders that attributes of the dataset name, at most MOST_FOLDERS. Runs no code of the user's:
    only `__dict__`, and of lists the first entry. Asks the file system at most MOST_ATTEMPTS times."""
    found, asked = [], 0
    for _ in range(_WRAPPED_DEEP):
        try:
            attributes = getattr(dataset, "__dict__", None)
        except Exception:  # a property of the user's
            break
        if type(attributes) is not dict:
            break
        for value in list(attributes.values())[:_MOST_ATTRIBUTES]:
            for path in _paths_in(value, 3):
                if asked >= MOST_ATTEMPTS or len(found) >= MOST_FOLDERS:
                    return found
                asked += 1
                path = os.path.abspath(path)
                if path not in found and not path.startswith(_NOT_DATA) and os.path.exists(path):
                    found.append(path)
        dataset = attributes.get("dataset")
    return found


def _paths_in(value, depth):
    kind = type(value)
    if kind in _PATH_TYPES:
        text = os.fsdecode(value)
        # a word is more likely a class name or a mode than a file of the working directory
        return [text] if "/" in text and len(text) < 4096 and "\n" not in text and "\0" not in text else []
    if kind in (list, tuple) and depth:
        entries = value if kind is tuple and len(value) <= 4 else value[:1]
        return [path for entry in entries for path in _paths_in(entry, depth - 1)]
    if kind is dict and depth:
        return _paths_in(next(iter(value.values()), None), depth - 1)
    if kind.__name__ == "memmap" and kind.__module__.split(".")[0] == "numpy":
        return _paths_in(value.filename, depth)
    if kind.__module__ == "_io" and depth:
        return _paths_in(getattr(value, "name", None), 1)
    return []
