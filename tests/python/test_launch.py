"""`fullbore run` where something is wrong with the command, the folder or the surroundings."""

import contextlib
import os
import subprocess
import sys
import time

import launching
import pytest


def test_a_command_that_is_not_there(fullbore, tmp_path):
    assert launching.watch(fullbore, tmp_path, "no-such-command", "x") == (127, ["fullbore: no-such-command: command not found"])
    assert not (tmp_path / "run").exists()


def test_a_script_given_without_python_is_told_how(fullbore, tmp_path):
    code, lines = launching.watch(fullbore, tmp_path, "train.py", "--lr", "1")
    assert (code, len(lines)) == (127, 1)
    assert lines[0].endswith("fullbore run -- python train.py")


def test_a_missing_interpreter(fullbore, tmp_path):
    code, lines = launching.watch(fullbore, tmp_path, launching.make_script(tmp_path / "x", "#!/no/such/interpreter\n"))
    assert (code, "interpreter" in lines[-1]) == (127, True)


@pytest.mark.parametrize("kind", ["folder", "no x bit"])
def test_a_command_that_cannot_be_executed(fullbore, tmp_path, kind):
    command = str(tmp_path) if kind == "folder" else launching.make_script(tmp_path / "x", "#!/bin/sh\n", 0o644)
    code, lines = launching.watch(fullbore, tmp_path, command)
    assert (code, len(lines)) == (126, 1)
    assert lines[0].startswith("fullbore: cannot run " + command)
    assert not (tmp_path / "run").exists()


def test_a_script_without_a_first_line_is_run_by_the_shell(fullbore, tmp_path):
    assert launching.watch(fullbore, tmp_path, launching.make_script(tmp_path / "x", "exit 5\n"))[0] == 5


def test_a_pid_is_refused_with_the_way_out(fullbore, tmp_path):
    code, lines = launching.watch(fullbore, tmp_path, str(os.getpid()))
    assert (code, len(lines)) == (125, 1)
    assert "is a process id, not a command" in lines[0] and "fullbore run -- COMMAND" in lines[0]


def test_the_name_of_a_running_job_is_refused_with_the_way_out(fullbore, tmp_path):
    (tmp_path / "my_training.py").write_text("import time; time.sleep(60)")
    job = subprocess.Popen([sys.executable, str(tmp_path / "my_training.py")])
    try:
        launching.wait_for(lambda: b"my_training" in launching.read("/proc/%d/cmdline" % job.pid), "the job")
        code, lines = launching.watch(fullbore, tmp_path, "my_training.py")
    finally:
        job.kill()
        job.wait()
    assert (code, len(lines)) == (125, 1)
    assert "my_training.py is the name of a running job (process %d)" % job.pid in lines[0]


def test_a_run_folder_that_cannot_be_made_stops_us_before_the_command(fullbore, tmp_path):
    (tmp_path / "file").touch()
    whole = [fullbore, "run", "--out", str(tmp_path / "file/run"), "--", "touch", str(tmp_path / "started")]
    done = subprocess.run(whole, capture_output=True, text=True)
    assert (done.returncode, len(done.stderr.splitlines())) == (125, 1)
    assert "cannot make the run folder" in done.stderr and "--out" in done.stderr
    assert not (tmp_path / "started").exists()


def test_no_folder_is_reused(fullbore, tmp_path):
    assert launching.watch(fullbore, tmp_path, "true")[0] == 0
    assert launching.watch(fullbore, tmp_path, "true")[0] == 125


