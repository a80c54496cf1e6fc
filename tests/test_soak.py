"""Long runs: memory stays level, and counts exact. Not among the usual tests: `pytest -m soak -s`.

RETENTION_SOAK_SECONDS: how long programs are run one after another; an hour if it is not set.
"""

import gc
import os
import resource
import sys
import time

import pytest
from watch import descriptors

from retention import Omitted, Spill, TextHead, TextHeadTail, TextRetainer, TextTail, run

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux", reason="/proc tells how much memory is used"),
]

SECONDS = float(os.environ.get("RETENTION_SOAK_SECONDS", "3600"))
MIB, TIB = 1 << 20, 1 << 40
# What a process may take more than at its beginning, whatever it has seen since: arenas and caches of the allocators.
LEVEL = MIB
# Between two lines of progress, in seconds.
TICK = 10


def resident():
    """The memory of this process, in bytes."""
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


class Progress:
    """A line now and then, and in the end the figures."""

    def __init__(self, what):
        self.what, self.started = what, time.monotonic()
        self.last = self.started

    def tell(self, text, at_once=False):
        now = time.monotonic()
        if at_once or now - self.last >= TICK:
            self.last = now
            print(f"{self.what}, {now - self.started:.0f} s: {text}, {resident() / MIB:.1f} MiB", flush=True)


@pytest.mark.parametrize(
    "strategy",
    [
        TextHead(65536),
        TextTail(65536),
        TextHeadTail(65536, 65536),
        TextHeadTail(65536, 65536, head_lines=9, tail_lines=9),
    ],
    ids=["head", "tail", "both", "lines"],
)
def test_a_tebibyte(strategy):
    line = b"a line of thirty-two bytes each\n"
    chunk = line * (16 * MIB // len(line))
    retainer = TextRetainer(strategy)
    push = retainer.push
    push(chunk)
    before = resident()
    progress = Progress("a tebibyte")
    for number in range(1, TIB // len(chunk)):
        push(chunk)
        if number % 64 == 0:
            progress.tell(f"{number * len(chunk) / TIB:.3f} TiB")
    grown = resident() - before
    progress.tell(f"{retainer.seen_bytes} bytes, {grown} bytes more than at the beginning", at_once=True)
    result = retainer.finish()
    kept = len(result.head) + len(result.tail)
    assert (result.seen_bytes, result.omitted_bytes) == (TIB, Omitted("exact", TIB - kept))
    assert result.seen_lines in (None, TIB // len(line))
    assert result.text == line.decode() * (kept // len(line))
    assert grown < LEVEL


def test_a_billion_pushes_of_a_byte():
    count = 1_000_000_000
    retainer = TextRetainer(TextHeadTail(65536, 65536))
    push = retainer.push
    digits = [b"%d" % (number % 10) for number in range(1000)]
    for digit in digits * 200:
        push(digit)
    before = resident()
    progress = Progress("a billion pushes")
    for number in range(200, count // 1000):
        for digit in digits:
            push(digit)
        if number % 1000 == 0:
            progress.tell(f"{retainer.seen_bytes} pushes")
    grown = resident() - before
    progress.tell(f"{retainer.seen_bytes} pushes, {grown} bytes more than at the beginning", at_once=True)
    result = retainer.finish()
    assert (result.seen_bytes, result.omitted_bytes) == (count, Omitted("exact", count - 2 * 65536))
    # The tail ends with a 9, and begins with what is 65536 digits before.
    assert result.head == ("0123456789" * 6554)[:65536]
    assert result.tail == ("0123456789" * 6554)[-65536:]
    assert grown < LEVEL


def test_programs_one_after_another(tmp_path):
    strategy = TextHeadTail(1000, 1000)
    counts = dict.fromkeys(["read", "timed out", "stopped", "spilled"], 0)

    def one_of_each():
        result = run(["seq", "1000"], stdout=strategy)
        assert (result.returncode, result.eof, result.stdout.seen_bytes) == (0, True, 3893)
        result = run(["cat"], stdout=strategy, input=b"x" * 100_000)
        assert (result.returncode, result.eof, result.stdout.seen_bytes) == (0, True, 100_000)
        counts["read"] += 2
        result = run(["sleep", "60"], timeout=0.01, grace=0.05)
        assert (result.timed_out, result.returncode) == (True, -15)
        counts["timed out"] += 1
        result = run(["yes"], stdout=TextHead(100, stop="stop_when_full"))
        assert (result.stopped, result.stdout.text) == (True, "y\n" * 50)
        counts["stopped"] += 1
        path = tmp_path / "all"
        result = run(["seq", "1000"], stdout=strategy, spill=Spill(path))
        assert (result.spill.complete, path.stat().st_size) == (True, 3893)
        path.unlink()
        counts["spilled"] += 1

    for _ in range(50):
        one_of_each()
    before, opened = resident(), descriptors()
    progress = Progress("programs")
    while time.monotonic() - progress.started < SECONDS:
        one_of_each()
        progress.tell(str(counts))
    grown = resident() - before
    progress.tell(f"{counts}, {grown} bytes more than at the beginning", at_once=True)
    assert descriptors() == opened
    assert grown < LEVEL
