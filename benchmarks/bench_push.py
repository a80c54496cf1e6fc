"""What a push costs, beside the least that plain Python does in its place.

    python -m pytest benchmarks/bench_push.py --benchmark-only -q

prints two tables at its end: pairs with a goal, those of the README; and a matrix of whole streams, retained by us and
by what one would use instead (peers/texts.py and peers/programs.py). The times above them are of whole rounds, ours
alone. `--quick` takes less time and says less. Without `--benchmark-only` everything runs once, untimed.

Each pair first checks that both sides give the right answer. Then their rounds alternate, so that a slow moment of the
machine meets both, and the best of each are compared. Bound methods are looked up beforehand, on both sides, and loops
are unrolled tenfold. The goals are printed and never asserted.

Distrust single figures. Where code and objects come to lie in memory is drawn anew for each process and lasts as long:
the ratio of calls of some ten nanoseconds varies by a tenth between quiet runs, by more on a busy machine. Believe the
median of several runs, and ratios rather than times.
"""

from collections import deque

import pytest

from retention import TextHead, TextHeadTail, TextRetainer, TextTail

from .cases import (
    KIB,
    LINES,
    SIZES,
    STRATEGIES,
    TYPES,
    Case,
    answer,
    conversion,
    fed,
    matrix,
    missing,
    whole,
)
from .peers import EVERY_KIND, texts
from .peers.programs import PROGRAMS

CHUNKS = [b"%063d\n" % number for number in range(1000)]
CHUNK = CHUNKS[-1]
STREAM = b"".join(CHUNKS)
TEXTS = {"ASCII": "The quick brown fox. " * 4 * KIB, "CJK": "敏捷的棕色狐狸跳过懒狗。" * 6 * KIB}
EITHER_SCRIPT = pytest.mark.parametrize("script", TEXTS)


def pushed(retainer, chunks):
    for chunk in chunks:
        retainer.push(chunk)
    return retainer


def ends(retainer):
    kept = retainer.finish_bytes()
    return kept.head, kept.tail


def pushes(sink, chunk=CHUNK):
    return "push(chunk)", {"push": sink.push, "chunk": chunk}


def appends():
    last = deque(CHUNKS, maxlen=1)
    assert list(last) == [CHUNK]
    return "append(chunk)", {"append": last.append, "chunk": CHUNK}


def test_push_beyond_head(pair):
    retainer = pushed(TextRetainer(TextHead(16 * KIB)), CHUNKS)
    assert ends(retainer) == (STREAM[: 16 * KIB], b"")
    pair(
        "`push(b)` of 64 bytes, beyond a head of 16 KiB",
        "`deque(maxlen=1).append(b)`",
        pushes(retainer),
        appends(),
        at_most=1.1,
    )


def test_push_tail(pair):
    retainer = pushed(TextRetainer(TextTail(16 * KIB)), CHUNKS)
    assert ends(retainer) == (b"", STREAM[-16 * KIB :])
    pair("`push(b)` of 64 bytes, tail 16 KiB", "`deque(maxlen=1).append(b)`", pushes(retainer), appends(), at_most=1.4)


def test_push_head_tail(pair):
    retainer = pushed(TextRetainer(TextHeadTail(8 * KIB, 8 * KIB)), CHUNKS)
    chunks = pushed(texts.ChunkDeque(8 * KIB, 8 * KIB), CHUNKS)
    assert ends(retainer) == (STREAM[: 8 * KIB], STREAM[-8 * KIB :])
    assert ends(retainer) == chunks.ends()
    assert retainer.seen_bytes == chunks.seen
    pair(
        "`push(b)` of 64 bytes, head and tail of 8 KiB",
        "the same with a deque of chunks, in Python",
        pushes(retainer),
        pushes(chunks),
        times_faster=15,
    )


