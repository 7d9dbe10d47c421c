"""Runs the tests of line timing on every other Python that is installed; pytest itself runs them on its own."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = ("test_stages", "test_profile", "test_profile_dataset", "test_profile_budget", "test_profile_libraries")


def test_line_timing_on_a_bare_python(bare_python):
    done = subprocess.run([bare_python, "-m", "unittest"] + list(MODULES), cwd=HERE, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")
