"""The types, as a type checker sees them: right uses are without an error, and each wrong use is one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted(Path(__file__).parent.joinpath("typed").glob("*.py"))
IGNORED = re.compile(r"  # type: ignore\[([\w-]+)\]$", re.MULTILINE)
REPORTED = re.compile(r"^(.*):(\d+): error: .*\[([\w-]+)\]$", re.MULTILINE)


def expected_errors(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    found = {number: IGNORED.search(line) for number, line in enumerate(lines, 1)}
    return {(path.name, number, match[1]) for number, match in found.items() if match}


def test_right_uses_are_no_errors_and_each_wrong_use_is_its_own(tmp_path):
    # Without the comments that ignore them, so that all errors are seen; the other lines must have none.
    for path in EXAMPLES:
        (tmp_path / path.name).write_text(IGNORED.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
    words = ["--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path / "cache", "--hide-error-context"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *words, "--no-pretty", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    reported = {(Path(name).name, int(number), code) for name, number, code in REPORTED.findall(run.stdout)}
    assert reported == set().union(*map(expected_errors, EXAMPLES)), run.stdout + run.stderr
    assert run.returncode == 1


def test_there_are_right_and_wrong_uses():
    count = {path.stem: len(expected_errors(path)) for path in EXAMPLES}
    assert count["right"] == 0
    assert count["wrong"] > 50
