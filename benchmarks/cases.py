"""What the matrices push: contents, types and sizes of chunks; and what feeds it to a retainer or to a peer.

A matrix is no full product. Each axis is covered against the defaults of the others, and the size of chunks against
every strategy and every type, since what a push costs depends on it most.
"""

from dataclasses import dataclass
from functools import cache, partial

import pytest

from retention import TextHead, TextHeadTail, TextTail

from .peers import programs

KIB = 1024
SIZES = {"16 B": 16, "256 B": 256, "4 KiB": 4 * KIB, "64 KiB": 64 * KIB, "1 MiB": 1024 * KIB}
LONGEST = 8 * 1024 * KIB
BUDGET = 16 * KIB
# By kind: the strategy, and the budgets that a peer is made with.
STRATEGIES = {
    "head": (TextHead(BUDGET), BUDGET, 0),
    "head_stop": (TextHead(BUDGET, stop="stop_when_full"), BUDGET, 0),
    "tail": (TextTail(BUDGET), 0, BUDGET),
    "head_tail": (TextHeadTail(BUDGET // 2, BUDGET // 2), BUDGET // 2, BUDGET // 2),
}
ENDS = {
    "head": "head of 16 KiB",
    "head_stop": "head of 16 KiB, stopping",
    "tail": "tail of 16 KiB",
    "head_tail": "head and tail of 8 KiB",
}

# As programs print them: lines of 29 to 108 bytes; Chinese lines; a binary's, with what UTF-8 does not allow.
LINES = {
    "log": [f"07:08:{n % 60:02d}.{n:03d} INFO worker {n % 7}: {'.' * (n % 80)}\n".encode() for n in range(999)],
    "CJK": [f"{n:03d} 敏捷的棕色狐狸跳过懒狗{'。' * (n % 30)}\n".encode() for n in range(999)],
    "malformed": [b"%03d \xff\xfe\xc3( \xe2\x82 \xf0\x9f\x92 \x80\x80%s\n" % (n, b"\0" * (n % 50)) for n in range(999)],
}
# Characters of 1, 3 and 4 bytes.
SCRIPTS = {"str ASCII": "The quick brown fox.\n", "str CJK": "敏捷的棕色狐狸跳过懒狗。", "str emoji": "😀🦊🐕👍"}
BUFFERS = {"bytes": bytes, "bytearray": bytearray, "memoryview": lambda data: memoryview(bytearray(data))}
TYPES = [*BUFFERS, *SCRIPTS]


@cache
def stream_of(content):
    block = b"".join(LINES[content])
    return block * (LONGEST // len(block) + 1)


@cache
def text_of(script):
    unit = SCRIPTS[script] * 1000
    return unit * (LONGEST // len(unit.encode()) + 1)


def chunk_count(size):
    """Chunks of 256 KiB, or eight of them."""
    return max(256 * KIB // SIZES[size], 8)


@dataclass(frozen=True)
class Case:
    """A stream: strategy, size and type of its chunks, content."""

    kind: str = "tail"
    size: str = "256 B"
    type: str = "bytes"
    content: str = "log"

    def __str__(self):
        content = "" if self.type in SCRIPTS else f", {self.content}"
        return f"{ENDS[self.kind]}, chunks of {self.size}, {self.type}{content}"

    @property
    def id(self):
        return f"{self.kind}-{self.size}-{self.type}-{self.content}".replace(" ", "_")

    def chunks(self):
        """Chunks of equal size in bytes, and of whole characters where they are str."""
        size, count = SIZES[self.size], chunk_count(self.size)
        if self.type in SCRIPTS:
            text = text_of(self.type)
            size //= len(text[0].encode())
            return [text[start : start + size] for start in range(0, count * size, size)]
        stream = stream_of(self.content)
        return [BUFFERS[self.type](stream[start : start + size]) for start in range(0, count * size, size)]


def matrix(rows, quick):
    """Parameters for rows of (way, case, peer); those whose case is not in `quick` are marked `full`."""
    return [
        pytest.param(
            way,
            case,
            peer,
            id=f"{way}-{case.id}-{getattr(peer, '__name__', 'program')}",
            marks=() if case in quick else pytest.mark.full,
        )
        for way, case, peer in rows
    ]


def fed(sink, way, chunks):
    if way == "extend":
        sink.extend(chunks)
    else:
        for chunk in chunks:
            sink.push(chunk)
    return sink


def conversion(peer, chunk):
    """What makes of all chunks what a peer can take: a function, or None if it takes them as they are."""
    if isinstance(chunk, str):
        return None if peer.takes_str else partial(map, str.encode)
    return partial(map, bytes) if peer.keeps_chunks and isinstance(chunk, bytearray | memoryview) else None


def whole(way, make, budgets, finish, chunks, source=None):
    """The statement, and its names, for a whole stream: a retainer or a peer is made, fed and asked for its answer.

    source: makes of the chunks, each time, what is fed.
    """
    names = {"make": make, "budgets": budgets, "chunks": chunks} | ({"source": source} if source else {})
    chunks = "source(chunks)" if source else "chunks"
    push = f"push = sink.push\nfor chunk in {chunks}:\n    push(chunk)"
    feed = push if way == "push" else f"sink.extend({chunks})"
    return f"sink = make(*budgets)\n{feed}\nsink.{finish}()", names


def missing(peer):
    if peer.missing:
        pytest.skip(peer.missing)


def answer(program, *work):
    try:
        return program.run(*work)
    except programs.MissingError as error:
        pytest.skip(str(error))
