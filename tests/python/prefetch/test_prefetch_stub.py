"""The committed description of the extension is that of the extension."""

import os
import subprocess
import sys

import fullbore


def test_the_stub_of_the_extension_is_up_to_date(tmp_path):
    package = os.path.dirname(fullbore.__file__)
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-i", os.path.dirname(package), "-m", "fullbore._core", "-O", tmp_path]
    subprocess.run(command, check=True)
    with open(os.path.join(package, "_core.pyi")) as committed:
        assert (tmp_path / "_core.pyi").read_text() == committed.read(), "write it again: " + " ".join(map(str, command))
