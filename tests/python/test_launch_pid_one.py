"""`fullbore run` as the first process of a container."""

import os
import shutil
import signal
import subprocess
import sys

import launching
import pytest


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
        job = self.start(fullbore, tmp_path, sys.executable, "-c", launching.COUNTING)
        launching.wait_for((tmp_path / "ready").exists, "the command to be ready")
        (first,) = launching.children(job.pid)
        os.kill(first, signal.SIGTERM)
        launching.wait_for(lambda: launching.counts_in(tmp_path) == {signal.SIGTERM: 1}, "the signal")
        (tmp_path / "end").touch()
        assert job.wait(30) == 9
