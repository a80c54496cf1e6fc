"""Peers that keep the ends of a stream of bytes. None of them cuts at a character."""

from collections import deque
from itertools import islice

from . import Peer

try:
    from pyring_buffer import RingBuffer
except ImportError:
    RingBuffer = None


class TextPeer(Peer):
    def text(self):
        head, tail = self.ends()
        return str(head, "utf-8", "replace") + str(tail, "utf-8", "replace")


class ChunkDeque(TextPeer):
    """Head, tail and count as plain Python keeps them: whole chunks, dropped when no byte of them is needed.

    A push answers whether anything has been omitted so far, as ours does.
    """

    name = "`deque` of chunks"
    lacks = "cuts at characters"
    kinds = ("tail", "head_tail")
    keeps_chunks = True

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

    def ends(self):
        return b"".join(self.head), b"".join(self.tail)[-self.tail_bytes :]


class HeadAndCount(TextPeer):
    """Slices of the first chunks; of the others the size is counted."""

    name = "first chunks, sizes of the rest"
    lacks = "cuts at characters"
    kinds = ("head",)
    ways = ("push", "extend")
    keeps_chunks = True

    def __init__(self, head_bytes, _):
        self.seen, self.budget = 0, head_bytes
        self.head, self.head_left = [], head_bytes

    def push(self, chunk):
        self.seen += len(chunk)
        if self.head_left:
            part = chunk[: self.head_left]
            self.head.append(part)
            self.head_left -= len(part)
        return self.seen > self.budget

    def extend(self, chunks):
        chunks = iter(chunks)
        while self.head_left and (chunk := next(chunks, None)) is not None:
            self.push(chunk)
        self.seen += sum(map(len, chunks))

    def ends(self):
        return b"".join(self.head), b""


class BytearrayDel(TextPeer):
    name = "`bytearray` with `del`"
    lacks = "counts, cuts at characters"
    kinds = ("tail",)

    def __init__(self, _, tail_bytes):
        self.tail, self.tail_bytes = bytearray(), tail_bytes

    def push(self, chunk):
        self.tail += chunk
        if len(self.tail) > self.tail_bytes:
            del self.tail[: -self.tail_bytes]

    def ends(self):
        return b"", self.tail


class BytearrayHeadTail(BytearrayDel):
    """The head in a second bytearray."""

    kinds = ("head_tail",)

    def __init__(self, head_bytes, tail_bytes):
        super().__init__(head_bytes, tail_bytes)
        self.head, self.head_left = bytearray(), head_bytes

    def push(self, chunk):
        if self.head_left:
            part = chunk[: self.head_left]
            self.head += part
            self.head_left -= len(part)
            chunk = chunk[len(part) :]
        self.tail += chunk
        if len(self.tail) > self.tail_bytes:
            del self.tail[: -self.tail_bytes]

    def ends(self):
        return self.head, self.tail


class Concatenation(TextPeer):
    name = "`(tail + chunk)[-n:]`"
    lacks = "counts, cuts at characters"
    kinds = ("tail",)

    def __init__(self, _, tail_bytes):
        self.tail, self.tail_bytes = b"", tail_bytes

    def push(self, chunk):
        self.tail = (self.tail + chunk)[-self.tail_bytes :]

    def ends(self):
        return b"", self.tail


class JoinThenSlice(TextPeer):
    name = "join, then slice"
    lacks = "a bound on memory, cuts at characters"
    kinds = ("head", "tail", "head_tail")
    ways = ("push", "extend")
    keeps_chunks = True
    empty = b""

    def __init__(self, head_bytes, tail_bytes):
        self.chunks, self.head_bytes, self.tail_bytes = [], head_bytes, tail_bytes
        self.push, self.extend = self.chunks.append, self.chunks.extend

    def ends(self):
        stream = self.empty.join(self.chunks)
        return stream[: self.head_bytes], stream[max(self.head_bytes, len(stream) - self.tail_bytes) :]


class JoinThenSliceStr(JoinThenSlice):
    """Its budget is in characters, so that it is right for ASCII only."""

    name = "join the `str`, then slice"
    lacks = "a bound on memory, a budget in bytes"
    takes_str = True
    empty = ""

    def ends(self):
        head, tail = super().ends()
        return head.encode(), tail.encode()

    def text(self):
        head, tail = super().ends()
        return head + tail


class ChunkMaxlen(TextPeer):
    name = "`deque(maxlen)` of chunks"
    lacks = "chunks of different sizes, counts, cuts at characters"
    kinds = ("tail",)
    ways = ("push", "extend")
    keeps_chunks = True
    one_size = True

    def __init__(self, _, tail_bytes, chunk_size):
        self.tail_bytes, self.chunks = tail_bytes, deque(maxlen=-(-tail_bytes // chunk_size))
        self.push, self.extend = self.chunks.append, self.chunks.extend

    def ends(self):
        return b"", b"".join(self.chunks)[-self.tail_bytes :]


class ChunkIslice(TextPeer):
    name = "`islice` of chunks"
    lacks = "chunks of different sizes, the probe, cuts at characters"
    kinds = ("head_stop",)
    ways = ("extend",)
    keeps_chunks = True
    one_size = True

    def __init__(self, head_bytes, _, chunk_size):
        self.head_bytes, self.count = head_bytes, -(-head_bytes // chunk_size)

    def extend(self, chunks):
        self.chunks = list(islice(chunks, self.count))

    def ends(self):
        return b"".join(self.chunks)[: self.head_bytes], b""


class PyringBuffer(TextPeer):
    name = "`pyring-buffer`"
    lacks = "counts, cuts at characters"
    kinds = ("tail",)
    missing = "" if RingBuffer else "pip install pyring-buffer"

    def __init__(self, _, tail_bytes):
        self.ring = RingBuffer(tail_bytes)
        self.push = self.ring.put

    def ends(self):
        return b"", self.ring.getvalue()


PEERS = (
    ChunkDeque,
    HeadAndCount,
    BytearrayDel,
    BytearrayHeadTail,
    Concatenation,
    JoinThenSlice,
    JoinThenSliceStr,
    ChunkMaxlen,
    ChunkIslice,
    PyringBuffer,
)
