"""What is said of an error that ends a loader: its type, and text only where reading it runs nothing of the user's."""

import errno

import profile_support  # noqa: F401  puts the hook on the path
import pytest
from _fullbore_hook import abi, emit, records


@pytest.fixture
def said(monkeypatch):
    written = []
    monkeypatch.setattr(abi, "name", lambda text: text)
    monkeypatch.setattr(abi, "write", lambda record, count=1: None)
    monkeypatch.setattr(records, "failure", lambda time_ns, *fields: written.append(fields))
    return written


def test_first_line_of_pythons_own_errors(said):
    emit.failure(RuntimeError("unable to allocate shared memory(shm)\nmore"), 3)
    assert said == [("builtins.RuntimeError", "unable to allocate shared memory(shm)", records.UNKNOWN32, 3)]


def test_errno_and_its_words(said):
    emit.failure(OSError(errno.EMFILE, "Too many open files", "/data/a"))
    assert said == [("builtins.OSError", "Too many open files", errno.EMFILE, records.UNKNOWN32)]


def test_errors_of_others_keep_their_text(said):
    class Mine(Exception):
        def __str__(self):
            raise AssertionError("asked")

    emit.failure(Mine("secret"))
    emit.failure(ValueError(Mine("secret")))
    assert [fields[1] for fields in said] == ["", ""]
    assert said[0][0].endswith("Mine")
