"""The README's examples, as they stand there."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from readme import blocks, recipes

# What the recipes define, `test_recipes.py` calls.
DEFINITIONS = [code for code, _ in recipes().values()]
SCRIPTS = [block for block in blocks("python") if ">>>" not in block and block not in DEFINITIONS]


def test_there_is_something_to_run():
    assert len(blocks("python")) >= 3
    assert len(blocks("console")) >= 1


@pytest.mark.parametrize("block", [block for block in blocks("python") if ">>>" in block])
def test_interactive_examples(block):
    test = doctest.DocTestParser().get_doctest(block, {}, "README", None, None)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.parametrize("block", SCRIPTS)
def test_scripts_print_what_their_comments_say(block, tmp_path):
    # Each as a program of its own, as some start processes that import it, beside the files that some read.
    if "import dask" in block:
        pytest.importorskip("distributed")
    (tmp_path / "script.py").write_text(block, encoding="utf-8")
    (tmp_path / "logs").mkdir()
    for number in range(40):
        (tmp_path / "logs" / f"{number:02}.log").write_text("one of a thousand lines\n" * 1000)
    run = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, timeout=200, check=True
    )
    promised = " ".join(line.partition("#")[2] for line in block.splitlines() if line.strip().startswith("print"))
    assert promised.split() == run.stdout.split()


@pytest.mark.parametrize("block", blocks("console"))
def test_shell_examples(block):
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        run = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, env=env)
        assert run.stdout == expected, command


def test_there_are_two_set_up_commands_one_of_which_runs_the_tests():
    commands = [line for block in blocks("sh") for line in block.splitlines() if "venv" in line]
    assert len(commands) == 2
    assert sum("pytest" in command for command in commands) == 1
    assert all(command.startswith("python3 -m venv .venv && .venv/bin/pip install ") for command in commands)
