"""Columns of a list of files: labels of more than one, and fields that come with a batch."""

import json

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
pytest.importorskip("PIL.Image")

import fullbore  # noqa: E402

EVAL = [fullbore.Resize((16, 16))]
ROWS = [
    {"path": "cat/%02d.jpg" % i, "kind": kind, "age": i, "weight": i / 4 or None, "say": "%d, x" % i}
    for i, kind in enumerate(["dög", "cat", "cat"] * 4)
]


@pytest.fixture(scope="module", params=["csv", "jsonl"])
def listed(request, folder):
    path = folder / ("list." + request.param)
    if request.param == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        rows = [list(ROWS[0])] + [["" if v is None else v for v in row.values()] for row in ROWS]
        path.write_text("".join(",".join('"%s"' % v for v in row) + "\n" for row in rows))
    yield path
    path.unlink()


def make(path, **options):
    return fullbore.ImageLoader(path, 5, transform=EVAL, threads=1, drop_last=False, **options)


def test_fields_are_those_of_the_samples_of_the_batch(listed):
    loader = make(listed, label="kind", fields=["say", "age", "weight"])
    assert loader.classes == ["cat", "dög"]
    seen = []
    for batch in loader:
        fields = batch.fields
        assert list(fields) == ["say", "age", "weight"]
        assert fields["age"].dtype == torch.int64 and fields["weight"].dtype == torch.float64
        rows = [ROWS[i] for i in batch.ids]
        assert fields["say"] == [row["say"] for row in rows]
        assert fields["age"].tolist() == [row["age"] for row in rows]
        weights = [np.nan if row["weight"] is None else row["weight"] for row in rows]
        np.testing.assert_array_equal(fields["weight"].numpy(), weights)
        assert [loader.classes[label] for label in batch.labels] == [row["kind"] for row in rows]
        seen += batch.ids
    assert sorted(seen) == list(range(12))


def test_all_fields_are_all_but_labels_and_path(listed):
    batch = next(iter(make(listed, label="age", fields="all", output="numpy")))
    assert sorted(batch.fields) == ["kind", "say", "weight"]
    assert isinstance(batch.fields["weight"], np.ndarray)
    assert next(iter(make(listed))).fields == {}


def test_several_labels_are_columns(listed):
    loader = make(listed, label=("kind", "age"))
    for images, labels in (batches := loader):
        assert labels.shape == (len(images), 2) and labels.dtype == torch.int64
    assert batches.classes == {"kind": ["cat", "dög"], "age": []}
    assert loader.class_to_idx["kind"] == {"cat": 0, "dög": 1}
    batch = next(iter(loader))
    assert batch.labels.tolist() == [[int(ROWS[i]["kind"] != "cat"), i] for i in batch.ids]


def test_columns_that_are_not_there_are_named(listed, folder):
    with pytest.raises(RuntimeError, match='no column "size" for a field in .*list'):
        make(listed, fields=["size"])
    with pytest.raises(RuntimeError, match='no column "size" for a label in .*list'):
        make(listed, label="size")
    with pytest.raises(RuntimeError, match="are columns of a list of files; .* is none"):
        make(folder, fields="all")


def test_fields_outlive_the_loader_with_their_batch(listed):
    with make(listed, fields=["age"], shuffle=False) as loader:
        batch = next(iter(loader))
    assert batch.fields["age"].tolist() == [0, 1, 2, 3, 4]
    assert batch.paths[0].endswith("00.jpg")
