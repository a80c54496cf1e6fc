"""One retainer in many threads: while drains write to it without the GIL, and while none does."""

import contextlib
import gc
import itertools
import os
import subprocess
import sys
import sysconfig
import threading
from collections import defaultdict

import pytest
from processes import GIB, MIB, THOROUGH, interpreter
from watch import SOON, wait_for

from retention import (
    DrainResult,
    ItemHead,
    ItemHeadTail,
    ItemRetainer,
    ItemTail,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
    run,
)

pytestmark = pytest.mark.usefixtures("nothing_left")

# What all streams here repeat: of any part it can be told where it comes from.
LINE = b"0123456789abcde\n"
PERIOD = len(LINE)
LONG = GIB if THOROUGH else 256 * MIB


def pattern(start, size):
    """The part of an endless stream of LINE."""
    start %= PERIOD
    return (LINE * ((start + size) // PERIOD + 1))[start : start + size]


def check_bytes(result):
    """That a RetainedBytes belongs to one moment of a stream of LINE."""
    head, tail, seen = result.head, result.tail, result.seen_bytes
    assert len(head) + len(tail) + result.omitted_bytes.count == seen
    assert head == pattern(0, len(head))
    assert tail == pattern(seen - len(tail), len(tail))
    assert result.truncated is bool(result.omitted_bytes)
    return seen


def check_text(result):
    """That a RetainedText belongs to one moment of a stream of LINE."""
    head, tail, seen = result.head.encode(), result.tail.encode(), result.seen_bytes
    assert result.text == result.head + result.tail
    assert len(head) + len(tail) + result.omitted_bytes.count == seen
    assert head == pattern(0, len(head))
    assert tail == pattern(seen - len(tail), len(tail))
    assert result.truncated is bool(result.omitted_bytes)
    if result.seen_lines is not None:
        assert result.seen_lines == -(-seen // PERIOD)
    return seen


def check_notice(notice):
    return notice.kept + notice.omitted.count


def look(retainer):
    """One look by each method that changes nothing, at a stream of LINE; and that the stream never shrinks."""
    seen = [
        retainer.seen_bytes,
        check_text(retainer.finish()),
        check_bytes(retainer.finish_bytes()),
        check_notice(retainer.notice("log")),
        retainer.seen_bytes,
    ]
    assert seen == sorted(seen)
    before = retainer.truncated
    assert before <= retainer.truncated


class Workers:
    """Threads that do things again and again until all of them have done each many times, and no longer."""

    def __init__(self, *tasks, least=200):
        self.tasks, self.least = tasks, least
        self.counts = [0] * len(tasks)
        self.errors = []
        self.enough = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=[number]) for number in range(len(tasks))]

    def work(self, number):
        try:
            while not (self.enough.is_set() and self.counts[number] >= self.least):
                self.tasks[number]()
                self.counts[number] += 1
        except BaseException as error:
            self.errors.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *exception):
        self.enough.set()
        for thread in self.threads:
            thread.join(2 * SOON)
        assert not any(thread.is_alive() for thread in self.threads)
        for error in self.errors:
            raise error


@contextlib.contextmanager
def often_switching():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


@contextlib.contextmanager
def draining(retainer, holder, size):
    """A drain of LINE, `size` bytes of it, that goes on until the block has ended: its flag is set all the while."""
    answers = []
    script = f"yes {LINE.decode().strip()} | head -c {size}; {holder.command}"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, pass_fds=holder.fds) as source:
        thread = threading.Thread(target=lambda: answers.append(retainer.drain(source.stdout)))
        thread.start()
        try:
            yield
        finally:
            holder.release()
            thread.join(2 * SOON)
    assert answers == [DrainResult("eof", size)]


# While a drain goes on


STRATEGIES = [
    TextHead(1000),
    TextHead(10**12),
    TextTail(1000),
    TextTail(3 * MIB),
    TextHeadTail(8192, 8192),
    TextHeadTail(1001, 1003, head_lines=10, tail_lines=10),
]


