"""Runs the tests of line timing on every other Python that is installed, 3.8 to 3.14; skipped visibly without any."""

import glob
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = ("test_stages", "test_profile", "test_profile_budget", "test_profile_libraries")


def interpreters():
    """One executable per minor version, other than the one that runs this."""
    found = {}
    patterns = ("~/.pyenv/versions/*/bin/python3", "/usr/bin/python3.[0-9]*", "/usr/local/bin/python3.[0-9]*")
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.expanduser(pattern))):
            try:
                version = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], timeout=30,
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
            except (OSError, subprocess.SubprocessError):
                continue
            minor = tuple(map(int, version.split()))
            if (3, 8) <= minor <= (3, 14) and minor != sys.version_info[:2]:
                found.setdefault(minor, path)
    return found


class Interpreters(unittest.TestCase):
    def test_every_installed_python_passes(self):
        others = interpreters()
        if not others:
            self.skipTest("no other Python from 3.8 to 3.14 is installed")
        for minor, path in sorted(others.items()):
            with self.subTest(python=".".join(map(str, minor))):
                done = subprocess.run([path, "-m", "unittest"] + list(MODULES), cwd=HERE, timeout=300,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 0, done.stdout.decode("utf-8", "replace"))


if __name__ == "__main__":
    unittest.main()
