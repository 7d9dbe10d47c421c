"""fullbore.ImageLoader on tar shards as Python's tarfile writes them, which is what WebDataset's writer uses."""

import io
import os
import subprocess
import tarfile

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from fullbore import ImageLoader, RandomResizedCrop  # noqa: E402

CROP = [RandomResizedCrop((24, 32))]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def add(tar, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def write_shards(folder, out, format=tarfile.PAX_FORMAT, key=lambda number: "%04d" % number):
    """The folder's pictures in shards of 16, in the order of ImageFolder."""
    paths = sorted(path for path in folder.glob("*/*.jpg"))
    out.mkdir(exist_ok=True)
    for first in range(0, len(paths), 16):
        with tarfile.open(out / ("s-%03d.tar" % (first // 16)), "w", format=format) as tar:
            for number in range(first, min(first + 16, len(paths))):
                add(tar, key(number) + ".jpg", paths[number].read_bytes())
                add(tar, key(number) + ".cls", b"%d" % (paths[number].parent.name == "dog"))
    return out


def make(data, **options):
    return ImageLoader(data, 8, transform=CROP, **{"threads": 2, "seed": 3, **options})


def contents(loader):
    return [(batch.ids, batch.labels.tolist(), batch.images.clone()) for batch in loader]


def equal(a, b):
    return len(a) == len(b) and all(x[:2] == y[:2] and torch.equal(x[2], y[2]) for x, y in zip(a, b))


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_shards_give_what_the_folder_gives(folder, tmp_path, format):
    expected = contents(make(folder))
    shards = write_shards(folder, tmp_path / "set", format)
    assert equal(contents(make(shards)), expected)
    assert equal(contents(make(str(shards / "s-{000..002}.tar"))), expected)
    assert equal(contents(make(sorted(shards.glob("*.tar")))), expected)


@pytest.mark.parametrize("format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_and_foreign_names_are_read(folder, tmp_path, format):
    names = ["a" * 150 + "/%03d" % number if number % 2 else "\udcff\xe9-%03d" % number for number in range(40)]
    shards = write_shards(folder, tmp_path / "set", format, key=names.__getitem__)
    loader = make(shards, shuffle=False, drop_last=False)
    paths = [path for batch in loader for path in batch.paths]
    if format == tarfile.GNU_FORMAT:  # tarfile's pax writer has a form of its own for bytes that are no UTF-8
        assert paths == [str(shards / ("s-%03d.tar/%s.jpg" % (n // 16, name))) for n, name in enumerate(names)]
    assert len(paths) == 40


def test_what_was_packed_has_its_classes(folder, tmp_path, fullbore):
    subprocess.run([fullbore, "pack", folder, tmp_path / "packed"], check=True)
    expected, loader = make(folder), make(tmp_path / "packed")
    assert loader.class_to_idx == expected.class_to_idx == {"cat": 0, "dog": 1}
    assert equal(contents(loader), contents(expected))


def test_a_pass_is_resumed_in_the_middle(folder, tmp_path):
    shards = write_shards(folder, tmp_path / "set")
    whole = contents(make(shards))
    loader = make(shards)
    passing = iter(loader)
    next(passing), next(passing)
    resumed = make(shards, threads=1)
    resumed.load_state_dict(loader.state_dict())
    assert equal(contents(resumed), whole[2:])


def test_listings_are_kept_where_the_user_keeps_caches(folder, tmp_path, cache):
    shards = write_shards(folder, tmp_path / "set")
    before = sorted(os.listdir(shards))
    contents(make(shards, listing_cache=None))
    assert not cache.exists()
    contents(make(shards))
    assert len(os.listdir(cache / "fullbore" / "shards")) == 3
    contents(make(shards, listing_cache=tmp_path / "elsewhere"))
    assert len(os.listdir(tmp_path / "elsewhere")) == 3
    assert sorted(os.listdir(shards)) == before


def test_a_bad_member_is_told_with_shard_and_byte(folder, tmp_path):
    shards = write_shards(folder, tmp_path / "set")
    with tarfile.open(shards / "s-002.tar") as tar:
        member = tar.getmember("0035.jpg")
    with open(shards / "s-002.tar", "r+b") as shard:
        shard.seek(member.offset_data)
        shard.write(b"no picture")
    place = "%s: at byte %d: " % (shards / "s-002.tar/0035.jpg", member.offset_data)
    with pytest.raises(RuntimeError, match=place):
        contents(make(shards))
    loader = make(shards, on_error="skip")
    assert len(contents(loader)) == 5
    assert [bad[:3] for bad in loader.bad_samples()] == [(35, str(shards / "s-002.tar/0035.jpg"), "decode")]


def test_an_error_may_name_a_member_in_no_encoding(folder, tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.GNU_FORMAT) as tar:
        add(tar, "\udcff.jpg", b"no picture")
    with pytest.raises(RuntimeError, match="a.tar/.*at byte 512"):
        contents(make(tmp_path / "a.tar", drop_last=False))


def test_a_compressed_shard_is_refused_by_name(folder, tmp_path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        add(tar, "0.jpg", b"x" * 2000)
    with pytest.raises(RuntimeError, match="a.tar.gz at byte 0: compressed by gzip"):
        make(tmp_path / "a.tar.gz")
