"""Timing in pairs: what every benchmark of a function is measured and shown with.

    python -m pytest benchmarks/bench_push.py --benchmark-only -q [--quick] [--benchmark-json=FILE]

`--quick` takes less time for each pair and leaves out the cases that are marked `full`: enough to see what is broken
and what is slower by far, not for figures.
"""

import platform
from collections import defaultdict
from statistics import median
from textwrap import indent
from time import perf_counter

import pytest

RESULTS = pytest.StashKey[dict]()
# Of a pair that does not say how many rounds it wants: the time of both sides together, and the fewest and most rounds.
PAIR_SECONDS, QUICK_PAIR_SECONDS = 0.5, 0.04
FEWEST_ROUNDS, MOST_ROUNDS = 5, 300
QUICK_ROUNDS = 10
# A round of it takes this long at least, so that reading the clock is nothing beside it.
ROUND_SECONDS = 100e-6


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="benchmarks: fewer rounds, and fewer cases of a matrix")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.stash[RESULTS] = defaultdict(list)
    config.addinivalue_line("markers", "full: a case of a benchmark's matrix that --quick leaves out")
    # pyproject.toml disables benchmarks for the tests' sake, which pytest-benchmark takes to contradict this option.
    config.option.benchmark_enable |= config.option.benchmark_only


def pytest_collection_modifyitems(config, items):
    if config.option.quick:
        left_out = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("full")]


@pytest.fixture
def pair(benchmark, request):
    """Times two statements in turn, some rounds each, and compares the best round of the one with that of the other.

    ours, theirs: a statement, and the names in it: a dict, or a function that makes one afresh for each round. Theirs
        may be a number of nanoseconds instead, where the other side has been timed elsewhere.
    title, against: what stands in the table; of pairs with equal ones it shows the median.
    at_most, times_faster: the goal, if there is one: the largest ratio of our time to theirs, or the smallest of theirs
        to ours.
    unrolled: how often the statement stands in its loop.
    times, rounds: how often a round runs that loop, and how many rounds there are; found out where None.
    per: what a statement does so often: times are divided by it.
    lacks: what the other side does less than ours.

    With --benchmark-json=FILE, each element of the file's `benchmarks` has in its `extra_info`:

        title, against, lacks   as above; strings
        ours_ns, theirs_ns      the best round of each side, per statement or what `per` says
        goal                    "at most 1.1" or "15 times faster"; null where there is none
        ratio                   ours_ns / theirs_ns with "at most", else theirs_ns / ours_ns: how many times faster
        met                     whether the ratio reaches the goal; null where there is none

    Those with equal title, against and goal are one row, whose ratio is the median of theirs. As to bench_lines, say,
    the file's `fullname`s begin with benchmarks/bench_lines.py.
    """
    quick = request.config.option.quick

    def run(
        title, against, ours, theirs, *,
        at_most=None, times_faster=None, unrolled=10, times=None, rounds=None, per=1, lacks="",
    ):  # fmt: skip
        elsewhere = not isinstance(theirs, tuple)
        timed = [ours] if elsewhere else [ours, theirs]
        if not benchmark.enabled:
            times = rounds = 1
        if times is None:
            quickest = min(seconds(loop(*side, 1, unrolled), made(side[1])) for side in timed)
            times = max(round(ROUND_SECONDS / quickest), 1)
        loops = [loop(*side, times, unrolled) for side in timed]
        if rounds is None:
            both = sum(seconds(code, made(names)) for code, (_, names) in zip(loops, timed, strict=True))
            rounds = round((QUICK_PAIR_SECONDS if quick else PAIR_SECONDS) / both)
            rounds = min(max(rounds, FEWEST_ROUNDS), MOST_ROUNDS)
        elif quick:
            rounds = min(rounds, QUICK_ROUNDS)
        their_rounds = []

        def their_turn():
            if not elsewhere:
                their_rounds.append(seconds(loops[1], made(theirs[1])))
            return (), made(ours[1])

        # What is called the setup of a round is the round of the other side.
        benchmark.pedantic(loops[0], setup=their_turn, rounds=rounds)
        if benchmark.stats:
            scale = unrolled * times * per / 1e9
            ours_ns = benchmark.stats.stats.min / scale
            theirs_ns = theirs / per if elsewhere else min(their_rounds) / scale
            goal, ratio, met = judged(ours_ns, theirs_ns, at_most, times_faster)
            benchmark.extra_info.update(
                title=title, against=against, lacks=lacks,
                ours_ns=ours_ns, theirs_ns=theirs_ns, ratio=ratio, goal=goal, met=met,
            )  # fmt: skip
            row = request.node.path.name, title, against, at_most, times_faster
            request.config.stash[RESULTS][row].append((ours_ns, theirs_ns, lacks))

    return run