def test_others_look_and_push_while_a_long_drain_comes_in(holder):
    retainer = TextRetainer(TextHeadTail(8192, 8192), count_lines=True)

    def push():
        retainer.push(LINE)

    def extend():
        retainer.extend([LINE, LINE.decode()])

    def sizes():
        for result in (retainer.finish(), retainer.finish_bytes()):
            parts = len(result.head) + len(result.tail)
            assert parts + result.omitted_bytes.count == result.seen_bytes
        notice = retainer.notice("log")
        assert notice.kept <= 16384
        assert retainer.truncated <= (retainer.seen_bytes > 16384)

    with draining(retainer, holder, LONG), Workers(push, extend, sizes) as workers:
        wait_for(lambda: retainer.seen_bytes >= LONG + (workers.counts[0] + 2 * workers.counts[1]) * PERIOD)
    pushed = workers.counts[0] + 2 * workers.counts[1]
    assert retainer.seen_bytes == LONG + pushed * PERIOD
    result = retainer.finish()
    assert result.seen_lines == LONG // PERIOD + pushed
    assert result.omitted_bytes.count == result.seen_bytes - 16384


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
@pytest.mark.parametrize("options", [{}, {"whole_lines": True}], ids=repr)
def test_each_look_at_a_drain_is_of_one_moment(strategy, options, holder):
    size = 16 * MIB if strategy == TextHead(10**12) else 32 * MIB
    retainer = TextRetainer(strategy, **options)

    def one_look():
        look(retainer)

    with draining(retainer, holder, size), Workers(one_look, one_look, least=20):
        wait_for(lambda: retainer.seen_bytes == size)
    assert check_text(retainer.finish()) == size


@pytest.mark.parametrize("chunk", [LINE, LINE.decode(), bytearray(LINE), memoryview(LINE * 100), "é€😀" * 5], ids=repr)
@pytest.mark.parametrize("strategy", STRATEGIES[2:], ids=repr)
def test_what_is_pushed_during_a_drain_is_counted_exactly(chunk, strategy, holder):
    retainer = TextRetainer(strategy)
    size = len(chunk.encode() if isinstance(chunk, str) else chunk)

    def push():
        retainer.push(chunk)

    with draining(retainer, holder, 8 * MIB), Workers(push, push, push):
        wait_for(lambda: retainer.seen_bytes > 8 * MIB)
    result = retainer.finish_bytes()
    assert (result.seen_bytes - 8 * MIB) % size == 0
    assert len(result.head) + len(result.tail) + result.omitted_bytes.count == result.seen_bytes


@pytest.mark.parametrize("strategy", STRATEGIES[2:], ids=repr)
def test_what_is_merged_during_a_drain_is_counted_exactly(strategy, holder):
    retainer, other = TextRetainer(strategy), TextRetainer(strategy)
    other.push(LINE)
    with draining(retainer, holder, 8 * MIB), Workers(lambda: retainer.merge(other)) as workers:
        wait_for(lambda: retainer.seen_bytes >= 8 * MIB)
    result = retainer.finish_bytes()
    assert result.seen_bytes == 8 * MIB + workers.counts[0] * PERIOD
    assert len(result.head) + len(result.tail) + result.omitted_bytes.count == result.seen_bytes


def test_what_is_pushed_during_a_drain_is_one_piece_in_the_stream(holder):
    # A push falls between two blocks of the drain, and is never divided.
    retainer = TextRetainer(TextHead(10**12))
    marker = b"<" + b"-" * 5000 + b">"
    with draining(retainer, holder, 8 * MIB), Workers(lambda: retainer.push(marker), least=50) as workers:
        wait_for(lambda: retainer.seen_bytes >= 8 * MIB + workers.counts[0] * len(marker))
    head = retainer.finish_bytes().head
    assert head.count(marker) == workers.counts[0]
    assert head.replace(marker, b"") == pattern(0, 8 * MIB)


def test_an_answer_to_a_push_is_of_the_moment_of_the_push(holder):
    retainer = TextRetainer(TextHead(4 * MIB))
    answers = []
    with draining(retainer, holder, 8 * MIB), Workers(lambda: answers.append(retainer.push(LINE)), least=500):
        wait_for(lambda: answers and answers[-1].truncated)
    truncated = [answer.truncated for answer in answers]
    assert truncated == sorted(truncated)
    assert [answer.kept for answer in answers] == [not value for value in truncated]
    assert truncated[-1]


