"""The scripts of the quick start and the parts of the demo."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import launching
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]

PASSED = '<testcase name="a"/>'
FAILED = '<testcase name="b" classname="tests.x"><failure message="no"/></testcase>'
SKIPPED = '<testcase name="c"><skipped/></testcase>'


def sum_results(folder, *arguments):
    command = [sys.executable, ROOT / "scripts/sum_results.py", folder, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def write_results(folder, name, *cases):
    (folder / name).write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")


def test_results_of_all_runners_are_added_up(tmp_path):
    write_results(tmp_path, "ctest-dev.xml", PASSED, SKIPPED)
    write_results(tmp_path, "pytest.xml", PASSED, FAILED)
    result = sum_results(tmp_path, "pytest")
    assert result.stdout.splitlines() == ["failed: tests.x.b", "2 passed, 1 failed, 1 skipped"]
    assert result.returncode == 1


def test_a_runner_that_dies_without_a_failed_test_counts_as_failed(tmp_path):
    write_results(tmp_path, "ctest-dev.xml", PASSED)
    result = sum_results(tmp_path, "pytest")
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
    assert result.returncode == 1


def test_a_test_that_passes_at_the_second_try_is_named_and_counted_as_passed(tmp_path):
    write_results(tmp_path, "pytest.xml", PASSED, FAILED)
    write_results(tmp_path, "pytest.again.xml", FAILED.replace("<failure message=\"no\"/>", ""))
    result = sum_results(tmp_path, "pytest")
    assert result.stdout.splitlines() == ["passed at the second try only: tests.x.b", "2 passed, 0 failed, 0 skipped"]
    assert result.returncode == 0


def test_a_test_that_fails_twice_has_failed_once(tmp_path):
    write_results(tmp_path, "pytest.xml", PASSED, FAILED)
    write_results(tmp_path, "pytest.again.xml", FAILED)
    result = sum_results(tmp_path, "pytest")
    assert result.stdout.splitlines() == ["failed: tests.x.b", "1 passed, 1 failed, 0 skipped"]
    assert result.returncode == 1


def test_no_test_at_all_is_a_failure(tmp_path):
    assert sum_results(tmp_path).returncode == 1


def test_a_skip_fails_where_the_hardware_is_promised(tmp_path):
    write_results(tmp_path, "pytest.xml", PASSED, SKIPPED)
    assert sum_results(tmp_path).returncode == 0
    assert sum_results(tmp_path, "--no-skips").returncode == 1


def fake_commands(folder, **scripts):
    folder.mkdir()
    for name, body in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_long_work_shows_on_a_terminal_how_far_it_is(tmp_path):
    shutil.copy(ROOT / "scripts/common.sh", tmp_path)
    work = "for n in 1 2 3; do echo [$n/3] Building CXX object x.o; sleep 1; done"
    done = launching.run_in_pty(["bash", "-c", ". ./common.sh; step building bash -c '%s'" % work], cwd=str(tmp_path))
    assert done.code == 0
    assert b"building ... 3/3, 2 s" in done.out and b"building ... done in 3 s" in done.out


def test_setup_without_root_or_sudo_names_the_missing_packages(tmp_path):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    dpkg_query = 'case "$*" in *libfmt-dev|*ccache) exit 1 ;; *) echo installed ;; esac'
    path = fake_commands(tmp_path / "bin", id="echo 1000", sudo="exit 1", **{"dpkg-query": dpkg_query})
    result = subprocess.run([tmp_path / "scripts/setup", "demo"], env={**os.environ, "PATH": path},
                            stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip
    assert result.returncode == 1
    assert "apt-get install --no-install-recommends ccache libfmt-dev" in result.stderr


def test_setup_refuses_another_processor_by_name(tmp_path):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    path = fake_commands(tmp_path / "bin", uname='[ "$1" = -m ] && echo aarch64 || echo Linux')
    result = subprocess.run([tmp_path / "scripts/setup"], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert (result.returncode, result.stderr.strip()) == (1, "fullbore runs on x86-64 only for now (this is aarch64)")


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photographs")
    for name in ("Meadow", "Sky"):
        Image.effect_noise((1200, 900), 60).convert("RGB").save(folder / f"{name}.jpg")
    return folder


def make_photos(source, target):
    command = [sys.executable, ROOT / "scripts/make_photos", target, "--count", "6", "--from", source]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_photographs_have_the_size_of_the_real_thing_and_a_folder_per_class(photographs, tmp_path):
    make_photos(photographs, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["meadow", "sky"]
    assert {Image.open(path).size for path in tmp_path.glob("*/*.jpg")} == {(500, 375)}


def test_making_photographs_goes_on_where_it_stopped_with_the_same_bytes(photographs, tmp_path):
    make_photos(photographs, tmp_path)
    victim = tmp_path / "sky/sky_0001.jpg"
    content = victim.read_bytes()
    victim.unlink()
    assert "(1 made now)" in make_photos(photographs, tmp_path)
    assert victim.read_bytes() == content


def test_the_training_script_says_that_the_accelerator_is_emulated(photographs, tmp_path):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a real one")
    make_photos(photographs, tmp_path)
    command = [sys.executable, ROOT / "examples/train_images.py", tmp_path, "--steps", "2", "--batch-size", "3"]
    trained = subprocess.run(command, capture_output=True, text=True)
    assert trained.returncode == 0, trained.stderr
    assert "the model is an emulated accelerator that takes 40 ms for each batch" in trained.stdout
    assert "epoch 1: loss" in trained.stdout


def test_the_compact_resnet_has_the_parameters_of_resnet_50(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(ROOT / "examples")
    from resnet import resnet50

    with torch.device("meta"):
        model = resnet50(num_classes=1000)
        assert sum(parameter.numel() for parameter in model.parameters()) == 25_557_032
        assert model(torch.empty(2, 3, 224, 224)).shape == (2, 1000)
