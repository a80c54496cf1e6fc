"""What a push costs, beside the least that plain Python does in its place.

    python -m pytest benchmarks/bench_push.py --benchmark-only -q

prints the table of the README at its end; the times above it are of whole rounds, ours alone. Without
`--benchmark-only` everything runs once, untimed.

Each pair first checks that both sides give the right answer. Then their rounds alternate, so that a slow moment of the
machine meets both, and the best of each are compared. Bound methods are looked up beforehand, on both sides, and loops
are unrolled tenfold. The goals are printed and never asserted.

Distrust single figures. Where code and objects come to lie in memory is drawn anew for each process and lasts as long:
the ratio of calls of some ten nanoseconds varies by a tenth between quiet runs, by more on a busy machine. Believe the
median of several runs, and ratios rather than times.
"""

from collections import deque

import pytest

from retention import ItemHead, ItemRetainer, TextHead, TextHeadTail, TextRetainer, TextTail

KIB = 1024
CHUNKS = [b"%063d\n" % number for number in range(1000)]
CHUNK = CHUNKS[-1]
STREAM = b"".join(CHUNKS)
TEXTS = {"ASCII": "The quick brown fox. " * 4 * KIB, "CJK": "敏捷的棕色狐狸跳过懒狗。" * 6 * KIB}
EITHER_SCRIPT = pytest.mark.parametrize("script", TEXTS)


class ChunkDeque:
    """Head, tail and count as plain Python keeps them: whole chunks, dropped when no byte of them is needed.

    A push answers whether anything has been omitted so far, as ours does.
    """

    def __init__(self, head_bytes, tail_bytes):
        self.seen, self.budget = 0, head_bytes + tail_bytes
        self.head, self.head_left = [], head_bytes
        self.tail, self.tail_size, self.tail_bytes = deque(), 0, tail_bytes

    def push(self, chunk):
        self.seen += len(chunk)
        if self.head_left:
            part = chunk[: self.head_left]
            self.head.append(part)
            self.head_left -= len(part)
            chunk = chunk[len(part) :]
        self.tail.append(chunk)
        self.tail_size += len(chunk)
        while self.tail_size - len(self.tail[0]) >= self.tail_bytes:
            self.tail_size -= len(self.tail.popleft())
        return self.seen > self.budget


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
    chunks = pushed(ChunkDeque(8 * KIB, 8 * KIB), CHUNKS)
    assert ends(retainer) == (STREAM[: 8 * KIB], STREAM[-8 * KIB :])
    assert ends(retainer) == (b"".join(chunks.head), b"".join(chunks.tail)[-8 * KIB :])
    assert retainer.seen_bytes == chunks.seen
    pair(
        "`push(b)` of 64 bytes, head and tail of 8 KiB",
        "the same with a deque of chunks, in Python",
        pushes(retainer),
        pushes(chunks),
        times_faster=15,
        times=1000,
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
        times=100,
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
        times={"ASCII": 500, "CJK": 5}[script],
    )


@pytest.mark.parametrize(("what", "head_items", "at_most"), [("kept", 10_000, 1.1), ("beyond a head of 100", 100, 1.0)])
def test_push_item(pair, what, head_items, at_most):
    def new_retainer():
        return pushes(pushed(ItemRetainer(ItemHead(head_items)), already))[1]

    already = [] if what == "kept" else CHUNKS[:head_items]
    assert new_retainer()["push"](CHUNK).kept == (what == "kept")
    assert pushed(ItemRetainer(ItemHead(head_items)), CHUNKS).finish().items == CHUNKS[:head_items]
    pair(
        f"`ItemRetainer.push`, {what}",
        "`list.append`, from an empty list",
        ("push(chunk)", new_retainer),
        ("append(chunk)", lambda: {"append": [].append, "chunk": CHUNK}),
        at_most=at_most,
        times=1000,
    )


def test_extend_items(pair):
    items = list(range(10**6))
    strategy = ItemHead(100)
    retainer = ItemRetainer(strategy)
    retainer.extend(items)
    assert (retainer.finish().items, retainer.seen) == (items[:100], len(items))
    pair(
        "`ItemRetainer(ItemHead(100)).extend` by a list of a million",
        "its `[:100]`",
        ("Retainer(strategy).extend(items)", {"Retainer": ItemRetainer, "strategy": strategy, "items": items}),
        ("items[:100]", {"items": items}),
        at_most=10,
        times=50,
    )


@EITHER_SCRIPT
@pytest.mark.parametrize("strategy", [TextTail(16 * KIB), TextHeadTail(8 * KIB, 8 * KIB)], ids=["tail", "head_tail"])
def test_finish(pair, strategy, script):
    text = TEXTS[script]
    retainer = pushed(TextRetainer(strategy), [text[start : start + 100] for start in range(0, len(text), 100)])
    result = retainer.finish()
    kept = result.text.encode()
    assert 16 * KIB - 4 <= len(kept) <= 16 * KIB
    assert result.truncated
    assert result.text == kept.decode()
    what = "a tail of 16 KiB" if strategy.kind == "tail" else "head and tail of 8 KiB"
    pair(
        f"`finish()`, {what}, {script}",
        "`bytes.decode` of what is kept",
        ("finish()", {"finish": retainer.finish}),
        ("decode()", {"decode": kept.decode}),
        at_most=1.3,
        times={"ASCII": 50, "CJK": 3}[script],
    )