def test_a_push_that_fills_the_head_stops_a_drain():
    retainer = TextRetainer(TextHead(10, stop="stop_when_full"))
    reader, writer = os.pipe()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(retainer.drain(reader)))
    thread.start()
    try:
        os.write(writer, b"y")
        wait_for(lambda: retainer.seen_bytes)
        assert retainer.push(b"x" * 11).should_stop
        # Nobody wakes the drain: it is the next block that tells.
        os.write(writer, b"y")
        thread.join(SOON)
        assert answers == [DrainResult("stopped", 2)]
    finally:
        os.close(writer)
        thread.join(SOON)
        os.close(reader)


def test_a_run_can_be_looked_at_from_other_threads():
    out, err = TextRetainer(TextTail(1000)), TextRetainer(TextHead(1000))
    line = LINE.decode().strip()
    with Workers(lambda: look(out), lambda: look(err), least=20):
        result = run(["sh", "-c", f"yes {line} | head -c {32 * MIB} | tee /dev/stderr"], stdout=out, stderr=err)
    assert check_text(result.stdout) == check_text(result.stderr) == 32 * MIB
    assert (result.stdout, result.stderr) == (out.finish(), err.finish())


@pytest.mark.parametrize("count", [2, 8])
def test_drains_at_once_into_one_retainer_are_counted_exactly(count):
    retainer = TextRetainer(TextHeadTail(1000, 1000), count_lines=True)
    answers = []

    def drain():
        with subprocess.Popen(["seq", "1000000"], stdout=subprocess.PIPE) as source:
            answers.append(retainer.drain(source.stdout))

    threads = [threading.Thread(target=drain) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    retainer.push("\n")
    assert answers == [DrainResult("eof", 6_888_896)] * count
    result = retainer.finish()
    assert (result.seen_bytes, result.seen_lines) == (count * 6_888_896 + 1, count * 1_000_000 + 1)
    assert result.omitted_bytes.count == result.seen_bytes - 2000


@pytest.mark.parametrize("strategy", STRATEGIES[2:], ids=repr)
def test_drains_of_nothing_during_another_change_nothing(strategy, tmp_path):
    retainer = TextRetainer(strategy)
    long = tmp_path / "long"
    long.touch()
    os.truncate(long, LONG)
    with open(long, "rb") as source, open(os.devnull, "rb") as nothing:
        thread = threading.Thread(target=retainer.drain, args=[source])
        thread.start()
        while thread.is_alive():
            assert retainer.drain(nothing) == DrainResult("eof", 0)
        thread.join()
    result = retainer.finish_bytes()
    assert result.seen_bytes == LONG
    assert len(result.head) + len(result.tail) + result.omitted_bytes.count == LONG


def test_a_drain_that_fails_leaves_the_retainer_usable():
    retainer = TextRetainer(TextHead(100))
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)
    with pytest.raises(OSError, match="descriptor"):
        retainer.drain(reader)
    retainer.push("abc")
    assert retainer.finish().text == "abc"


# Code that runs inside of a method while a drain goes on: it may use the retainer too


INSIDE = """
import gc, os, signal, sys, threading
from retention import *

def while_draining(retainer, body):
    # The drain waits for a pipe that stays empty, and its flag is set.
    reader, writer = os.pipe()
    thread = threading.Thread(target=retainer.drain, args=[reader])
    os.write(writer, b"x" * 1000)
    thread.start()
    while retainer.seen_bytes < 1000:
        pass
    body()
    os.close(writer)
    thread.join()
    os.close(reader)
"""


# The collector runs at allocations, and what it runs may be anybody's code.
COLLECTING = """
retainer = TextRetainer(TextHeadTail(101, 103, head_lines=50), count_lines=True)

def collecting_always(method):
    # Results are kept, so that no free list spares an allocation; as many others come between, more or less, so that
    # each allocation of the method is once the one that collects.
    kept = []
    gc.callbacks.append(collected)
    gc.set_threshold(1, 1, 1)
    for number in range(500):
        kept.append((method(), *[(number, other) for other in range(number % 7)]))
    gc.set_threshold(0)
    gc.callbacks.clear()
    return [entry[0] for entry in kept]

METHODS = {
    "finish": lambda: retainer.finish(),
    "finish_bytes": lambda: retainer.finish_bytes(),
    "notice": lambda: retainer.notice("log"),
    "notice in lines": lambda: retainer.notice("log", "lines"),
    "push": lambda: retainer.push(b"abc"),
    "push text": lambda: retainer.push("é€😀"),
    "push a view": lambda: retainer.push(memoryview(b"abc")),
    "extend": lambda: retainer.extend([b"abc", "é"]),
    "seen_bytes": lambda: retainer.seen_bytes,
    "truncated": lambda: retainer.truncated,
    "repr": lambda: repr(retainer),
}
"""
USERS = [
    "finish", "finish_bytes", "notice", "notice in lines", "push", "push text", "push a view", "extend", "seen_bytes",
    "truncated", "repr",
]  # fmt: skip


