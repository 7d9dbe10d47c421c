"""--for, --steps and --stop end the observation; what ends the training is said."""

import os
import signal
import struct
import textwrap
import time

import launching


def test_for_ends_the_observation_and_not_the_training(watched):
    job = watched(launching.COUNTING, "--no-hook", "--for", "0.3s")
    launching.wait_for(lambda: launching.run_json(job.run)["stopped_by"] == "--for", "the end of the observation")
    launching.wait_for(lambda: job.collector not in launching.children(job.pid), "the collector to be gone")
    assert launching.state_of(job.command) != "Z"
    os.kill(job.pid, signal.SIGUSR1)
    launching.wait_for(lambda: job.counts() == {signal.SIGUSR1: 1}, "a signal after the observation")
    assert job.end() == 9
    assert launching.run_json(job.run)["exit_code"] == 9


def test_stop_interrupts_the_training_once(watched):
    job = watched(launching.COUNTING, "--no-hook", "--for", "0.3s", "--stop")
    launching.wait_for(lambda: job.counts() == {signal.SIGINT: 1}, "the interrupt")
    launching.settle()
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
