"""What lines and fitting cost, beside pushing without them and beside what CPython does in their place.

    python -m pytest benchmarks/bench_lines.py --benchmark-only -q

prints a table at its end; the times above it are of whole rounds, ours alone. Without `--benchmark-only` everything
runs once, untimed. How the two sides of a pair are timed, and what to believe, is said in bench_push.py.
"""

import pytest

from retention import TextHead, TextRetainer, TextTail, fit_text

KIB = 1024
# Lines of 29 to 108 bytes; the last is broken off.
LOG = b"".join([b"07:08:%02d.%03d INFO worker %d: %s\n" % (n % 60, n, n % 7, b"." * (n % 80)) for n in range(999)])
LOG = LOG[: 64 * KIB]
# Each of 10 MB in UTF-8.
TEXTS = {"ASCII": "The quick brown fox.\n" * 476_191, "CJK": "敏捷的棕色狐狸跳过懒狗。\n" * 270_271}


def pushes(retainer, chunk=LOG):
    return "push(chunk)", {"push": retainer.push, "chunk": chunk}


def counting(strategy, **options):
    """A retainer that counts, whose count of the log has been checked."""
    retainer = TextRetainer(strategy, count_lines=True, **options)
    retainer.push(LOG)
    assert retainer.finish().seen_lines == LOG.count(b"\n") + (not LOG.endswith(b"\n"))
    return retainer


def test_push_counting(pair):
    strategy = TextTail(16 * KIB)
    ours, theirs = counting(strategy), TextRetainer(strategy)
    theirs.push(LOG)
    assert theirs.finish().seen_lines is None
    assert ours.finish_bytes() == theirs.finish_bytes()
    pair(
        "`push(b)` of 64 KiB of log, tail 16 KiB, counting lines",
        "the same without counting",
        pushes(ours),
        pushes(theirs),
        at_most=10,
        times=100,
    )


def test_push_counting_small(pair):
    strategy = TextTail(16 * KIB)
    ours, theirs = counting(strategy), TextRetainer(strategy)
    pair(
        "`push(b)` of one line of 64 bytes, tail 16 KiB, counting lines",
        "the same without counting",
        pushes(ours, b"%063d\n" % 0),
        pushes(theirs, b"%063d\n" % 0),
        at_most=2,
    )


def test_push_line_budget(pair):
    ours, theirs = counting(TextTail(16 * KIB, max_lines=100)), counting(TextTail(16 * KIB))
    assert ours.finish().tail.count("\n") in (99, 100)
    pair(
        "`push(b)` of 64 KiB of log, tail of 100 lines in 16 KiB",
        "counting without a budget in lines",
        pushes(ours),
        pushes(theirs),
        at_most=1.1,
        times=100,
    )


@pytest.mark.parametrize(
    ("what", "strategy"), [("nothing kept", TextHead(0)), ("tail 16 KiB", TextTail(16 * KIB))], ids=["nothing", "tail"]
)
def test_count(pair, what, strategy):
    ours = counting(strategy)
    pair(
        f"`push(b)` of 64 KiB of log, counting lines, {what}",
        '`b.count(b"\\n")`',
        pushes(ours),
        ("count(newline)", {"count": LOG.count, "newline": b"\n"}),
        times_faster=8,
        times=50,
    )


@pytest.mark.parametrize(("script", "times_faster"), [("ASCII", 100), ("CJK", 1)], ids=["ASCII", "CJK"])
def test_fit(pair, script, times_faster):
    text = TEXTS[script]
    fitted = fit_text(text, 16 * KIB)
    encoded = text.encode()
    assert 10_000_000 <= len(encoded) < 10_000_100
    assert 16 * KIB - 8 <= len(fitted.encode()) <= 16 * KIB
    head, _, rest = fitted.partition("[Omitted ")
    number, _, tail = rest.partition(" bytes.]\n")
    assert encoded.startswith(head.rstrip("\n").encode())
    assert encoded.endswith(tail.encode())
    assert abs(len(encoded) - len(head.encode()) - len(tail.encode()) - int(number)) <= 1
    pair(
        f"`fit_text` of 10 MB to 16 KiB, {script}",
        "`s.encode()` alone",
        ("fit_text(text, limit)", {"fit_text": fit_text, "text": text, "limit": 16 * KIB}),
        ("encode()", {"encode": text.encode}),
        times_faster=times_faster,
        times=1,
        rounds=50,
    )
