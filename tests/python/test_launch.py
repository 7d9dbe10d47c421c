"""`fullbore run` from outside: signals, job control, windows of observation, and everything that can go wrong."""

import contextlib
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import time

import launching
import pytest

# Counts signals into a file until told to end; the file "ready" says that the handlers are there.
COUNTING = textwrap.dedent(
    """
    import os, signal, sys, time
    counts = {}
    def count(number, frame):
        counts[number] = counts.get(number, 0) + 1
        with open("counts.new", "w") as file:
            file.write(repr(counts))
        os.rename("counts.new", "counts")
    for name in ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "ALRM", "WINCH", "CONT"):
        signal.signal(getattr(signal, "SIG" + name), count)
    open("ready", "w").close()
    while not os.path.exists("end"):
        time.sleep(0.01)
    sys.exit(9)
    """
)
WAITING = textwrap.dedent(
    """
    import os, time
    open("ready", "w").close()
    while not os.path.exists("end"):
        time.sleep(0.01)
    open("done", "w").close()
    """
)
RELAYED = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM]


class Watched:
    """A command under fullbore in a process group of its own."""

    def __init__(self, fullbore, folder, script, options=("--quiet",), **popen):
        self.folder, self.run = folder, folder / "run"
        command = [fullbore, "run", "--out", str(self.run), *options, "--", sys.executable, "-c", script]
        popen.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen(command, cwd=str(folder), start_new_session=True, **popen)
        self.pid = self.process.pid
        launching.wait_for((folder / "ready").exists, "the command to be ready")
        self.collector = launching.collector_of(self.pid)
        self.command = next(child for child in launching.children(self.pid) if child != self.collector)

    def counts(self):
        return eval((self.folder / "counts").read_text())

    def end(self):
        (self.folder / "end").touch()
        self.err = self.process.communicate(timeout=60)[1]
        return self.process.returncode


@pytest.fixture
def watched(fullbore, tmp_path):
    started = []

    def start(script=COUNTING, *options, **popen):
        started.append(Watched(fullbore, tmp_path, script, options or ("--quiet",), **popen))
        return started[-1]

    yield start
    for one in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)


def settle():
    """Time for a wrong second delivery to arrive: nothing can be waited for that must not come."""
    time.sleep(0.15)


@pytest.mark.parametrize("number", RELAYED)
def test_a_signal_to_the_group_arrives_once(watched, number):
    job = watched()
    os.killpg(job.pid, number)
    launching.wait_for(lambda: job.counts().get(number), "the signal")
    settle()
    assert job.counts() == {number: 1}
    assert job.end() == 9


@pytest.mark.parametrize("number", RELAYED + [signal.SIGWINCH, signal.SIGCONT])
def test_a_signal_to_fullbore_alone_is_passed_on_once(watched, number):
    job = watched()
    os.kill(job.pid, number)
    launching.wait_for(lambda: job.counts().get(number), "the signal")
    settle()
    assert job.counts() == {number: 1}
    assert job.end() == 9


def test_group_and_directed_signals_in_turn_are_told_apart(watched):
    job = watched()
    for sent in range(1, 7):
        (os.killpg if sent % 2 else os.kill)(job.pid, signal.SIGUSR1)
        launching.wait_for(lambda: job.counts().get(signal.SIGUSR1) == sent, "signal %d" % sent)
        settle()
        assert job.counts() == {signal.SIGUSR1: sent}
    assert job.end() == 9


def test_a_signal_from_the_commands_own_supervisor_is_not_doubled(watched):
    """systemd and the like signal each process of a job, one after another."""
    job = watched()
    for pid in (job.pid, job.command, job.collector):
        os.kill(pid, signal.SIGTERM)
    launching.wait_for(lambda: job.counts().get(signal.SIGTERM), "the signal")
    settle()
    assert job.counts() == {signal.SIGTERM: 1}
    assert job.end() == 9


def test_a_directed_signal_is_passed_on_without_a_collector(watched):
    job = watched()
    os.kill(job.collector, signal.SIGKILL)
    launching.wait_for(lambda: job.collector not in launching.children(job.pid), "the collector to be gone")
    os.kill(job.pid, signal.SIGTERM)
    launching.wait_for(lambda: job.counts().get(signal.SIGTERM) == 1, "the signal")
    assert job.end() == 9


def test_a_signal_that_the_command_sends_its_parent_does_not_come_back(fullbore, tmp_path):
    script = "import os, signal, time; os.kill(os.getppid(), signal.SIGUSR1); time.sleep(0.15)"
    assert run(fullbore, tmp_path, sys.executable, "-c", script)[0] == 0


