"""Signals to `fullbore run` and its command: each arrives once, whoever sends it."""

import os
import signal
import sys
import time

import launching
import pytest


RELAYED = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM]


@pytest.mark.parametrize("number", RELAYED)
def test_a_signal_to_the_group_arrives_once(watched, number):
    job = watched()
    os.killpg(job.pid, number)
    launching.wait_for(lambda: job.counts().get(number), "the signal")
    launching.settle()
    assert job.counts() == {number: 1}
    assert job.end() == 9


@pytest.mark.parametrize("number", RELAYED + [signal.SIGWINCH, signal.SIGCONT])
def test_a_signal_to_fullbore_alone_is_passed_on_once(watched, number):
    job = watched()
    os.kill(job.pid, number)
    launching.wait_for(lambda: job.counts().get(number), "the signal")
    launching.settle()
    assert job.counts() == {number: 1}
    assert job.end() == 9


def test_group_and_directed_signals_in_turn_are_told_apart(watched):
    job = watched()
    for sent in range(1, 7):
        (os.killpg if sent % 2 else os.kill)(job.pid, signal.SIGUSR1)
        launching.wait_for(lambda: job.counts().get(signal.SIGUSR1) == sent, "signal %d" % sent)
        launching.settle()
        assert job.counts() == {signal.SIGUSR1: sent}
    assert job.end() == 9


def test_a_signal_from_the_commands_own_supervisor_is_not_doubled(watched):
    """systemd and the like signal each process of a job, one after another."""
    job = watched()
    for pid in (job.pid, job.command, job.collector):
        os.kill(pid, signal.SIGTERM)
    launching.wait_for(lambda: job.counts().get(signal.SIGTERM), "the signal")
    launching.settle()
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
    assert launching.watch(fullbore, tmp_path, sys.executable, "-c", script)[0] == 0


def test_the_second_interrupt_skips_the_report(watched):
    job = watched(launching.COUNTING, "--no-hook")
    for sent in (1, 2):
        os.killpg(job.pid, signal.SIGINT)
        launching.wait_for(lambda: job.counts().get(signal.SIGINT) == sent, "the interrupt")
        launching.settle()
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
