"""What a dataset holds tells where its data lie, also where numpy opens the files by itself."""

import pathlib

import profile_support  # noqa: F401  puts the hook on the path
import pytest
from _fullbore_hook.loading import datapaths


class Dataset:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.npy"
    path.write_bytes(b"x")
    return str(path)


def test_paths_and_lists_of_them(file):
    for value in (file, pathlib.Path(file), [file, "b"], [(file, 3)], (("label", [pathlib.Path(file)]),), {"train": [file]}):
        assert datapaths.named_by(Dataset(mode="train", value=value)) == [file], value


def test_folders_count_too(file):
    assert datapaths.named_by(Dataset(root=str(pathlib.Path(file).parent))) == [str(pathlib.Path(file).parent)]


def test_mapped_arrays_and_open_files(file):
    numpy = pytest.importorskip("numpy")
    assert datapaths.named_by(Dataset(tokens=numpy.memmap(file, dtype="u1", mode="r"))) == [file]
    with open(file, "rb") as opened:
        assert datapaths.named_by(Dataset(file=opened)) == [file]


def test_wrapped_datasets(file):
    assert datapaths.named_by(Dataset(indices=[1], dataset=Dataset(files=[file]))) == [file]


def test_texts_and_missing_files_are_no_paths():
    assert datapaths.named_by(Dataset(texts=["and/or", "cat"], name="cat", split="/no/such/file", lines=["a\nb/c"])) == []
    assert datapaths.named_by(None) == datapaths.named_by([1, 2]) == []


def test_no_code_of_the_users_runs(file):
    class Files(list):
        def __getitem__(self, key):
            raise AssertionError("asked")

        __iter__ = __getitem__

    class Sly:
        @property
        def __dict__(self):
            raise ValueError("asked")

    assert datapaths.named_by(Dataset(files=Files([file]))) == []
    assert datapaths.named_by(Sly()) == []
