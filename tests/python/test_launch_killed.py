"""Fullbore, its collector or both are killed: training completes and nothing is left behind."""

import os
import signal
import subprocess

import launching


def test_training_completes_when_the_collector_is_killed(watched):
    job = watched(launching.WAITING)
    os.kill(job.collector, signal.SIGKILL)
    assert job.end() == 0
    assert (job.folder / "done").exists()
    assert launching.missing(job.run)["collector"] == "the collector was killed; nothing was recorded from then on"
    assert launching.run_json(job.run)["exit_code"] == 0


def test_training_completes_when_fullbore_is_killed(watched):
    before = launching.ring_folders()
    job = watched(launching.WAITING)
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
    job = watched(launching.WAITING)
    assert len(launching.ring_folders() - before) == 1
    assert job.end() == 0
    assert launching.ring_folders() - before == set()


def test_rings_that_a_killed_run_left_are_removed_by_the_next(watched, fullbore, tmp_path):
    before = launching.ring_folders()
    job = watched(launching.WAITING)
    os.kill(job.collector, signal.SIGKILL)
    os.kill(job.pid, signal.SIGKILL)
    job.process.wait(30)
    assert len(launching.ring_folders() - before) == 1
    subprocess.run([fullbore, "run", "--quiet", "--out", str(tmp_path / "next"), "--", "true"], check=True)
    assert launching.ring_folders() - before == set()
