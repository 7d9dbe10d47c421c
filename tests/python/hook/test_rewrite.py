"""Changing a function in place must not show, on any Python; check_rewrite.py does the comparing inside each."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def test_a_rewritten_function_behaves_and_looks_as_before(bare_python, package):
    command = [
        bare_python,
        "-W",
        "error::SyntaxWarning",
        os.path.join(HERE, "check_rewrite.py"),
        os.path.join(package, "hook"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("same\n", "", 0)
