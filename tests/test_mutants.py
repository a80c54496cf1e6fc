"""What mutants.py makes of the library, and what it need not notice: that both are about the sources as they are."""

import pytest
from explained_mutants import EXPLAINED
from mutants import TESTS
from mutating import TOP, mutants_of


@pytest.mark.parametrize("path", EXPLAINED)
def test_each_explanation_is_of_mutants_that_are_made(path):
    made = {(mutant.before.strip(), mutant.after.strip()) for mutant in mutants_of(path)}
    lines = {before for before, _ in made}
    assert [key for key in EXPLAINED[path] if key not in (lines if isinstance(key, str) else made)] == []


def test_every_file_in_which_something_may_be_changed_is():
    names = {path.name for suffix in ("py", "pyx", "pxd") for path in (TOP / "retention").glob(f"*.{suffix}")}
    assert {name for name in names if mutants_of(name)} == set(TESTS)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (
            "_engine.pyx",
            "return self.watching or self.open_readers() > 0",
            "return self.watching or self.open_readers() >= 0",
        ),
        ("_scan.pxd", "while (size >= 256) {", "while (size > 256) {"),
        ("_scan.pxd", "size -= 256;", ";"),
        ("child.py", "self.ending = True", "self.ending = False"),
    ],
)
def test_mutants_are_of_cython_of_c_and_of_python(path, before, after):
    made = {(mutant.before.strip(), mutant.after.strip()) for mutant in mutants_of(path)}
    assert (before, after) in made
