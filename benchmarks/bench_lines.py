"""What lines and fitting cost, beside pushing without them and beside what CPython does in their place.

    python -m pytest benchmarks/bench_lines.py --benchmark-only -q [--quick]

How things are timed and shown, and what to believe, is said in bench_push.py. In the matrix the first and the last of
the lines of a stream are retained, and all of them counted; times are per chunk.
"""

from dataclasses import dataclass

import pytest

from retention import TextHead, TextHeadTail, TextRetainer, TextTail, fit_text

from .cases import BUFFERS, KIB, LINES, SCRIPTS, SIZES, TYPES, Case, chunk_count, conversion, fed, matrix, whole
from .peers import EVERY_KIND, lines

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
        rounds=50,
    )


MOST = 1024 * KIB
KEPT_LINES = 100
STRATEGIES = {
    "head": (TextHead(MOST, max_lines=KEPT_LINES), KEPT_LINES, 0),
    "head_stop": (TextHead(MOST, max_lines=KEPT_LINES, stop="stop_when_full"), KEPT_LINES, 0),
    "tail": (TextTail(MOST, max_lines=KEPT_LINES), 0, KEPT_LINES),
    "head_tail": (TextHeadTail(MOST, MOST, head_lines=KEPT_LINES, tail_lines=KEPT_LINES), KEPT_LINES, KEPT_LINES),
}
ENDS = {
    "head": "first 100 lines",
    "head_stop": "first 100 lines, stopping",
    "tail": "last 100 lines",
    "head_tail": "first and last 100 lines",
}


@dataclass(frozen=True)
class LineCase(Case):
    """A stream of lines; its chunks may be those lines."""

    def __str__(self):
        content = "" if self.type in SCRIPTS else f", {self.content}"
        chunks = "a line a chunk" if self.size == "line" else f"chunks of {self.size}"
        return f"{ENDS[self.kind]}, {chunks}, {self.type}{content}"

    def chunks(self):
        if self.size == "line":
            return [BUFFERS[self.type](line) for line in LINES[self.content]] * 4
        if self.type not in SCRIPTS:
            return super().chunks()
        line = f"{SCRIPTS[self.type].rstrip()}\n"
        size, count = SIZES[self.size], chunk_count(self.size)
        text = line * (size * count // len(line.encode()))
        step = len(text) // count
        return [text[start : start + step] for start in range(0, len(text), step)]


SIZE_CASES = [LineCase(size=size) for size in ["line", *SIZES]]
TYPE_CASES = [LineCase(size="4 KiB", type=type) for type in TYPES]
QUICK = [*(LineCase(kind, "line") for kind in STRATEGIES), *SIZE_CASES[::2], *TYPE_CASES]


def rows():
    strategies = [LineCase(kind, size) for kind in STRATEGIES for size in ["line", *SIZES]]
    types = [LineCase(size=size, type=type) for type in TYPES for size in SIZES]
    contents = [LineCase(kind, "4 KiB", content=content) for content in LINES for kind in EVERY_KIND]
    for case in dict.fromkeys(strategies + types + contents):
        for peer in lines.PEERS:
            if case.kind in peer.kinds and (case.size == "line" or not peer.one_line):
                yield from ((way, case, peer) for way in peer.ways)


@pytest.mark.parametrize(("way", "case", "peer"), matrix(rows(), QUICK))
def test_stream(pair, way, case, peer):
    strategy, *budgets = STRATEGIES[case.kind]
    chunks = case.chunks()
    ours = fed(TextRetainer(strategy), way, chunks)
    kept, seen_lines = ours.finish_bytes(), ours.finish().seen_lines
    assert kept.truncated
    assert kept.head.count(b"\n") == budgets[0]
    assert kept.tail.count(b"\n") in (budgets[1], budgets[1] - 1)
    source = conversion(peer, chunks[0])
    theirs = fed(peer(*budgets), way, source(chunks) if source else chunks)
    assert theirs.ends() == (kept.head, kept.tail)
    assert peer.one_line or theirs.seen_lines == seen_lines
    pair(
        f"`{way}`, {case}",
        peer.name,
        whole(way, TextRetainer, (strategy,), "finish", chunks),
        whole(way, peer, budgets, "text", chunks, source),
        unrolled=1,
        per=len(chunks),
        lacks=peer.lacks,
    )