def test_training_completes_when_the_collector_is_killed(watched):
    job = watched(WAITING)
    os.kill(job.collector, signal.SIGKILL)
    assert job.end() == 0
    assert (job.folder / "done").exists()
    assert launching.missing(job.run)["collector"] == "the collector was killed; nothing was recorded from then on"
    assert launching.run_json(job.run)["exit_code"] == 0


def test_training_completes_when_fullbore_is_killed(watched):
    before = launching.ring_folders()
    job = watched(WAITING)
    assert len(launching.ring_folders() - before) == 1
    os.kill(job.pid, signal.SIGKILL)
    job.process.wait(30)
    launching.wait_for(lambda: "end" in launching.missing(job.run), "the collector to finish the folder")
    assert launching.run_json(job.run)["end_ns"] is None
    launching.wait_for(lambda: not launching.ring_folders() - before, "the rings to be removed")
    (job.folder / "end").touch()
    launching.wait_for((job.folder / "done").exists, "the training to complete")


def test_the_rings_are_removed_at_the_end(watched):
    before = launching.ring_folders()
    job = watched(WAITING)
    assert len(launching.ring_folders() - before) == 1
    assert job.end() == 0
    assert launching.ring_folders() - before == set()


def test_rings_that_a_killed_run_left_are_removed_by_the_next(watched, fullbore, tmp_path):
    before = launching.ring_folders()
    job = watched(WAITING)
    os.kill(job.collector, signal.SIGKILL)
    os.kill(job.pid, signal.SIGKILL)
    job.process.wait(30)
    assert len(launching.ring_folders() - before) == 1
    subprocess.run([fullbore, "run", "--quiet", "--out", str(tmp_path / "next"), "--", "true"], check=True)
    assert launching.ring_folders() - before == set()


def test_the_second_interrupt_skips_the_report(watched):
    job = watched(COUNTING, "--no-hook")
    for sent in (1, 2):
        os.killpg(job.pid, signal.SIGINT)
        launching.wait_for(lambda: job.counts().get(signal.SIGINT) == sent, "the interrupt")
        settle()
    assert job.end() == 9
    lines = job.err.decode().splitlines()
    assert lines[1:] == ["fullbore: report skipped; make it with: fullbore report %s" % job.run]


def test_one_interrupt_stops_training_and_the_report_still_comes(watched):
    job = watched("import time; open('ready', 'w').close(); time.sleep(60)", "--no-hook")
    os.killpg(job.pid, signal.SIGINT)
    assert job.end() == -signal.SIGINT
    lines = job.err.decode().splitlines()
    assert "KeyboardInterrupt" in lines
    assert lines.index("KeyboardInterrupt") < len(lines) - 1
    assert "report skipped" not in job.err.decode()
    assert launching.run_json(job.run)["signal"] == signal.SIGINT


class Terminal:
    """An interactive bash in a terminal, as a person uses it."""

    def __init__(self, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(str(folder))
            os.environ.update(PS1="", HISTFILE="")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.text = ""

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, text):
        def seen():
            if select.select([self.fd], [], [], 0.05)[0]:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            return text in self.text

        launching.wait_for(seen, "%r on the terminal" % text)
        self.text = self.text.partition(text)[2]

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


@pytest.fixture
def terminal(tmp_path):
    one = Terminal(tmp_path)
    yield one
    (tmp_path / "end").touch()  # for the command of a test that failed half way
    one.close()


def in_terminal(terminal, fullbore, tmp_path, script):
    (tmp_path / "script.py").write_text(script)
    terminal.type("%s run --quiet --out run -- %s script.py; echo code=$?\n" % (fullbore, sys.executable))
    launching.wait_for((tmp_path / "ready").exists, "the command to be ready")


def counts_in(tmp_path):
    return eval((tmp_path / "counts").read_text())


def test_ctrl_c_arrives_once(terminal, fullbore, tmp_path):
    in_terminal(terminal, fullbore, tmp_path, COUNTING)
    terminal.type("\x03")
    launching.wait_for(lambda: counts_in(tmp_path), "the interrupt")
    settle()
    assert counts_in(tmp_path) == {signal.SIGINT: 1}
    (tmp_path / "end").touch()
    terminal.expect("code=9")


def test_a_new_window_size_arrives_once(terminal, fullbore, tmp_path):
    in_terminal(terminal, fullbore, tmp_path, COUNTING)
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
    launching.wait_for(lambda: counts_in(tmp_path), "the signal")
    settle()
    assert counts_in(tmp_path) == {signal.SIGWINCH: 1}
    (tmp_path / "end").touch()
    terminal.expect("code=9")