def judged(ours_ns, theirs_ns, at_most, times_faster):
    if at_most is not None:
        return f"at most {at_most}", ours_ns / theirs_ns, ours_ns / theirs_ns <= at_most
    ratio = theirs_ns / ours_ns
    if times_faster is not None:
        return f"{times_faster} times faster", ratio, ratio >= times_faster
    return None, ratio, None


def made(names):
    return names() if callable(names) else names


def seconds(code, names):
    start = perf_counter()
    code(**names)
    return perf_counter() - start


def loop(statement, names, times, unrolled):
    # Compiled for each side: the interpreter adapts code to what it has seen there, and must not see both.
    body = indent(f"{statement}\n" * unrolled, " " * 8)
    scope = {}
    exec(f"def loop({', '.join(made(names))}):\n    for _ in range({times}):\n{body}", scope)
    return scope["loop"]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    results = config.stash[RESULTS]
    if not results:
        return
    write = terminalreporter.write_line
    write("")
    write(f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}. Best rounds, per statement:")
    with_goal = {row: timed for row, timed in results.items() if row[3:] != (None, None)}
    if with_goal:
        write_goals(write, with_goal)
    for module in dict.fromkeys(row[0] for row in results):
        matrix = {row[1:3]: timed for row, timed in results.items() if row[0] == module and row not in with_goal}
        if matrix:
            write_matrix(write, module, matrix)


def write_goals(write, rows):
    write("")
    write("| ours | against | ours, ns | theirs, ns | ratio | goal | |")
    write("| --- | --- | ---: | ---: | ---: | --- | --- |")
    for (_, title, against, *goals), timed in rows.items():
        ratios = sorted(judged(ours, theirs, *goals)[1] for ours, theirs, _ in timed)
        # The median is judged, so once more.
        goal, ratio, met = judged(median(ratios), 1, goals[0], None) if goals[0] else judged(1, median(ratios), *goals)
        spread = f" ({ratios[0]:.2f} to {ratios[-1]:.2f})" if len(ratios) > 1 else ""
        ours_ns, theirs_ns = (median(row[side] for row in timed) for side in (0, 1))
        write(
            f"| {title} | {against} | {ours_ns:.1f} | {theirs_ns:.1f} | {ratio:.2f}{spread} | {goal} "
            f"| {'met' if met else 'not met'} |"
        )


def write_matrix(write, module, rows):
    """What has no goal: one line for each title, in it how many times faster than each peer ours is."""
    peers = list(dict.fromkeys(against for _, against in rows))
    write("")
    write(f"{module}, times faster than each peer:")
    write("")
    write(f"| ours | ns | {' | '.join(peers)} |")
    write(f"| --- | ---: |{' ---: |' * len(peers)}")
    behind = []
    for title in dict.fromkeys(title for title, _ in rows):
        cells = []
        for peer in peers:
            ratios = [theirs / ours for ours, theirs, _ in rows.get((title, peer), [])]
            cells.append(f"{median(ratios):.3g}" if ratios else "")
            if ratios and median(ratios) < 1:
                behind.append(f"{median(ratios):.2f} of {peer}: {title}")
        ours_ns = median(ours for (name, _), timed in rows.items() if name == title for ours, _, _ in timed)
        write(f"| {title} | {ours_ns:.1f} | {' | '.join(cells)} |")
    write("")
    for peer in peers:
        lacks = next(timed[0][2] for (_, against), timed in rows.items() if against == peer)
        write(f"{peer} lacks: {lacks}." if lacks else f"{peer} lacks nothing.")
    if behind:
        write("")
        write("Slower than a peer:")
        for line in sorted(behind):
            write(line)
