"""The committed inputs of the fuzz targets, without the fuzzer: some that it found new, and long ones."""

from pathlib import Path

import pytest
from fuzz import fuzz_fit_text, fuzz_retainer

CORPUS = Path(__file__).with_name("fuzz") / "corpus"
TARGETS = {"retainer": fuzz_retainer.run, "fit_text": fuzz_fit_text.run}


@pytest.mark.parametrize(
    ("target", "path"),
    [
        pytest.param(name, path, id=f"{name}-{path.name}")
        for name in TARGETS
        for path in sorted((CORPUS / name).iterdir())
    ],
)
def test_an_input_of_the_corpus_finds_nothing(target, path):
    TARGETS[target](path.read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_there_is_a_corpus(target):
    assert len(list((CORPUS / target).iterdir())) >= 20
