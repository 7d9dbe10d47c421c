"""`fullbore collect`, the collector beside a notebook: until its process ends or its stdin closes, without a word."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap

import launching
import pytest

STEPPING = textwrap.dedent(
    """
    import ctypes, struct, sys, time
    library = ctypes.PyDLL(sys.argv[1])
    library.fullbore_record_open.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int32]
    library.fullbore_record_write.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32]
    library.fullbore_record_open(sys.argv[2].encode(), 65536, 0)
    step = struct.pack("<HHIqqII", 9, 32, 0, 1, 2, 1, 0)
    while True:
        library.fullbore_record_write(step, len(step), 1)
        time.sleep(0.01)
    """
)


@pytest.fixture
def notebook(package):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as rings:
        library = os.path.join(package, "lib", "libfullbore_record.so")
        process = subprocess.Popen([sys.executable, "-c", STEPPING, library, rings])
        process.rings = rings
        launching.wait_for(lambda: os.listdir(rings), "the ring")
        yield process
        process.kill()
        process.wait()


def start(fullbore, notebook, out):
    command = [fullbore, "collect", "--rings", notebook.rings, "--out", str(out), "--pid", str(notebook.pid)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    collector = subprocess.Popen(command, **pipes)
    launching.wait_for(lambda: (out / "rank-0/records.fbr").stat().st_size > 100, "records")
    return collector


def test_closing_stdin_ends_it_and_turns_the_hook_off(fullbore, notebook, tmp_path):
    collector = start(fullbore, notebook, tmp_path / "run")
    assert collector.communicate(timeout=30) == (b"", b"")
    assert collector.returncode == 0
    assert launching.run_json(tmp_path / "run")["stopped_by"] == "watching ended"
    assert os.listdir(notebook.rings) == []


def test_the_end_of_the_process_ends_it(fullbore, notebook, tmp_path):
    collector = start(fullbore, notebook, tmp_path / "run")
    notebook.kill()
    notebook.wait()
    assert collector.wait(30) == 0
    assert launching.run_json(tmp_path / "run")["stopped_by"] == "command ended"
    assert launching.run_json(tmp_path / "run")["collector_cpu_s"] > 0


def test_an_interrupt_of_the_notebook_does_not_end_it(fullbore, notebook, tmp_path):
    collector = start(fullbore, notebook, tmp_path / "run")
    collector.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        collector.wait(0.2)
    collector.communicate(timeout=30)
    assert collector.returncode == 0


def test_a_process_that_is_not_there_is_named(fullbore, tmp_path):
    command = [fullbore, "collect", "--rings", "/dev/shm", "--out", str(tmp_path / "run"), "--pid", "4194304"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (125, "fullbore: no process 4194304 to collect from\n")
