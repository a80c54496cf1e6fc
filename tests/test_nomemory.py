"""Memory that runs out: each allocation of each operation fails in turn, alone and with all that follow.

What is raised is MemoryError, all is as it was before, the retainer goes on working, and nothing is lost. The cases are
in nomemory_child.py; what makes allocations fail is nomemory.c, which is compiled here. The one block that is allocated
otherwise, and system calls that fail, are in test_faults.py.
"""

import json
import os
import sys
import sysconfig
from pathlib import Path

import nomemory_child
import pytest
from compiling import shared_library
from watch import in_own_group

HERE = Path(__file__).parent
# More than any of these takes, also on a slow and busy machine.
SOON = 300

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs, which most of this is about, need a POSIX system")

NAMES = [name for name, _ in nomemory_child.all_cases()]

# One interpreter for the cases of one operation, and one for each that starts programs.
GROUPS = {}
for name in NAMES:
    operation = name if name.startswith("program") else name.partition(",")[0].partition("(")[0]
    GROUPS.setdefault(operation, []).append(name)
CONTROLS = [GROUPS.pop(operation)[0] for operation in list(GROUPS) if operation.startswith("control")]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A directory with the compiled module."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("without the GIL CPython's allocators cannot be replaced")
    include = sysconfig.get_path("include")
    if not Path(include, "Python.h").exists():
        pytest.skip("there is no header of CPython")
    folder = tmp_path_factory.mktemp("nomemory")
    flags = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    shared_library(HERE / "nomemory.c", folder / "nomemory.so", f"-I{include}", *flags)
    return folder


def found(folder, names):
    """What the cases of these names found, in an interpreter of their own. If it crashes, what it said."""
    command = [sys.executable, HERE / "nomemory_child.py", folder, *names]
    status, output, complaint = in_own_group(command, SOON)
    if status < 0:
        return f"status {status}: {complaint}"
    assert status == 0, complaint
    return json.loads(output)


@pytest.fixture(scope="session")
def controls(folder):
    """What CPython itself loses, for each way in which it is used, in blocks each time; None where it crashes."""
    losses = {}
    for control in CONTROLS:
        answer = found(folder, [control])
        kind = control.split()[1]
        if isinstance(answer, str):
            losses[kind] = None
            continue
        losses[kind] = max(map(lost, answer[control]["grown"].values()))
        if kind == "raise" and answer[control]["lost"] and sys.version_info >= (3, 12):
            # An exception that CPython has lost crashes it when compiled code adds its line to the traceback.
            losses[kind] = None
    if losses["cell"] is None:
        # The functions of `copy` have some too, and what they break shows later.
        losses["copy"] = losses["deepcopy"] = None
    return losses


def lost(rounds):
    """The blocks that each further round loses; the first ones fill caches."""
    return min(rounds[1:])


@pytest.mark.parametrize("operation", GROUPS)
def test_without_memory_all_is_as_before_and_nothing_is_lost(operation, folder, controls):
    control_of = nomemory_child.control_of
    names = [name for name in GROUPS[operation] if controls.get(control_of(name), 0) is not None]
    if not names:
        pytest.skip("without memory this CPython crashes by itself in what this makes use of")
    answers = found(folder, names)
    assert not isinstance(answers, str), answers
    assert answers.keys() == set(names)
    problems = [f"{name}: {problem}" for name, answer in answers.items() for problem in answer["problems"]]
    assert not problems, "\n\n".join(problems[:5])
    for name, answer in answers.items():
        if "arun" in name or controls.get(control_of(name), 0):
            # CPython loses some by itself, and so does its event loop: no telling.
            continue
        assert all(lost(rounds) <= 0 for rounds in answer["grown"].values()), (name, answer["grown"])
    # Something could be made to fail; but a comparison of small values needs no memory.
    assert any(answer["hits"] for answer in answers.values()) or operation.endswith("==")
