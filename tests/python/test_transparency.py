"""The job must never notice: a command under `fullbore run` finds and leaves everything as without it."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import launching
import pytest

# Looks at everything a command could see of its surroundings, speaks on both streams, then ends as told.
COMMAND = textwrap.dedent(
    """
    import json, os, resource, signal, stat, sys
    seen, ending = sys.argv[1:]
    def stream(fd):
        try:
            kind = stat.S_IFMT(os.fstat(fd).st_mode)
        except OSError:
            return "closed"
        return [kind, os.isatty(fd)]
    def signals():
        lines = open("/proc/self/status").read().splitlines()
        return [line for line in lines if line.startswith(("SigBlk", "SigIgn", "SigPnd", "ShdPnd"))]
    descriptors = sorted(set(os.listdir("/proc/self/fd")))
    facts = {
        "streams": [stream(fd) for fd in (0, 1, 2)], "signals": signals(), "descriptors": descriptors,
        "group": os.getpgrp(), "session": os.getsid(0), "umask": os.umask(0), "folder": os.getcwd(),
        "limits": [resource.getrlimit(number) for number in range(16)],
        "nice": os.nice(0), "argv": sys.argv, "affinity": sorted(os.sched_getaffinity(0)),
        "environment": {k: v for k, v in os.environ.items() if k[:9] != "FULLBORE_" and k not in ("PYTHONPATH", "CUDA_INJECTION64_PATH")},
        "path": [entry for entry in sys.path if not entry.endswith("/hook")],
    }
    with open(seen, "w") as file:
        json.dump(facts, file)
    if facts["streams"][1] != "closed":
        text = sys.stdin.read() if facts["streams"][0] != "closed" else ""
        print("got", repr(text), flush=True)
        os.write(2, b"a line for stderr\\n")
    if ending.startswith("SIG"):
        number = getattr(signal, ending)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(int(ending))
    """
)
ENDINGS = ["0", "1", "2", "77", "255", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL", "SIGSEGV", "SIGABRT"]
STARTS = ["script", "-c", "-m", "bash"]


def command_line(start, folder, seen, ending):
    folder.joinpath("looking.py").write_text(COMMAND)
    if start == "-c":
        return [sys.executable, "-c", COMMAND, seen, ending]
    if start == "-m":
        return [sys.executable, "-m", "looking", seen, ending]
    if start == "bash":
        return ["bash", "-c", '"$@"; exit_code=$?; exit $exit_code', "bash", sys.executable, "looking.py", seen, ending]
    return [sys.executable, "looking.py", seen, ending]


def both_ways(fullbore, tmp_path, command, streams, options=("--quiet",), **popen):
    """The same command without and with Fullbore: how each ended, and what each saw."""
    seen, ended = [], []
    for prefix in ([], [fullbore, "run", "--out", str(tmp_path / "run"), *options, "--"]):
        ended.append(launching.run(prefix + command, streams, tmp_path, cwd=str(tmp_path), **popen))
        path = tmp_path / "seen.json"
        seen.append(json.loads(path.read_text()))
        path.unlink()
    return ended, seen


@pytest.mark.parametrize("streams", launching.STREAMS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_command_ends_and_speaks_as_without_us(fullbore, tmp_path, ending, streams):
    start = STARTS[(ENDINGS.index(ending) + launching.STREAMS.index(streams)) % len(STARTS)]
    command = command_line(start, tmp_path, str(tmp_path / "seen.json"), ending)
    (plain, watched), (plain_seen, watched_seen) = both_ways(fullbore, tmp_path, command, streams)
    assert watched == plain
    assert watched_seen == plain_seen


@pytest.mark.parametrize("start", STARTS)
def test_our_words_stand_before_and_after_the_commands(fullbore, tmp_path, start):
    command = command_line(start, tmp_path, str(tmp_path / "seen.json"), "3")
    (plain, watched), _ = both_ways(fullbore, tmp_path, command, "pipe", options=())
    assert (watched.code, watched.out) == (3, plain.out)
    first, _, rest = watched.err.partition(b"\n")
    assert first == b"fullbore: watching, run folder " + str(tmp_path / "run").encode()
    assert rest.startswith(plain.err)


def ignore_hangup():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def block_alarm():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGCHLD})


def lower_limits():
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o027)


def keep_a_descriptor():
    os.dup2(os.open("/dev/null", os.O_RDONLY), 9, inheritable=True)


@pytest.mark.parametrize("inherited", [ignore_hangup, block_alarm, lower_limits, keep_a_descriptor])
def test_what_was_inherited_is_handed_on(fullbore, tmp_path, inherited):
    command = command_line("script", tmp_path, str(tmp_path / "seen.json"), "0")
    (plain, watched), (plain_seen, watched_seen) = both_ways(
        fullbore, tmp_path, command, "pipe", preexec_fn=inherited
    )
    assert watched == plain
    assert watched_seen == plain_seen


def test_the_users_path_comes_after_the_hook(fullbore, tmp_path):
    script = "import os; print(os.environ['PYTHONPATH'])"
    environment = dict(os.environ, PYTHONPATH="/mine:/yours")
    done = subprocess.run(
        [fullbore, "run", "--quiet", "--out", str(tmp_path / "run"), "--", sys.executable, "-c", script],
        capture_output=True, text=True, env=environment,
    )
    assert done.stdout.strip().endswith("/hook:/mine:/yours")


def test_only_documented_variables_are_recorded(fullbore, tmp_path):
    environment = dict(os.environ, PYTHONPATH="/secret", API_KEY="secret", OMP_NUM_THREADS="3")
    subprocess.run([fullbore, "run", "--quiet", "--out", str(tmp_path / "run"), "--", "true"], env=environment)
    recorded = launching.run_json(tmp_path / "run")["environment"]
    assert recorded["OMP_NUM_THREADS"] == "3"
    assert recorded["PYTHONPATH"] == "set"
    assert "secret" not in (tmp_path / "run/run.json").read_text()


def test_the_run_folder_is_private(fullbore, tmp_path):
    subprocess.run([fullbore, "run", "--quiet", "--", "true"], cwd=str(tmp_path), preexec_fn=lambda: os.umask(0))
    (folder,) = (tmp_path / "fullbore-runs").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "run.json").stat().st_mode & 0o077 == 0


def test_a_pipe_that_the_command_closes_is_closed(fullbore, tmp_path):
    script = "import os, time; os.write(1, b'all'); os.close(1); open('closed', 'w').close(); time.sleep(30)"
    process = subprocess.Popen(
        [fullbore, "run", "--quiet", "--out", str(tmp_path / "run"), "--", sys.executable, "-c", script],
        stdout=subprocess.PIPE, cwd=str(tmp_path),
    )
    launching.wait_for((tmp_path / "closed").exists, "the command to close its stdout")
    assert process.stdout.read() == b"all"  # the end of file comes although the command still runs
    process.terminate()
    assert process.wait(30) == -signal.SIGTERM
