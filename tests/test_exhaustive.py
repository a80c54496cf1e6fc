"""A part of exhaustive.py: the shortest streams, some of the longer ones; and its model against reference.py."""

import random

import pytest
import reference
from exhaustive import LINE_CLASSES, SETS, build, cases, line_retainers, load, retainers

from retention import TextHead, TextHeadTail, TextRetainer, TextTail

pytest.importorskip("Cython", reason="compiling the driver needs Cython")
pytest.importorskip("setuptools", reason="compiling the driver needs setuptools")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    return load(build(tmp_path_factory.mktemp("driver")))


@pytest.fixture
def chance():
    """Another sample each time; what fails names its stream, so that it needs no seed to be seen again."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    return random.Random(seed)


@pytest.mark.parametrize(("name", "most"), [("bytes", 4), ("lines", 3)])
def test_every_short_stream_is_retained_as_the_model_says(driver, name, most):
    classes, _, make = SETS[name]
    retained = cases(driver, make())
    for size in range(most + 1):
        count = len(classes) ** size
        assert driver.check(retained, classes, size, 0, count) == 3 * count * len(retained)


@pytest.mark.parametrize(("name", "size", "streams"), [("bytes", 5, 4000), ("bytes", 6, 4000), ("lines", 5, 400)])
def test_some_longer_streams_are_retained_as_the_model_says(driver, chance, name, size, streams):
    classes, _, make = SETS[name]
    retained = cases(driver, make())
    for _ in range(streams):
        number = chance.randrange(len(classes) ** size)
        driver.check(retained, classes, size, number, number + 1)


def random_stream(chance):
    return bytes(chance.choice(chance.choice(LINE_CLASSES)) for _ in range(chance.randrange(7)))


def test_the_model_is_that_of_the_reference(driver, chance):
    made = [*retainers(7), *line_retainers(5, 2)]
    for _ in range(10_000):
        stream, retainer = random_stream(chance), chance.choice(made)
        strategy, whole_lines = retainer.strategy, retainer.whole_lines
        exact = reference.exact_cuts(strategy, stream)
        stop, start = exact
        if stop < start:
            stop, start = reference.divided(stream, stop)[0], reference.divided(stream, start)[1]
            if whole_lines:
                stop, start = reference.whole_line_cuts(stream, stop, start)
        lines = len(reference.lines(stream)), reference.omitted_lines(stream, stop, start)
        budgets = *reference.budgets(strategy), *reference.line_budgets(strategy)
        found = driver.model(stream, *budgets, strategy.kind == "tail", whole_lines)
        assert found == (*exact, stop, start, *lines), (strategy, whole_lines, stream)


def test_the_text_that_is_kept_is_that_of_the_reference(chance):
    made = [one.strategy for one in (*retainers(7), *line_retainers(5, 2))]
    for _ in range(4000):
        stream, strategy = random_stream(chance), chance.choice(made)
        errors = chance.choice(["replace", "ignore", "backslashreplace"])
        settings = {"errors": errors, "whole_lines": chance.random() < 0.5, "count_lines": chance.random() < 0.5}
        retainer = TextRetainer(strategy, **settings)
        retainer.push(stream)
        assert retainer.finish() == reference.text(strategy, stream, **settings), (strategy, settings, stream)


@pytest.mark.parametrize(
    ("strategy", "budgets"),
    [
        (TextHead(3), (2, 0, None, None)),
        (TextTail(3), (0, 2, None, None)),
        (TextHeadTail(1, 1), (1, 2, None, None)),
        (TextHead(3, max_lines=1), (3, 0, None, None)),
        (TextTail(3, max_lines=1), (0, 3, None, 2)),
    ],
)
def test_a_difference_is_found(driver, strategy, budgets):
    # The model is told of another budget than the retainer has.
    case = driver.Case(TextRetainer(strategy), *budgets)
    with pytest.raises(AssertionError, match="the model says"):
        driver.check([case], LINE_CLASSES, 4, 0, len(LINE_CLASSES) ** 4)
