"""Subinterpreters: one interpreter of a process has the compiled modules, and every other is told so."""

import sys

import pytest
from processes import interpreter

pytestmark = pytest.mark.usefixtures("nothing_left")

SUBINTERPRETERS = """
import sys

try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters

    def create(kind):
        return _xxsubinterpreters.create(isolated=kind == "isolated")

    run, destroy = _xxsubinterpreters.run_string, _xxsubinterpreters.destroy
else:
    create, destroy = _interpreters.create, _interpreters.destroy

    def run(interpreter, program):
        assert _interpreters.exec(interpreter, program) is None

USE = '''
import os
try:
    from retention import TextHead, TextRetainer
except ImportError:
    print("ImportError", flush=True)
else:
    retainer = TextRetainer(TextHead(3))
    retainer.push("ab")
    reader, writer = os.pipe()
    os.write(writer, b"cd")
    os.close(writer)
    retainer.drain(reader)
    os.close(reader)
    print(retainer.finish().text, flush=True)
'''

def use_in_another(kind):
    other = create(kind)
    run(other, f"import sys; sys.path[:] = {sys.path!r}" + USE)
    destroy(other)
"""


@pytest.mark.parametrize("kind", ["isolated", "legacy"])
def test_beside_an_interpreter_that_has_the_modules_another_cannot_import_them(kind):
    # And that does no harm to the first.
    program = "exec(USE); use_in_another(kind); exec(USE); use_in_another(kind); exec(USE)"
    answers = interpreter(SUBINTERPRETERS + program, kind=kind)
    assert answers.split() == ["abc", "ImportError", "abc", "ImportError", "abc"]


def test_a_subinterpreter_that_shares_the_gil_may_be_the_one():
    answers = interpreter(SUBINTERPRETERS + "use_in_another('legacy'); exec(USE)")
    assert answers.split() == ["abc", "ImportError"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="all interpreters share one GIL")
def test_one_with_a_gil_of_its_own_cannot_import_them_even_as_the_first():
    answers = interpreter(SUBINTERPRETERS + "use_in_another('isolated'); exec(USE)")
    assert answers.split() == ["ImportError", "abc"]