def test_a_job_stops_and_comes_back_to_the_foreground(terminal, fullbore, tmp_path):
    script = "import os; open('ready', 'w').write(str(os.getpid())); print('got', input()); raise SystemExit(4)"
    in_terminal(terminal, fullbore, tmp_path, script)
    command = launching.wait_for(lambda: int((tmp_path / "ready").read_text() or 0), "its pid")
    terminal.type("\x1a")
    terminal.expect("Stopped")
    assert launching.state_of(command) == "T"
    terminal.type("fg\n")
    launching.wait_for(lambda: launching.state_of(command) == "S", "the command to go on")
    terminal.type("a line\n")
    terminal.expect("got a line")
    terminal.type("echo code=$?\n")
    terminal.expect("code=4")


def test_a_command_continued_by_somebody_else_takes_fullbore_along(watched):
    job = watched(WAITING)
    os.kill(job.command, signal.SIGSTOP)
    launching.wait_for(lambda: launching.state_of(job.pid) == "T", "fullbore to stop too")
    os.kill(job.command, signal.SIGCONT)
    launching.wait_for(lambda: launching.state_of(job.pid) != "T", "fullbore to go on too")
    assert job.end() == 0


def run(fullbore, tmp_path, *command, options=(), **popen):
    """Exit code and lines on stderr."""
    whole = [fullbore, "run", "--out", str(tmp_path / "run"), *options, "--", *command]
    done = subprocess.run(whole, capture_output=True, text=True, timeout=60, cwd=str(tmp_path), **popen)
    return done.returncode, done.stderr.splitlines()


def make_script(path, text, mode=0o755):
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_a_command_that_is_not_there(fullbore, tmp_path):
    assert run(fullbore, tmp_path, "no-such-command", "x") == (127, ["fullbore: no-such-command: command not found"])
    assert not (tmp_path / "run").exists()


def test_a_script_given_without_python_is_told_how(fullbore, tmp_path):
    code, lines = run(fullbore, tmp_path, "train.py", "--lr", "1")
    assert (code, len(lines)) == (127, 1)
    assert lines[0].endswith("fullbore run -- python train.py")


def test_a_missing_interpreter(fullbore, tmp_path):
    code, lines = run(fullbore, tmp_path, make_script(tmp_path / "x", "#!/no/such/interpreter\n"))
    assert (code, "interpreter" in lines[-1]) == (127, True)


@pytest.mark.parametrize("kind", ["folder", "no x bit"])
def test_a_command_that_cannot_be_executed(fullbore, tmp_path, kind):
    command = str(tmp_path) if kind == "folder" else make_script(tmp_path / "x", "#!/bin/sh\n", 0o644)
    code, lines = run(fullbore, tmp_path, command)
    assert (code, len(lines)) == (126, 1)
    assert lines[0].startswith("fullbore: cannot run " + command)
    assert not (tmp_path / "run").exists()


def test_a_script_without_a_first_line_is_run_by_the_shell(fullbore, tmp_path):
    assert run(fullbore, tmp_path, make_script(tmp_path / "x", "exit 5\n"))[0] == 5


def test_a_pid_is_refused_with_the_way_out(fullbore, tmp_path):
    code, lines = run(fullbore, tmp_path, str(os.getpid()))
    assert (code, len(lines)) == (125, 1)
    assert "is a process id, not a command" in lines[0] and "fullbore run -- COMMAND" in lines[0]


def test_the_name_of_a_running_job_is_refused_with_the_way_out(fullbore, tmp_path):
    (tmp_path / "my_training.py").write_text("import time; time.sleep(60)")
    job = subprocess.Popen([sys.executable, str(tmp_path / "my_training.py")])
    try:
        launching.wait_for(lambda: b"my_training" in launching.read("/proc/%d/cmdline" % job.pid), "the job")
        code, lines = run(fullbore, tmp_path, "my_training.py")
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
    assert run(fullbore, tmp_path, "true")[0] == 0
    assert run(fullbore, tmp_path, "true")[0] == 125


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
    assert run(fullbore, tmp_path, sys.executable, "-c", script, env=environment)[0] == 0


