"""`pip install .` gives a package that works by itself: program, libraries, hook and the extension for one Python."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    environment = {**os.environ, "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CMAKE_C_COMPILER_LAUNCHER": "ccache",
                   "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}  # fmt: skip
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", folder, ROOT]
    built = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-4000:] + built.stderr[-4000:]
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.slow
def test_the_wheel_is_for_this_python_on_linux_x86_64(wheel):
    python = "cp%d%d" % sys.version_info[:2]
    assert wheel.name.endswith("-%s-%s-linux_x86_64.whl" % (python, python))


@pytest.mark.slow
def test_the_wheel_holds_program_library_and_hook_and_no_caches(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"fullbore/bin/fullbore", "fullbore/lib/libfullbore_record.so", "fullbore/hook/sitecustomize.py"} <= names
    assert "fullbore/lib/_fullbore_probes.abi3.so" in names
    assert len([name for name in names if name.startswith("fullbore/_core.") and name.endswith(".so")]) == 1
    assert "fullbore/prefetch/loader.py" in names
    assert not [name for name in names if "__pycache__" in name]


@pytest.mark.slow
def test_the_installed_command_runs_and_finds_its_parts(wheel, tmp_path):
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "FULLBORE_BIN")}
    install = [venv / "bin/python", "-m", "pip", "install", "--no-index", "--no-deps", wheel]
    subprocess.run(install, check=True, env=environment, capture_output=True)

    version = subprocess.run([venv / "bin/fullbore", "--version"], env=environment, capture_output=True, text=True)
    assert version.returncode == 0, version.stderr
    assert version.stdout.split()[-1] == wheel.name.split("-")[1]

    command = [venv / "bin/fullbore", "run", "--out", tmp_path / "run", "--", venv / "bin/python", "-c", "print('hello')"]
    run = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "hello\n"), run.stderr
    assert (tmp_path / "run").is_dir()