@pytest.mark.parametrize("method", USERS)
def test_code_that_the_collector_runs_may_use_the_retainer_during_a_drain(method):
    answers = interpreter(
        INSIDE
        + COLLECTING
        + """
def collected(phase, info):
    retainer.seen_bytes, retainer.finish_bytes(), retainer.push(b"x")

while_draining(retainer, lambda: collecting_always(METHODS[method]))
print("done")
""",
        method=method,
    )
    assert answers == "done\n"


@pytest.mark.parametrize("method", USERS)
def test_code_that_the_collector_runs_may_let_other_threads_use_the_retainer_during_a_drain(method):
    answers = interpreter(
        INSIDE
        + COLLECTING
        + """
over = False

def collected(phase, info):
    for _ in range(100):
        pass

def others():
    while not over:
        retainer.push("x")
        retainer.finish_bytes()

def body():
    global over
    other = threading.Thread(target=others)
    other.start()
    collecting_always(METHODS[method])
    over = True
    other.join()

sys.setswitchinterval(1e-6)
while_draining(retainer, body)
print("done")
""",
        method=method,
    )
    assert answers == "done\n"


@pytest.mark.parametrize("begin", ["while_draining(retainer, check)", "check()"], ids=["drained", "alone"])
@pytest.mark.parametrize("method", ["finish", "finish_bytes"])
def test_code_that_the_collector_runs_may_push_and_each_result_is_of_one_moment(method, begin):
    answers = interpreter(
        INSIDE
        + COLLECTING
        + """
stream = bytearray(b"x" * 1000 if "drain" in begin else b"")

def collected(phase, info):
    chunk = b"%d\\n" % len(stream) * 7
    stream.extend(chunk)
    retainer.push(chunk)

def check():
    for result in collecting_always(METHODS[method]):
        seen = result.seen_bytes
        head, tail = [part.encode() if isinstance(part, str) else part for part in (result.head, result.tail)]
        assert len(head) + len(tail) + result.omitted_bytes.count == seen, result
        assert head == stream[:len(head)] and tail == stream[seen - len(tail):seen], result

exec(begin)
print("done")
""",
        method=method,
        begin=begin,
    )
    assert answers == "done\n"


def test_a_retainer_takes_a_state_and_is_copied_and_merged_during_a_drain():
    answers = interpreter(
        """
        import copy, os, threading, time
        from retention import TextRetainer, TextTail

        retainer, other = TextRetainer(TextTail(20)), TextRetainer(TextTail(20))
        other.push("other ")
        reader, writer = os.pipe()
        thread = threading.Thread(target=retainer.drain, args=[reader])
        thread.start()
        # It has not read anything, and most probably has begun.
        time.sleep(0.2)
        retainer.__setstate__(other.__reduce__()[2])
        print(copy.copy(retainer).finish().text)
        retainer.merge(other)
        other.merge(retainer)
        os.write(writer, b"end")
        os.close(writer)
        thread.join()
        print(retainer.finish().text, other.finish().text, sep="\\n")
        """
    )
    assert answers == "other \nother other end\nother other other \n"


def test_an_error_handler_may_use_the_retainer():
    answers = interpreter(
        INSIDE
        + """
import codecs

def asking(error):
    retainer.push(b"!")
    return ("?" * (retainer.finish_bytes().seen_bytes > 0), error.end)

codecs.register_error("asking", asking)
retainer = TextRetainer(TextHeadTail(10, 10), errors="asking")
retainer.push(b"\\xff")
while_draining(retainer, lambda: print(retainer.finish().head, retainer.seen_bytes))
"""
    )
    assert answers == "?xxxxxxxxx 1002\n"


