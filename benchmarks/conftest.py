"""Timing in pairs: what every benchmark here is measured and shown with."""

import platform
from collections import defaultdict
from statistics import median
from time import perf_counter

import pytest

RESULTS = pytest.StashKey[dict]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.stash[RESULTS] = defaultdict(list)
    # pyproject.toml disables benchmarks for the tests' sake, which pytest-benchmark takes to contradict this option.
    config.option.benchmark_enable |= config.option.benchmark_only


@pytest.fixture
def pair(benchmark, request):
    """Times two statements in turn, some rounds each, and compares the best round of the one with that of the other.

    ours, theirs: a statement, and the names in it: a dict, or a function that makes one afresh for each round.
    title, against: what stands in the table; of pairs with equal ones it shows the median.
    at_most, times_faster: the goal: the largest ratio of our time to theirs, or the smallest of theirs to ours.
    times: how often a round repeats the ten statements that its loop consists of.
    """

    def run(title, against, ours, theirs, *, at_most=None, times_faster=None, times=2000, rounds=300):
        our_loop, their_loop = loop(ours[0], ours[1], times), loop(theirs[0], theirs[1], times)
        their_rounds = []

        def their_turn():
            names = made(theirs[1])
            start = perf_counter()
            their_loop(**names)
            their_rounds.append(perf_counter() - start)
            return (), made(ours[1])

        # What is called the setup of a round is the round of the other side.
        benchmark.pedantic(our_loop, setup=their_turn, rounds=rounds)
        if benchmark.stats:
            best = [seconds / (10 * times) * 1e9 for seconds in (benchmark.stats.stats.min, min(their_rounds))]
            benchmark.extra_info.update(our_ns=best[0], their_ns=best[1])
            request.config.stash[RESULTS][title, against, at_most, times_faster].append(best)

    return run


def made(names):
    return names() if callable(names) else names


def loop(statement, names, times):
    # Compiled for each side: the interpreter adapts code to what it has seen there, and must not see both.
    body = f"        {statement}\n" * 10
    scope = {}
    exec(f"def loop({', '.join(made(names))}):\n    for _ in range({times}):\n{body}", scope)
    return scope["loop"]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    if not config.stash[RESULTS]:
        return
    write = terminalreporter.write_line
    write("")
    write(f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}. Best rounds, per statement:")
    write("")
    write("| ours | against | ours, ns | theirs, ns | ratio | goal | |")
    write("| --- | --- | ---: | ---: | ---: | --- | --- |")
    for (title, against, at_most, times_faster), bests in config.stash[RESULTS].items():
        ratios = sorted(theirs / ours if times_faster else ours / theirs for ours, theirs in bests)
        ratio = median(ratios)
        met = ratio >= times_faster if times_faster else ratio <= at_most
        spread = f" ({ratios[0]:.2f} to {ratios[-1]:.2f})" if len(ratios) > 1 else ""
        write(
            f"| {title} | {against} | {median(ours for ours, _ in bests):.1f} | {median(t for _, t in bests):.1f} "
            f"| {ratio:.2f}{spread} | {f'{times_faster} times faster' if times_faster else f'at most {at_most}'} "
            f"| {'met' if met else 'not met'} |"
        )
