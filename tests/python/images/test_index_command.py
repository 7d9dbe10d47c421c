"""`fullbore index`: what it says, that it goes on where it was interrupted, and that the loader uses what it made."""

import json
import os
import subprocess

import pytest

pytest.importorskip("numpy")
pytest.importorskip("PIL.Image")

import fullbore  # noqa: E402

PROGRAM = os.environ.get("FULLBORE_BIN") or os.path.join(os.path.dirname(fullbore.__file__), "bin", "fullbore")


def index(*arguments):
    return subprocess.run([PROGRAM, "index", *map(str, arguments)], capture_output=True, text=True)


def test_it_says_what_the_data_consist_of(photos):
    (photos / "cat" / "note.png").write_bytes(b"\x89PNG")
    (photos / "cat" / "00.jpg").write_bytes((photos / "cat" / "01.jpg").read_bytes()[:900])
    done = index(photos)
    assert done.returncode == 0 and done.stderr == ""
    assert "13 pictures" in done.stdout and "11 baseline: 0 in the index, 11 added" in done.stdout
    assert "1 other kinds" in done.stdout and "1 bad, the first: %s" % (photos / "cat" / "00.jpg") in done.stdout


def test_check_tells_a_changed_picture(photos):
    assert json.loads(index(photos, "--json").stdout)["added"] == 12
    assert index(photos, "--check").returncode == 0
    os.utime(photos / "cat" / "03.jpg", (1, 1))
    checked = index(photos, "--check", "--json")
    report = json.loads(checked.stdout)
    assert checked.returncode == 1
    assert (report["known"], report["missing"], report["wrong"], report["added"]) == (11, 1, 0, None)
    again = json.loads(index(photos, "--json").stdout)
    assert (again["known"], again["added"]) == (11, 1)


def test_the_loader_adds_nothing_to_what_it_made(photos):
    index(photos)
    size = os.path.getsize(photos / ".fullbore-index")
    with fullbore.ImageLoader(photos, 4, transform=[fullbore.RandomResizedCrop(16)], output="numpy") as loader:
        list(loader)
    assert os.path.getsize(photos / ".fullbore-index") == size


def test_what_cannot_be_done_is_said(photos, tmp_path):
    missing = index(tmp_path / "nowhere")
    assert missing.returncode == 1 and "cannot list" in missing.stderr
    foreign = index(photos, "--index", photos / "cat" / "00.jpg")
    assert foreign.returncode == 1 and "is no index" in foreign.stderr
    assert index().returncode == 2