def test_the_iterable_of_an_extend_may_use_the_retainer():
    answers = interpreter(
        INSIDE
        + """
def chunks():
    for number in range(100):
        yield str(number)
        retainer.finish()
        retainer.push("x")
        reader, writer = os.pipe()
        os.write(writer, b"abc")
        os.close(writer)
        retainer.drain(reader)
        os.close(reader)

retainer = TextRetainer(TextHeadTail(10, 10))
while_draining(retainer, lambda: retainer.extend(chunks()))
print(retainer.seen_bytes)
"""
    )
    assert answers == f"{1000 + 190 + 400}\n"


def test_a_signal_handler_may_use_the_retainer_that_is_being_drained():
    answers = interpreter(
        """
        import signal, subprocess
        from retention import TextHeadTail, TextRetainer
        retainer = TextRetainer(TextHeadTail(100, 100))
        pushed = 0

        def handler(number, frame):
            global pushed
            retainer.finish(), retainer.seen_bytes, retainer.push(b"abc")
            pushed += 3

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for script in ("for i in 1 2 3; do echo $i; sleep 0.1; done", "head -c 100000000 /dev/zero"):
            with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as source:
                print(retainer.drain(source.stdout).nbytes)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(pushed > 10, retainer.seen_bytes == 100_000_006 + pushed)
        """
    )
    assert answers == "6\n100000000\nTrue True\n"


# All pairs of methods


METHODS = {
    "push": lambda retainer: retainer.push(LINE),
    "push text": lambda retainer: retainer.push(LINE.decode() * 3),
    "push much": lambda retainer: retainer.push(LINE * 1000),
    "extend": lambda retainer: retainer.extend([LINE, LINE.decode()]),
    "finish": lambda retainer: check_text(retainer.finish()),
    "finish_bytes": lambda retainer: check_bytes(retainer.finish_bytes()),
    "notice": lambda retainer: check_notice(retainer.notice("log")),
    "seen_bytes": lambda retainer: retainer.seen_bytes,
    "truncated": lambda retainer: retainer.truncated,
    "repr": repr,
}
PUSHED = {"push": 1, "push text": 3, "push much": 1000, "extend": 2}
ROUNDS = 50


@pytest.mark.parametrize("drained", [False, True], ids=["alone", "drained"])
@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(METHODS, 2)), ids=" and ".join)
def test_all_pairs_of_methods_in_8_threads(pair, drained):
    # Every stream that an order of the pushes can give is one of whole periods: each result tells which.
    retainer = TextRetainer(TextHeadTail(1001, 1003), count_lines=True)

    def work(method):
        for _ in range(ROUNDS):
            method(retainer)

    with often_switching(), first_drained(retainer, LINE) if drained else contextlib.nullcontext():
        errors = in_threads([lambda name=name: work(METHODS[name]) for name in pair * 4])
    assert errors == []
    assert retainer.seen_bytes == (drained + sum(PUSHED.get(name, 0) for name in pair) * 4 * ROUNDS) * PERIOD
    assert check_text(retainer.finish()) == check_bytes(retainer.finish_bytes()) == retainer.seen_bytes


@pytest.mark.parametrize("drained", [False, True], ids=["alone", "drained"])
def test_text_that_is_not_ascii_is_pushed_whole(drained):
    retainer = TextRetainer(TextHeadTail(3000, 3000))
    with often_switching(), first_drained(retainer, "é€😀".encode()) if drained else contextlib.nullcontext():
        errors = in_threads([lambda: [retainer.push("é€😀") for _ in range(300)] for _ in range(8)])
    assert errors == []
    result = retainer.finish()
    assert result.seen_bytes == (drained + 8 * 300) * 9
    assert result.head == "é€😀" * 333 + "é"
    assert result.tail == "é€😀" * 333


# Items: each thread's are numbered, so that a result tells whether some order of the pushes gives it


def check_items(result):
    """That a RetainedItems belongs to one moment of a stream in which each thread's items are in their order."""
    seen, head, tail = result.seen, result.head, result.tail
    assert result.items == head + tail
    assert len(head) + len(tail) + result.omitted.count == seen
    assert result.truncated is bool(result.omitted)
    numbers = defaultdict(list)
    for thread, number in head:
        numbers[thread].append(number)
    stops = {thread: len(some) for thread, some in numbers.items()}
    assert all(some == list(range(len(some))) for some in numbers.values())
    numbers.clear()
    for thread, number in tail:
        numbers[thread].append(number)
    assert all(some == list(range(some[0], some[0] + len(some))) for some in numbers.values())
    omitted = [some[0] - stops.get(thread, 0) for thread, some in numbers.items()]
    assert all(count >= 0 for count in omitted)
    assert sum(omitted) <= result.omitted.count
    return seen