def test_words_that_are_no_utf8_are_handed_on_and_recorded(fullbore, tmp_path):
    whole = [fullbore, "run", "--quiet", "--out", str(tmp_path / "run"), "--", "printf", "%s", b"\xff\xfe"]
    done = subprocess.run(whole, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\xff\xfe", b"")
    assert len(launching.run_json(tmp_path / "run")["command"]) == 3


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_a_python_that_cannot_load_the_hook_is_named(fullbore, tmp_path, flag):
    assert run(fullbore, tmp_path, sys.executable, flag, "-c", "pass")[0] == 0
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
    make_script(tmp_path / command, "#!/bin/sh\nexit 2\n")
    environment = dict(os.environ, PATH="%s:%s" % (tmp_path, os.environ["PATH"]))
    code, lines = run(fullbore, tmp_path, command, "run", "image", env=environment)
    assert code == 2
    assert advice in lines[0]


def test_for_ends_the_observation_and_not_the_training(watched):
    job = watched(COUNTING, "--no-hook", "--for", "0.3s")
    launching.wait_for(lambda: launching.run_json(job.run)["stopped_by"] == "--for", "the end of the observation")
    launching.wait_for(lambda: job.collector not in launching.children(job.pid), "the collector to be gone")
    assert launching.state_of(job.command) != "Z"
    os.kill(job.pid, signal.SIGUSR1)
    launching.wait_for(lambda: job.counts() == {signal.SIGUSR1: 1}, "a signal after the observation")
    assert job.end() == 9
    assert launching.run_json(job.run)["exit_code"] == 9


def test_stop_interrupts_the_training_once(watched):
    job = watched(COUNTING, "--no-hook", "--for", "0.3s", "--stop")
    launching.wait_for(lambda: job.counts() == {signal.SIGINT: 1}, "the interrupt")
    settle()
    assert job.counts() == {signal.SIGINT: 1}
    assert job.end() == 9


STEPPING = textwrap.dedent(
    """
    import ctypes, os, struct, time
    library = ctypes.PyDLL(os.environ["FULLBORE_RECORD_LIB"])
    library.fullbore_record_open.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int32]
    library.fullbore_record_write.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32]
    library.fullbore_record_open(os.environ["FULLBORE_RINGS"].encode(), 65536, 0)
    step = struct.pack("<HHIqqII", 9, 32, 0, 1, 2, 1, 0)
    open("ready", "w").close()
    told = 1
    while not os.path.exists("end"):
        told = library.fullbore_record_write(step, len(step), 1)
        open("told", "w").write(str(told))
        time.sleep(0.02)
    """
)


def test_steps_end_the_observation_and_turn_the_hook_off(watched):
    job = watched(STEPPING, "--quiet", "--steps", "20")
    launching.wait_for(lambda: launching.run_json(job.run)["stopped_by"] == "--steps", "the end of the observation")
    launching.wait_for(lambda: (job.folder / "told").read_text() == "2", "the hook to be told")
    assert job.end() == 0
    assert "hook" not in launching.missing(job.run)


def can_be_pid_one():
    """Needs root, and a root folder that is a mount of its own: in a chroot it is not."""
    command = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    return bool(shutil.which("unshare")) and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.skipif(not can_be_pid_one(), reason="no pid namespace can be made here (it needs root, outside a chroot)")
class TestAsPidOne:
    def start(self, fullbore, tmp_path, *command, **popen):
        whole = ["unshare", "--pid", "--fork", "--mount-proc"]
        whole += [fullbore, "run", "--quiet", "--out", str(tmp_path / "run"), "--", *command]
        return subprocess.Popen(whole, cwd=str(tmp_path), start_new_session=True, **popen)

    def test_the_exit_code_passes_through(self, fullbore, tmp_path):
        assert self.start(fullbore, tmp_path, "sh", "-c", "exit 3").wait(30) == 3

    def test_a_death_by_signal_is_128_and_its_number(self, fullbore, tmp_path):
        assert self.start(fullbore, tmp_path, "sh", "-c", "kill -TERM $$").wait(30) == 128 + signal.SIGTERM

    def test_orphans_are_reaped(self, fullbore, tmp_path):
        script = "(sleep 0.05 & exec true); sleep 0.4; cat /proc/[0-9]*/stat | grep -c ' Z '; exit 0"
        done = self.start(fullbore, tmp_path, "sh", "-c", script, stdout=subprocess.PIPE)
        assert done.communicate(timeout=30)[0] == b"0\n"

    def test_signals_are_passed_on(self, fullbore, tmp_path):
        job = self.start(fullbore, tmp_path, sys.executable, "-c", COUNTING)
        launching.wait_for((tmp_path / "ready").exists, "the command to be ready")
        (first,) = launching.children(job.pid)
        os.kill(first, signal.SIGTERM)
        launching.wait_for(lambda: counts_in(tmp_path) == {signal.SIGTERM: 1}, "the signal")
        (tmp_path / "end").touch()
        assert job.wait(30) == 9
