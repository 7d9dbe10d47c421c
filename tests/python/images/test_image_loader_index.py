"""The index file from Python: where it lies, that it can be left out, and that two processes share one."""

import os
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("PIL.Image")

import fullbore  # noqa: E402


def epoch(data, number=0, **options):
    transform = [fullbore.RandomResizedCrop((24, 32))]
    with fullbore.ImageLoader(data, 4, transform=transform, dtype="uint8", threads=2, output="numpy", **options) as loader:
        loader.set_epoch(number)
        return np.concatenate([images for images, _ in loader]), loader.index


def test_it_lies_in_the_data_folder_and_changes_no_byte(photos):
    expected, none = epoch(photos, index=None, index_memory=0)
    assert none == ("", 0, "") and not (photos / ".fullbore-index").exists()
    for _ in range(2):
        images, (path, _, problem) = epoch(photos)
        assert np.array_equal(images, expected)
        assert path == str(photos / ".fullbore-index") and problem == ""
    assert epoch(photos)[1][1] == os.path.getsize(path)


def test_a_path_may_be_given(photos, tmp_path):
    assert epoch(photos, index=tmp_path / "mine")[1][0] == str(tmp_path / "mine")
    assert (tmp_path / "mine").exists() and not (photos / ".fullbore-index").exists()
    with pytest.raises(RuntimeError, match="is no index"):
        epoch(photos, index=photos / "cat" / "00.jpg")


def test_two_processes_share_one(photos):
    script = (
        "import sys, fullbore\n"
        "loader = fullbore.ImageLoader(sys.argv[1], 3, transform=[fullbore.RandomResizedCrop(16)], rank=int(sys.argv[2]),\n"
        "                              world_size=2, threads=1, output='numpy')\n"
        "for _ in range(6): list(loader)\n"
    )
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    ranks = [subprocess.Popen([sys.executable, "-c", script, photos, str(rank)], env=env) for rank in range(2)]
    assert [rank.wait() for rank in ranks] == [0, 0]
    _, before, _ = epoch(photos)[1]
    assert epoch(photos)[1][1] == before
    os.remove(photos / ".fullbore-index")
    epoch(photos)
    assert before <= 2 * os.path.getsize(photos / ".fullbore-index")