def of_thread(thread, start, size):
    return [(thread, number) for number in range(start, start + size)]


def merge_part(retainer, items):
    part = ItemRetainer(retainer.strategy)
    part.extend(items)
    retainer.merge(part)


def add_part(retainer, items):
    # The sum is another retainer: that this one has not changed is part of the test.
    part = ItemRetainer(retainer.strategy)
    part.extend(items)
    before = retainer.seen
    assert before + len(items) <= check_items((retainer + part).finish()) <= retainer.seen + len(items)


# Each takes so many items of its thread.
ITEM_METHODS = {
    "push": (1, lambda retainer, items: retainer.push(items[0])),
    "extend": (3, lambda retainer, items: retainer.extend(iter(items))),
    "extend by a list": (5, lambda retainer, items: retainer.extend(items)),
    "extend by much": (300, lambda retainer, items: retainer.extend(tuple(items))),
    "merge": (300, merge_part),
    "add": (0, add_part),
    "finish": (0, lambda retainer, items: check_items(retainer.finish())),
    "notice": (0, lambda retainer, items: check_notice(retainer.notice("log"))),
    "truncated": (0, lambda retainer, items: retainer.truncated),
    "repr": (0, lambda retainer, items: repr(retainer)),
}


@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(ITEM_METHODS, 2)), ids=" and ".join)
def test_all_pairs_of_methods_for_items_in_8_threads(pair):
    retainer = ItemRetainer(ItemHeadTail(101, 103))

    def work(thread, size, method):
        for number in range(ROUNDS):
            method(retainer, of_thread(thread, number * size, size))

    methods = [ITEM_METHODS[name] for name in pair * 4]
    with often_switching():
        errors = in_threads([lambda task=(thread, *method): work(*task) for thread, method in enumerate(methods)])
    assert errors == []
    result = retainer.finish()
    assert retainer.seen == check_items(result) == sum(size for size, _ in methods) * ROUNDS
    assert (len(result.head), len(result.tail)) in ((101, 103), (result.seen, 0))


@pytest.mark.parametrize("strategy", [ItemHead(1000), ItemTail(1000), ItemHeadTail(2, 1000)], ids=repr)
def test_each_look_at_items_while_they_are_pushed_is_of_one_moment(strategy):
    retainer = ItemRetainer(strategy)
    looks = []

    def push(thread):
        for item in of_thread(thread, 0, 5000):
            retainer.push(item)

    def look():
        seen = [retainer.seen, check_items(retainer.finish()), check_notice(retainer.notice("log")), retainer.seen]
        assert seen == sorted(seen)
        looks.append(seen)

    with Workers(look, look, least=20):
        errors = in_threads([lambda thread=thread: push(thread) for thread in range(6)])
    assert errors == []
    assert retainer.seen == check_items(retainer.finish()) == 30_000


def test_two_that_are_merged_into_each_other_are_merged_in_some_order():
    for _ in range(300):
        one, other = ItemRetainer(ItemHead(10)), ItemRetainer(ItemHead(10))
        one.push("one")
        other.push("other")
        assert in_threads([lambda: one.merge(other), lambda: other.merge(one)]) == []  # noqa: B023
        assert (one.finish().items, other.finish().items) in (
            (["one", "other"], ["other", "one", "other"]),
            (["one", "other", "one"], ["other", "one"]),
        )


def test_one_that_is_merged_into_itself_in_8_threads_is_doubled_each_time():
    retainer = ItemRetainer(ItemHeadTail(3, 3))
    retainer.push("a")
    assert in_threads([lambda: [retainer.merge(retainer) for _ in range(5)]] * 8) == []
    assert retainer.seen == 2**40


