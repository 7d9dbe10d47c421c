"""fullbore pack as a person meets it: stopped, killed, on a full disk, called again; and that ImageLoader reads it."""

import json
import os
import resource
import signal
import subprocess
import time

import pytest


@pytest.fixture
def data(tmp_path):
    """Two classes of 1,000 files each that begin as JPEGs do; enough for a pack to be stopped in the middle."""
    root = tmp_path / "data"
    for number in range(2000):
        folder = root / ("cat" if number < 1000 else "dog")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ("%04d.jpg" % number)).write_bytes(b"\xff\xd8\xff" + b"%d " % number * 700)
    return root


@pytest.fixture
def pack(fullbore, data, tmp_path):
    """Starts fullbore pack; all shards are of few samples, so that there are many."""
    started = []

    def start(out, *options, **popen):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        command = [fullbore, "pack", str(data), str(out), "--shard-size", "100kB", *options]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        started.append(subprocess.Popen(command, env=environment, text=True, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def content(folder):
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_pack_that_was_ended_goes_on_and_is_the_same(pack, tmp_path, number):
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert pack(whole).wait() == 0
    process = pack(out)
    wait_for(lambda: len(list(out.glob("*.tar"))) >= 3 if out.exists() else False)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert not json.loads((out / "index.json").read_text())["complete"]
    if number != signal.SIGKILL:
        assert "stopped; " in err and not list(out.glob(".*"))
    again = pack(out)
    said, _ = again.communicate(timeout=60)
    assert again.returncode == 0 and said.startswith("went on at sample ")
    assert content(out) == content(whole)


def test_a_full_disk_ends_it_with_its_name(pack, tmp_path):
    def limit_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    process = pack(tmp_path / "out", preexec_fn=limit_files, restore_signals=False)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "cannot write %s/.shard-000000.tar.partial: File too large" % (tmp_path / "out") in err
    assert "the same command goes on" in err
    assert os.listdir(tmp_path / "out") == ["index.json"]


def test_a_folder_inside_the_data_is_refused(pack, data):
    process = pack(data / "shards")
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1 and "which is to be packed" in err
    assert not (data / "shards").exists()


def test_without_a_terminal_nothing_is_drawn(pack, tmp_path):
    out, err = pack(tmp_path / "out").communicate(timeout=60)
    assert out.count("\n") == 1 and err == ""
