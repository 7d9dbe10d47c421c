"""fullbore bench: that its numbers are those of the data, as text, as JSON, and when it is stopped."""

import json
import os
import signal
import subprocess
import time

import pytest


@pytest.fixture
def bench(fullbore, tmp_path):
    def bench(*arguments):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        done = subprocess.run([fullbore, "bench", *map(str, arguments)], env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return bench


def test_json_adds_up(bench, folder):
    code, out, err = bench(folder, "--seconds", "1", "--threads", "2", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["schema"] == "fullbore.bench/1" and result["samples"] == 40
    reading = result["reading"]
    assert reading["decoded_by"] == {"JPEG, window": 40}
    assert reading["bytes"] == sum(path.stat().st_size for path in folder.glob("*/*.jpg"))
    assert reading["cached_share"] == pytest.approx(1) or reading["cached_share"] is None
    assert [row["threads"] for row in result["threads"]] == [1, 2]
    for row in result["threads"]:
        assert row["pictures_per_s"] == pytest.approx(row["pictures"] / row["seconds"])
        assert row["cores_used"] < 3  # two threads and the one that takes batches
    best = max(row["pictures_per_s"] for row in result["threads"])
    assert result["limit"]["pictures_per_s"] == pytest.approx(min(best, reading["pictures_per_s"]))


def test_text_names_the_limit_and_bad_pictures(bench, folder, tmp_path):
    (tmp_path / "data" / "a").mkdir(parents=True)
    for path in folder.glob("cat/*.jpg"):
        os.link(path, tmp_path / "data" / "a" / path.name)
    (tmp_path / "data" / "a" / "bad.jpg").write_bytes(b"")
    code, out, _ = bench(tmp_path / "data", "--seconds", "1")
    assert code == 0
    assert out.startswith("21 pictures, ") and "\nlimit: " in out
    assert "bad pictures: 1; one is %s: the file is empty" % (tmp_path / "data/a/bad.jpg") in out


def test_data_that_is_not_there_is_an_error(bench, tmp_path):
    code, out, err = bench(tmp_path / "nowhere")
    assert (code, out) == (1, "") and "cannot list %s" % (tmp_path / "nowhere") in err


def test_ctrl_c_ends_it(fullbore, folder):
    process = subprocess.Popen([fullbore, "bench", folder, "--seconds", "600"], stdout=subprocess.PIPE)
    end = time.monotonic() + 30
    while len(os.listdir("/proc/%d/task" % process.pid)) < 2:  # it measures
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
