"""One point of bench_scale.py, in a process of its own: its time, its memory, and whether its answer is right.

The job comes by standard input, as JSON: `who` keeps `head` and `tail` bytes of a stream of `total` bytes, which is
either one chunk pushed again and again, or what a command writes into a pipe.
"""

import json
import sys
from collections import deque
from itertools import repeat
from subprocess import PIPE, Popen
from time import perf_counter, process_time

from memory import resident

# A shorter time says little; what takes less is done again, from the beginning.
LEAST_SECONDS = 0.05
END = 8192


class Retained:
    """Ours."""

    def __init__(self, head, tail, **options):
        from retention import TextHeadTail, TextRetainer

        self.retainer = TextRetainer(TextHeadTail(head, tail), **options)
        self.push = self.retainer.push
        self.drain = self.retainer.drain

    def answer(self):
        kept = self.retainer.finish_bytes()
        return kept.seen_bytes, kept.head, kept.tail


class Counted(Retained):
    """Ours, counting lines."""

    def __init__(self, head, tail):
        super().__init__(head, tail, count_lines=True)

    def answer(self):
        assert self.retainer.finish().seen_lines is not None
        return super().answer()


class Chunks:
    """Whole chunks in a deque, dropped when no byte of them is needed."""

    def __init__(self, head, tail):
        self.seen, self.head, self.head_bytes = 0, b"", head
        self.chunks, self.size, self.tail_bytes = deque(), 0, tail

    def push(self, chunk):
        self.seen += len(chunk)
        if len(self.head) < self.head_bytes:
            self.head += chunk[: self.head_bytes - len(self.head)]
        self.chunks.append(chunk)
        self.size += len(chunk)
        while self.size - len(self.chunks[0]) >= self.tail_bytes:
            self.size -= len(self.chunks.popleft())

    def answer(self):
        return self.seen, self.head, b"".join(self.chunks)[-self.tail_bytes :]


class Slices:
    """A bytearray to which chunks are added, and of which the front is deleted."""

    def __init__(self, head, tail):
        self.seen, self.head, self.head_bytes = 0, b"", head
        self.tail, self.tail_bytes = bytearray(), tail

    def push(self, chunk):
        self.seen += len(chunk)
        if len(self.head) < self.head_bytes:
            self.head += chunk[: self.head_bytes - len(self.head)]
        self.tail += chunk
        del self.tail[: -self.tail_bytes]

    def answer(self):
        return self.seen, self.head, bytes(self.tail)


class Everything:
    """All of it, in a bytearray, and slices of that."""

    def __init__(self, head, tail):
        self.all, self.head_bytes, self.tail_bytes = bytearray(), head, tail
        self.push = self.all.extend

    def drain(self, source):
        block = bytearray(65536)
        view = memoryview(block)
        while size := source.readinto(block):
            self.push(view[:size])

    def answer(self):
        return len(self.all), bytes(self.all[: self.head_bytes]), bytes(self.all[-self.tail_bytes :])


class Last:
    """The floor: the chunk goes into a deque of one, which keeps nothing else and counts nothing."""

    def __init__(self, head, tail):
        self.last = deque(maxlen=1)
        self.push = self.last.append


WHO = {
    "retained": Retained,
    "counted": Counted,
    "chunks": Chunks,
    "slices": Slices,
    "everything": Everything,
    "last": Last,
}


def numbered(size):
    """A chunk of lines of 80 characters, each with a number, as far as there is room."""
    lines = (b"%015d %s\n" % (number, b"abcdefghijklmnop" * 3 + b"qrstuvwxyzabcde") for number in range(size // 80 + 1))
    return b"".join(lines)[:size]


def pushed(keeper, chunk, count):
    push = keeper.push
    for _ in repeat(None, count):
        push(chunk)
    return keeper


def check(keeper, chunk, count, head, tail):
    """Compare an answer with what a chunk gives that is repeated: without making more of it than is to be kept."""
    if isinstance(keeper, Last):
        assert list(keeper.last) == [chunk]
        return
    seen, first, last = keeper.answer()
    assert seen == len(chunk) * count, (seen, len(chunk), count)
    assert len(first) == head, (len(first), head)
    assert len(last) == tail, (len(last), tail)
    first, last = memoryview(first), memoryview(last)
    for start in range(0, head, len(chunk)):
        assert first[start : start + len(chunk)] == chunk[: head - start], start
    for end in range(tail, 0, -len(chunk)):
        piece = last[max(end - len(chunk), 0) : end]
        assert piece == chunk[len(chunk) - len(piece) :], end


def by_push(job, new):
    """Time and memory of a chunk that is pushed again and again; short streams are repeated, for a time that counts.

    The time is that of the processor: nothing waits here but for others who use it.
    """
    chunk, count, head, tail = numbered(job["chunk"]), job["count"], job["head"], job["tail"]
    # First on a small scale, so that what is imported is, and the answer is known to be right.
    few, end = 2 * END // len(chunk) + 2, min(head, END)
    check(pushed(new(end, end), chunk, few), chunk, few, end, end)
    before = resident()[0]
    seconds = pushes = 0
    keeper = None
    while seconds < LEAST_SECONDS:
        # The last one goes before the next one comes.
        keeper = None
        keeper = new(head, tail)
        start = process_time()
        pushed(keeper, chunk, count)
        seconds += process_time() - start
        pushes += count
    peak = resident()[1]
    check(keeper, chunk, count, head, tail)
    return {"seconds": seconds, "pushes": pushes, "before": before, "peak": peak}


def by_pipe(job, new):
    """Time and memory of what a command writes into a pipe."""
    head, tail = job["head"], job["tail"]
    drained(job["short"], new(head, tail), head, tail)
    before = resident()[0]
    start = perf_counter()
    drained(job["long"], new(head, tail), head, tail)
    return {"seconds": perf_counter() - start, "before": before, "peak": resident()[1]}


def drained(stream, keeper, head, tail):
    with Popen(stream["words"], stdout=PIPE, bufsize=0) as process:
        keeper.drain(process.stdout)
    expected = stream["seen"], bytes.fromhex(stream["first"])[:head], bytes.fromhex(stream["last"])[-tail:]
    assert process.returncode == 0
    assert keeper.answer() == expected


def main():
    job = json.load(sys.stdin)
    measure = by_pipe if "long" in job else by_push
    print(json.dumps(measure(job, WHO[job["who"]])))


if __name__ == "__main__":
    main()
