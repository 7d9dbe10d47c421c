"""The program as a person meets it: subcommands, exit codes, streams, and what it says when something is wrong."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

TRAIN = """
import time
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.ones(8), index % 2

model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Numbers(), batch_size=BATCH)
for x, y in loader:
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, fullbore):
    """A folder with two runs of the same script and one of another batch size, newest first: last is the other one."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("cli")
    for name, batch in (("train.py", 8), ("other.py", 16)):
        (folder / name).write_text(TRAIN.replace("BATCH", str(batch)))
    for script in ("train.py", "train.py", "other.py"):
        command = [fullbore, "run", "--", sys.executable, script]
        done = subprocess.run(command, cwd=str(folder), capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr.decode()
    return folder


@pytest.fixture
def call(fullbore):
    def call(*arguments, cwd, **environment):
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment}
        done = subprocess.run([fullbore, *arguments], cwd=str(cwd), env=env, capture_output=True, timeout=60)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return call


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        ([], 2, "Fullbore watches a training command"),
        (["frob"], 2, "unknown argument 'frob'"),
        (["report", "--jsn"], 2, "unknown option --jsn"),
        (["report"], 2, "no run in fullbore-runs"),
        (["report", "nowhere"], 2, "no run 'nowhere'"),
        (["compare"], 2, "no run in fullbore-runs"),
        (["compare", "a"], 2, "no run 'a'"),
        (["compare", "a", "b", "c"], 2, "unknown argument 'c'"),
        (["runs", "clean"], 2, "--keep N or --max-size 1GB"),
        (["runs", "clean", "--max-size", "1 cup"], 2, "'1 cup' is no size"),
        (["bench"], 2, "DATA is required"),
        (["bench", "data", "--seconds", "0"], 2, "--seconds"),
        (["pack", "data"], 2, "pack needs DATA and the folder OUT"),
        (["pack", "data", "out", "--shard-size", "1 cup"], 2, "'1 cup' is no size"),
        (["run"], 125, "no command to run"),
        (["run", "python", "x.py"], 125, "write `--` in front of the command: fullbore run -- python x.py"),
        (["run", "--for", "soon", "--", "true"], 125, "'soon' is no duration"),
        (["run", "--stop", "--", "true"], 125, "--stop needs --for or --steps"),
        (["run", "--report", "nowhere/report.txt", "--", "true"], 125, "cannot write the report to nowhere/report.txt"),
        (["run", "--fix=nowhere", "--", "true"], 125, "--fix: no run 'nowhere'"),
    ],
)
def test_wrong_use_is_told_in_one_place(call, tmp_path, arguments, code, words):
    returned, out, err = call(*arguments, cwd=tmp_path)
    assert (returned, out) == (code, "")
    assert words in err
    assert not (tmp_path / "fullbore-runs").exists()


@pytest.mark.skipif(os.path.exists("/proc/driver/nvidia"), reason="an NVIDIA driver is here")
def test_ceilings_need_a_gpu(call, tmp_path):
    code, out, err = call("ceilings", cwd=tmp_path, HOME=str(tmp_path))
    assert (code, out) == (1, "") and "no CUDA" in err
    assert not list(tmp_path.iterdir())


def test_version_and_help_go_to_stdout(call, tmp_path):
    assert call("--version", cwd=tmp_path)[1].startswith("fullbore ")
    code, out, err = call("--help", cwd=tmp_path)
    assert (code, err) == (0, "") and "fullbore compare [A [B]]" in out
    for command in ("run", "report", "compare", "ceilings", "runs", "pack", "bench"):
        assert call(command, "--help", cwd=tmp_path)[0] == 0


def test_json_keeps_to_its_schema(call, recorded):
    jsonschema = pytest.importorskip("jsonschema")
    code, out, err = call("report", "--json", "last~1", cwd=recorded)
    assert (code, err) == (0, "")
    verdict = json.loads(out)
    jsonschema.validate(verdict, json.loads((ROOT / "docs/report.schema.json").read_text()))
    assert verdict["verdict"]["cause"] == "no_workers"
    assert verdict["causes"][0]["where"]["file"].endswith("train.py")


def test_text_shows_the_users_own_lines_as_they_were(call, recorded):
    script = recorded / "train.py"
    before = script.read_text()
    script.write_text("# rewritten since\n")
    try:
        out = call("report", "last~1", cwd=recorded)[1]
    finally:
        script.write_text(before)
    assert "for x, y in loader:" in out
    assert "+loader = DataLoader(Numbers(), batch_size=8, num_workers=" in out


def test_no_colour_and_ascii_where_asked(call, recorded):
    plain = call("report", "last~1", cwd=recorded)[1]
    assert "\x1b" not in plain and not plain.isascii()
    assert "\x1b[" in call("report", "last~1", cwd=recorded, CLICOLOR_FORCE="1")[1]
    assert call("report", "last~1", cwd=recorded, LC_ALL="C")[1].isascii()


def test_limits_have_exit_codes(call, recorded):
    assert call("report", "last~1", "--fail-above", "input_wait=100%", cwd=recorded)[0] == 0
    code, _, err = call("report", "last~1", "--fail-above", "input_wait=1%", cwd=recorded)
    assert code == 3 and "above the limit of 1.0 %" in err
    assert call("report", "last~1", "--fail-above", "gpu_compute=5%", cwd=recorded)[0] == 4
    assert call("report", "last~1", "--fail-above", "wait=5%", cwd=recorded)[0] == 2


def test_redacted_report_names_no_folder(call, recorded):
    for options in ([], ["--json"]):
        out = call("report", "--redact", *options, "last~1", cwd=recorded)[1]
        assert str(recorded) not in out and "train.py" in out


def test_several_hosts_are_judged_one_by_one(call, recorded):
    code, out, _ = call("report", "last", "last~1", cwd=recorded)
    assert code == 0 and "The report of" in out
    assert len(json.loads(call("report", "--json", "last", "last~1", cwd=recorded)[1])) == 2


def test_compare_is_a_table_and_json(call, recorded):
    code, out, _ = call("compare", "last~2", "last~1", "--price", "25/h", cwd=recorded)
    assert code == 0
    for words in ("samples/s", "input wait, share", "1000 iterations cost", "n/a (", "bound"):
        assert words in out
    table = json.loads(call("compare", "last~2", "last~1", "--json", cwd=recorded)[1])
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(table, json.loads((ROOT / "docs/compare.schema.json").read_text()))
    assert table["rows"]["gpu_busy"]["before"] is None and table["rows"]["epoch_hours"]["before"] > 0


def test_compare_takes_the_last_two_runs_by_itself(call, recorded):
    code, out, err = call("compare", cwd=recorded)
    assert (code, out) == (1, "") and "batch size 8 and 16" in err
    assert call("compare", "last~2", "--anyway", cwd=recorded)[1] == call("compare", "last~2", "last", "--anyway", cwd=recorded)[1]


def test_compare_refuses_different_work_unless_told(call, recorded):
    code, out, err = call("compare", "last~1", "last", cwd=recorded)
    assert (code, out) == (1, "") and "batch size 8 and 16" in err and "--anyway" in err
    code, out, err = call("compare", "last~1", "last", "--anyway", cwd=recorded)
    assert code == 0 and "batch size 8 and 16" in err and "samples/s" in out


def test_runs_are_listed_and_cleaned(call, recorded, tmp_path):
    runs = tmp_path / "fullbore-runs"
    shutil.copytree(str(recorded / "fullbore-runs"), str(runs))
    code, out, _ = call("runs", cwd=tmp_path)
    assert code == 0 and len(out.splitlines()) == 4 and "no_workers" in out
    (tmp_path / "outside").mkdir()
    (runs / "link").symlink_to(tmp_path / "outside")
    (runs / "mine.txt").write_text("mine")
    code, out, _ = call("runs", "clean", "--keep", "1", cwd=tmp_path)
    assert code == 0 and out.startswith("removed 2, kept 1")
    assert sorted(path.name for path in runs.iterdir() if path.name in ("link", "mine.txt")) == ["link", "mine.txt"]
    assert len(list(runs.glob("*/run.json"))) == 1 and (tmp_path / "outside").exists()


def test_run_writes_both_reports_and_can_write_a_third(call, recorded, tmp_path):
    shutil.copy(str(recorded / "train.py"), str(tmp_path))
    options = ["--out", "kept", "--report", "verdict.txt"]
    code, out, err = call("run", *options, "--", sys.executable, "train.py", cwd=tmp_path)
    assert (code, out) == (0, "") and "Step of" not in err
    assert "Step of" in (tmp_path / "verdict.txt").read_text()
    assert {"report.json", "report.txt", "run.json"} <= {path.name for path in (tmp_path / "kept").iterdir()}
    code, out, err = call("run", "--quiet", "--", sys.executable, "-c", "print(7)", cwd=tmp_path)
    assert (code, out, err) == (0, "7\n", "")


def test_fix_names_the_run_it_follows(call, recorded):
    code, _, err = call("run", "--fix", "--out", "fixed", "--", sys.executable, "train.py", cwd=recorded)
    assert code == 0
    assert "fullbore: applying the " in err and "fullbore-runs/" in err
    assert "Fix in this run" in err and "num_workers=" in err