@pytest.mark.parametrize("layout", range(8))
def test_push_large(pair, layout):
    # Neighbours in memory begin at different offsets from a page: a sample from all over it.
    neighbours = [bytes([number]) * (64 * KIB) for number in range(88)]
    chunk = sorted(neighbours, key=lambda chunk: id(chunk) % 4096)[layout * 11]
    retainer = pushed(TextRetainer(TextTail(16 * KIB)), [b"before", chunk])
    source, target = memoryview(chunk)[-16 * KIB :], memoryview(bytearray(16 * KIB))
    target[:] = source
    assert ends(retainer) == (b"", target.tobytes())
    pair(
        "`push(b)` of 64 KiB, tail 16 KiB, in 8 layouts of memory",
        "copying 16 KiB between memoryviews",
        pushes(retainer, chunk),
        ("target[:] = source", {"target": target, "source": source}),
        at_most=1.2,
    )


def test_push_single_bytes(pair):
    def new(tail_bytes):
        return lambda: pushes(TextRetainer(TextTail(tail_bytes)), b"x")[1]

    for tail_bytes in (1000, 1_000_000):
        assert ends(pushed(TextRetainer(TextTail(tail_bytes)), [b"x"] * 1_000_001)) == (b"", b"x" * tail_bytes)
    pair(
        "a million `push(b)` of one byte, tail 1 MB",
        "the same with a tail of 1 KB",
        ("push(chunk)", new(1_000_000)),
        ("push(chunk)", new(1000)),
        at_most=1.2,
        times=100_000,
        rounds=30,
    )


@EITHER_SCRIPT
def test_push_str(pair, script):
    text = TEXTS[script][: 64 * KIB]
    encoded = text.encode()
    retainer = pushed(TextRetainer(TextHeadTail(4 * KIB, 4 * KIB)), [text, text])
    assert ends(retainer) == (encoded[: 4 * KIB], encoded[-4 * KIB :])
    assert retainer.seen_bytes == 2 * len(encoded)
    pair(
        f"`push(s)` of 64 Ki characters, {script}, head and tail of 4 KiB",
        "`s.encode()` alone",
        pushes(retainer, text),
        ("encode()", {"encode": text.encode}),
        times_faster={"ASCII": 12, "CJK": 8}[script],
    )


def rows():
    sizes = [Case(kind, size) for kind in STRATEGIES for size in SIZES]
    types = [Case(size=size, type=type) for type in TYPES for size in SIZES]
    contents = [Case(kind, "4 KiB", content=content) for content in LINES for kind in EVERY_KIND]
    for case in dict.fromkeys(sizes + types + contents):
        for peer in texts.PEERS:
            if case.kind in peer.kinds and (not peer.takes_str or case.type == "str ASCII"):
                # What `extend` saves is the call of a push, whatever the type and the content.
                yield from ((way, case, peer) for way in peer.ways if way == "push" or case in sizes)
        if case.type not in ("bytearray", "memoryview"):
            yield from (("push", case, program) for program in PROGRAMS if case.kind in program.text_kinds)


QUICK = [
    *(Case(kind) for kind in STRATEGIES),
    *(Case(size=size) for size in SIZES),
    *(Case(type=type) for type in TYPES),
    *(Case(size="4 KiB", content=content) for content in LINES),
]


@pytest.mark.parametrize(("way", "case", "peer"), matrix(rows(), QUICK))
def test_stream(pair, way, case, peer):
    strategy, *budgets = STRATEGIES[case.kind]
    chunks = case.chunks()
    ours = fed(TextRetainer(strategy), way, chunks)
    stream = b"".join(chunk.encode() if isinstance(chunk, str) else chunk for chunk in chunks)
    assert ends(ours) == (stream[: budgets[0]], stream[len(stream) - budgets[1] :])
    if peer in PROGRAMS:
        theirs = answer(peer, "text", case.kind, *budgets, chunks)
        result = ours.finish()
        assert (theirs["text"], theirs["omitted"]) == (result.text, result.omitted_bytes.count)
        other = theirs["stream_ns"]
    else:
        missing(peer)
        source = conversion(peer, chunks[0])
        if peer.one_size:
            budgets.append(len(stream) // len(chunks))
        theirs = fed(peer(*budgets), way, source(chunks) if source else chunks)
        assert theirs.ends() == ends(ours)
        other = whole(way, peer, budgets, "text", chunks, source)
    pair(
        f"`{way}`, {case}",
        peer.name,
        whole(way, TextRetainer, (strategy,), "finish", chunks),
        other,
        unrolled=1,
        per=len(chunks),
        lacks=peer.lacks,
    )