@pytest.mark.parametrize("make", [list, iter], ids=["list", "iterator"])
def test_items_that_push_when_they_are_displaced_are_counted_in_all_threads(make):
    retainer = ItemRetainer(ItemTail(10))
    last_words = []

    class Last:
        def __del__(self):
            retainer.push("last words")
            last_words.append(1)

    def work():
        for _ in range(50):
            retainer.push(Last())
            retainer.extend(make([Last() for _ in range(15)]))

    with often_switching():
        assert in_threads([work] * 8) == []
    while any(type(item) is Last for item in retainer.finish().items):
        retainer.push(None)
        last_words.append(1)
    assert retainer.seen == 8 * 50 * 16 + len(last_words)
    assert len(retainer.finish().tail) == 10


def test_an_item_that_waits_for_a_thread_that_pushes_when_it_is_displaced():
    # Who holds the lock waits for the retainer, and whose item is displaced waits for the lock.
    retainer = ItemRetainer(ItemTail(1))
    lock = threading.RLock()

    class Last:
        def __del__(self):
            with lock:
                pass

    def push_locked():
        for _ in range(1000):
            with lock:
                retainer.push(None)

    def push():
        for _ in range(1000):
            retainer.push(Last())
            retainer.push(None)

    with often_switching():
        assert in_threads([push_locked, push, push]) == []
    assert retainer.seen == 5000


@pytest.mark.parametrize("strategy", [ItemHead(50), ItemTail(50), ItemHeadTail(50, 50)], ids=repr)
def test_a_list_that_another_thread_changes_while_it_extends(strategy):
    retainer = ItemRetainer(strategy)
    source = []

    def change():
        for size in range(300):
            source.extend(range(size))
            del source[size // 2 :]
            source.clear()

    def extend():
        for _ in range(300):
            retainer.extend(source)

    with often_switching():
        assert in_threads([change, extend] * 4) == []
    result = retainer.finish()
    head, tail = strategy._ends()
    assert result.kept == min(result.seen, head + tail)
    assert all(type(item) is int for item in result.items)


def test_a_list_of_chunks_that_another_thread_changes_while_it_extends():
    retainer = TextRetainer(TextTail(PERIOD * 100))
    source = []

    def change():
        for size in range(300):
            source.extend([LINE] * size)
            del source[size // 2 :]
            source.clear()

    with often_switching():
        assert in_threads([change, lambda: [retainer.extend(source) for _ in range(300)]] * 4) == []
    assert check_text(retainer.finish()) % PERIOD == 0


def test_spoiling_the_hidden_lists_in_another_thread_spoils_no_memory():
    # What is kept is nonsense then, which is the spoiler's own affair.
    retainer = ItemRetainer(ItemHeadTail(20, 20))
    part = ItemRetainer(retainer.strategy)
    part.extend(range(100))

    def spoil():
        for number in range(2000):
            for found in gc.get_referents(retainer):
                if type(found) is list:
                    found.append(number)
                    del found[number % 20 :]

    def use():
        for number in range(1000):
            retainer.push(str(number))
            retainer.extend([str(number)] * (number % 50))
            retainer.finish()
            retainer.merge(part)

    with often_switching():
        assert in_threads([spoil, use] * 4) == []
    assert all(type(item) in (int, str) for item in retainer.finish().items)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="a build with a GIL")
def test_importing_every_module_leaves_the_gil_off():
    answers = interpreter(
        """
        import importlib, pkgutil, sys
        import retention
        for module in pkgutil.iter_modules(retention.__path__, "retention."):
            if module.name != "retention.__main__":
                importlib.import_module(module.name)
        print("retention._engine" in sys.modules, sys._is_gil_enabled())
        """
    )
    assert answers == "True False\n"


def in_threads(tasks):
    """Do all tasks at once; returns what they raised."""
    errors = []
    start = threading.Barrier(len(tasks))

    def work(task):
        try:
            start.wait(SOON)
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=[task]) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert not any(thread.is_alive() for thread in threads)
    return errors


@contextlib.contextmanager
def first_drained(retainer, chunk):
    """Drains a chunk, and goes on waiting for more: methods take the lock all the while, and nobody else writes."""
    reader, writer = os.pipe()
    os.write(writer, chunk)
    thread = threading.Thread(target=retainer.drain, args=[reader])
    thread.start()
    try:
        wait_for(lambda: retainer.seen_bytes == len(chunk))
        yield
    finally:
        os.close(writer)
        thread.join(SOON)
        os.close(reader)
    assert not thread.is_alive()
