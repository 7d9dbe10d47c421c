"""`fullbore run` in a terminal: Ctrl-C, Ctrl-Z and fg, the size of the window."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

import launching
import pytest


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


def test_ctrl_c_arrives_once(terminal, fullbore, tmp_path):
    in_terminal(terminal, fullbore, tmp_path, launching.COUNTING)
    terminal.type("\x03")
    launching.wait_for(lambda: launching.counts_in(tmp_path), "the interrupt")
    launching.settle()
    assert launching.counts_in(tmp_path) == {signal.SIGINT: 1}
    (tmp_path / "end").touch()
    terminal.expect("code=9")


def test_a_new_window_size_arrives_once(terminal, fullbore, tmp_path):
    in_terminal(terminal, fullbore, tmp_path, launching.COUNTING)
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
    launching.wait_for(lambda: launching.counts_in(tmp_path), "the signal")
    launching.settle()
    assert launching.counts_in(tmp_path) == {signal.SIGWINCH: 1}
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
    job = watched(launching.WAITING)
    os.kill(job.command, signal.SIGSTOP)
    launching.wait_for(lambda: launching.state_of(job.pid) == "T", "fullbore to stop too")
    os.kill(job.command, signal.SIGCONT)
    launching.wait_for(lambda: launching.state_of(job.pid) != "T", "fullbore to go on too")
    assert job.end() == 0
