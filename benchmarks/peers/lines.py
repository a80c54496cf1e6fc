"""Peers that keep the first and the last lines of a stream of bytes. Their budgets are in lines alone."""

from collections import deque
from itertools import islice

from . import Peer


class LinePeer(Peer):
    # It is right only where each chunk is a line.
    one_line = False

    def text(self):
        head, tail = self.ends()
        return str(head, "utf-8", "replace") + str(tail, "utf-8", "replace")


class LineDeque(LinePeer):
    """Splits each chunk, puts a broken line together again, counts lines."""

    name = "`deque(maxlen)` of split lines"
    lacks = "a bound on memory if a line is long"

    def __init__(self, head_lines, tail_lines):
        self.ended_lines, self.rest = 0, b""
        self.head, self.head_lines = [], head_lines
        self.tail, self.tail_lines = deque(maxlen=tail_lines), tail_lines

    def push(self, chunk):
        lines = (self.rest + chunk).split(b"\n")
        self.rest = lines.pop()
        self.ended_lines += len(lines)
        if room := self.head_lines - len(self.head):
            self.head += lines[:room]
            lines = lines[room:]
        self.tail.extend(lines)

    @property
    def seen_lines(self):
        return self.ended_lines + bool(self.rest)

    def ends(self):
        head, tail = ([line + b"\n" for line in lines] for lines in (self.head, self.tail))
        if self.rest:
            (head if len(head) < self.head_lines else tail).append(self.rest)
        return b"".join(head), b"".join(tail[max(len(tail) - self.tail_lines, 0) :])


class JoinThenSplit(LinePeer):
    name = "join, split, then slice"
    lacks = "a bound on memory"
    keeps_chunks = True

    def __init__(self, head_lines, tail_lines):
        self.chunks, self.head_lines, self.tail_lines = [], head_lines, tail_lines
        self.push = self.chunks.append

    def ends(self):
        lines = b"".join(self.chunks).split(b"\n")
        self.seen_lines = len(lines) - (not lines[-1])
        ended = b"\n" if 0 < self.head_lines < len(lines) else b""
        start = max(self.head_lines, self.seen_lines - self.tail_lines)
        return b"\n".join(lines[: self.head_lines]) + ended, b"\n".join(lines[start:])


class LineMaxlen(LinePeer):
    name = "`deque(maxlen)`"
    lacks = "chunks that are no lines, counts, a bound on memory if a line is long"
    kinds = ("tail",)
    ways = ("push", "extend")
    keeps_chunks = True
    one_line = True

    def __init__(self, _, tail_lines):
        self.tail = deque(maxlen=tail_lines)
        self.push, self.extend = self.tail.append, self.tail.extend

    def ends(self):
        return b"", b"".join(self.tail)


class LineIslice(LinePeer):
    name = "`islice`"
    lacks = "chunks that are no lines, the probe, a bound on memory if a line is long"
    kinds = ("head_stop",)
    ways = ("extend",)
    keeps_chunks = True
    one_line = True

    def __init__(self, head_lines, _):
        self.head_lines = head_lines

    def extend(self, lines):
        self.head = list(islice(lines, self.head_lines))

    def ends(self):
        return b"".join(self.head), b""


PEERS = (LineDeque, JoinThenSplit, LineMaxlen, LineIslice)
