"""Rules of the tree that a compiler does not hold: include direction, format, and a hook that old Pythons can read."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOOK = sorted((ROOT / "python/fullbore/hook").rglob("*.py"))


def check_includes(root):
    return subprocess.run([sys.executable, ROOT / "scripts/check_includes", root], capture_output=True, text=True)


def test_includes_point_one_way():
    result = check_includes(ROOT / "src")
    assert result.returncode == 0, result.stdout


def test_an_include_against_the_direction_is_found(tmp_path):
    (tmp_path / "diagnose").mkdir()
    (tmp_path / "diagnose/account.cc").write_text('#include "base/error.h"\n#include "observe/sampler.h"\n')
    result = check_includes(tmp_path)
    assert result.returncode == 1
    assert "account.cc:2: diagnose must not include observe" in result.stdout


def test_sources_are_formatted():
    clang_format = shutil.which("clang-format-19")
    if not clang_format:
        pytest.skip("clang-format-19 is not installed")
    files = [path for folder in ("src", "bench") for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".c", ".cc")]
    result = subprocess.run([clang_format, "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True, text=True)
    unformatted = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", result.stderr, re.MULTILINE)))
    assert not unformatted, "run clang-format-19 -i on these"
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("path", HOOK, ids=lambda path: path.name)
def test_the_hook_is_python_3_8_and_imports_the_standard_library_only(path):
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add(node.module.split(".")[0])
    foreign = imported - set(sys.stdlib_module_names) - {"_fullbore_hook", "sitecustomize"}  # the latter: the user's own, chained to
    assert not foreign


def test_contributing_is_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 100
