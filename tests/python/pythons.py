"""Which Pythons the tests can use, and the stand-in for torch where there is none."""

import glob
import os
import shutil

STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "standin")


def interpreters():
    """[(version, path or None)] of every Python that the hook is written for, where it is installed."""
    found = []
    for minor in range(8, 15):
        version = "3.%d" % minor
        inside = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/%s.*/bin/python" % version)))
        found.append((version, inside[-1] if inside else shutil.which("python" + version)))
    return found