@pytest.fixture
def small_disk(tmp_path):
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(path)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a small disk needs root")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def fill(disk):
    with contextlib.suppress(OSError), open(str(disk / "filler"), "wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass


def test_a_full_disk_stops_us_before_the_command(fullbore, small_disk, tmp_path):
    fill(small_disk)
    whole = [fullbore, "run", "--out", str(small_disk / "run"), "--", "touch", str(tmp_path / "started")]
    done = subprocess.run(whole, capture_output=True, text=True)
    assert (done.returncode, len(done.stderr.splitlines())) == (125, 1)
    assert "No space left on device" in done.stderr
    assert not (tmp_path / "started").exists()


def test_a_disk_that_fills_up_does_not_disturb_the_command(fullbore, small_disk, tmp_path):
    script = "dd if=/dev/zero of=%s/filler bs=4k 2>/dev/null; sleep 0.3; echo fine; exit 6" % small_disk
    whole = [fullbore, "run", "--out", str(small_disk / "run"), "--quiet", "--", "sh", "-c", script]
    done = subprocess.run(whole, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (6, "fine\n")


def test_inside_another_fullbore_the_outer_one_keeps_its_hook(fullbore, tmp_path):
    def layer(name, script):
        return [fullbore, "run", "--quiet", "--out", str(tmp_path / name), "--", "sh", "-c", script, "sh"]

    command = layer("outer", 'echo $FULLBORE_RINGS; "$@"') + layer("inner", "echo $FULLBORE_RINGS; exit 3")
    done = subprocess.run(command, capture_output=True, text=True)
    rings = done.stdout.split()
    assert (done.returncode, done.stderr) == (3, "")
    assert len(rings) == 2 and rings[0] == rings[1]
    assert "another fullbore" in launching.missing(tmp_path / "inner")["hook"]


def test_after_an_observation_another_one_may_begin(fullbore, tmp_path):
    environment = dict(os.environ, FULLBORE_RINGS="/dev/shm/fullbore-rings-gone", FULLBORE_FIX="/gone")
    script = "import os; raise SystemExit(0 if os.path.isdir(os.environ['FULLBORE_RINGS']) else 1)"
    assert launching.watch(fullbore, tmp_path, sys.executable, "-c", script, env=environment)[0] == 0


def test_words_that_are_no_utf8_are_handed_on_and_recorded(fullbore, tmp_path):
    whole = [fullbore, "run", "--quiet", "--out", str(tmp_path / "run"), "--", "printf", "%s", b"\xff\xfe"]
    done = subprocess.run(whole, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\xff\xfe", b"")
    assert len(launching.run_json(tmp_path / "run")["command"]) == 3


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_a_python_that_cannot_load_the_hook_is_named(fullbore, tmp_path, flag):
    assert launching.watch(fullbore, tmp_path, sys.executable, flag, "-c", "pass")[0] == 0
    why = launching.missing(tmp_path / "run")["hook"]
    assert why == "python %s loads no sitecustomize; leave %s out" % (flag, flag)


def test_a_missing_tmpfs_costs_the_hook_and_nothing_else(fullbore, tmp_path):
    """Without a tmpfs there are no rings; a disk is never taken instead."""
    hide = 'for d in /dev/shm /run /tmp; do mount --bind "$0" $d || exit 99; done; exec "$@"'
    if os.path.realpath(fullbore).startswith(("/tmp/", "/run/")):
        pytest.skip("the program itself lies under a folder that this test hides")
    (tmp_path / "empty").mkdir()
    whole = ["unshare", "-m", "sh", "-c", hide, str(tmp_path / "empty")]
    whole += [fullbore, "run", "--quiet", "--out", "/tmp/run", "--", "sh", "-c", "cat /tmp/run/run.json; exit 8"]
    done = subprocess.run(whole, capture_output=True, text=True, cwd="/")
    if done.returncode in (1, 99):
        pytest.skip("hiding the tmpfs needs root: " + done.stderr.strip())
    assert done.returncode == 8
    assert "no tmpfs with room for rings (/dev/shm: not a tmpfs" in done.stdout


@pytest.mark.parametrize("command, advice", [("docker", "IMAGE fullbore run"), ("srun", "srun ... fullbore run")])
def test_a_launcher_that_loses_the_environment_is_named(fullbore, tmp_path, command, advice):
    launching.make_script(tmp_path / command, "#!/bin/sh\nexit 2\n")
    environment = dict(os.environ, PATH="%s:%s" % (tmp_path, os.environ["PATH"]))
    code, lines = launching.watch(fullbore, tmp_path, command, "run", "image", env=environment)
    assert code == 2
    assert advice in lines[0]
