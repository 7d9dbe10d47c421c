"""What was found, one file per run, so that a suite that was stopped goes on where it was. A result counts only for the
program, the script and the values it was made with."""

import hashlib
import json
import time
from pathlib import Path

from . import kinds, watch
from .case import SCRIPTS


def _digest(paths):
    """Of the content of these files."""
    sums = hashlib.sha256()
    for path in sorted(paths):
        sums.update(path.name.encode() + b"\0" + path.read_bytes())
    return sums.hexdigest()[:16]


def program_digest():
    """Of the installed package: the program, its libraries, the hook."""
    package = Path(watch.fullbore()).resolve().parents[1]
    files = [path for path in package.rglob("*") if path.is_file() and path.suffix in ("", ".so", ".py")]
    return _digest(path for path in files if "__pycache__" not in path.parts)


class Results:
    def __init__(self, folder, program):
        self.folder = Path(folder)
        self.program = program
        own = {case.path() for case in kinds.all_cases()}
        self.shared = [path for path in SCRIPTS.glob("*.py") if path not in own]
        self.folder.mkdir(parents=True, exist_ok=True)

    def made_of(self, run):
        """What a result of this run depends on; asked before it runs."""
        limits, options = watch.settings(run)
        return {
            "program": self.program,
            "script": _digest([run.case.path(), *self.shared]),
            "limits": repr(sorted(limits.items())),
            "options": options,
        }

    def keep(self, run, kind, content, made_of):
        """`kind` is "found" or "gain"."""
        stored = {
            "made_of": made_of,
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            kind: content,
        }
        path = self._path(run, kind)
        path.with_suffix(".tmp").write_text(json.dumps(stored, indent=1) + "\n")
        path.with_suffix(".tmp").replace(path)

    def load(self, run, kind):
        """What was kept, or None if there is nothing or it was made with something else."""
        try:
            stored = json.loads(self._path(run, kind).read_text())
        except FileNotFoundError:
            return None
        return stored[kind] if stored["made_of"] == self.made_of(run) else None

    def _path(self, run, kind):
        return self.folder / ("%s.%s.json" % (run.id, kind))
