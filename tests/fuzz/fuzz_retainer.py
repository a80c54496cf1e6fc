"""Any operations on retainers of any settings, against the model of the whole stream.

    python tests/fuzz/fuzz_retainer.py -max_total_time=60 FOUND tests/fuzz/corpus/retainer

New inputs go to the folder FOUND, which must exist. Needs Atheris. It sees into the extension, and AddressSanitizer
watches, if that was built by clang, with nothing left in build/ of another compiler:

    CC=clang LDSHARED="clang -shared" CFLAGS="-fsanitize=address,fuzzer-no-link" pip install -e '.[test,fuzz]'
    export LD_PRELOAD="$(python -c 'import atheris; print(atheris.path())')/asan_with_fuzzer.so"
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 PYTHONMALLOC=malloc

With -merge=1 and an empty folder before the others, it keeps there what is needed of them. test_fuzz.py runs the inputs
of the corpus without all this.
"""

import contextlib
import copy
import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import reference
from fuzz.inputs import Input, fuzz
from streams import BUFFERS

from retention import (
    ItemHead,
    ItemHeadTail,
    ItemRetainer,
    ItemTail,
    PushDecision,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
)

# By the bytes from 240 on; those below are budgets themselves.
LARGE = [250, 256, 700, 1023, 1024, 1027, 2048, 4096, 5000, 9000, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30]
LINES = [None, None, 0, 1, 2, 3, 4, 7, 20, 10**30]
ERRORS = ["replace", "ignore", "backslashreplace", "surrogateescape", "strict"]
STOPS = ["read_to_end", "stop_when_full"]
REPEATS = [1, 1, 1, 1, 2, 5, 40, 300]

# The model takes the square of the stream's length where lines are limited.
MOST, MOST_LINES = 20_000, 300
MOST_OPERATIONS = 40


def budget(source):
    number = source.byte()
    return number if number < 240 else LARGE[number - 240]


def outcome(function, *args, **kwargs):
    """What a function returns, or the type of what it raises for a stream that a strict decoder refuses."""
    try:
        return function(*args, **kwargs)
    except UnicodeDecodeError as error:
        return type(error)


def decision(strategy, before, chunk):
    return reference.decisions(strategy, [before, chunk])[-1]


def extended(strategy, stream, chunks):
    """The stream after extending it by chunks, how many were taken, and the answer."""
    kept, stop, taken = True, False, 0
    while taken < len(chunks) and not stop:
        answer = decision(strategy, stream, chunks[taken])
        stream = stream + chunks[taken]
        kept, stop, taken = kept and answer.kept, answer.should_stop, taken + 1
    truncated = decision(strategy, stream, stream[:0]).truncated
    return stream, taken, PushDecision(kept, truncated, stop)


class Text:
    """Retainers of one strategy and settings beside the streams that they have seen."""

    def __init__(self, source):
        kind = source.choice([TextHead, TextTail, TextHeadTail])
        if kind is TextHeadTail:
            lines = {"head_lines": source.choice(LINES), "tail_lines": source.choice(LINES)}
            self.strategy = kind(budget(source), budget(source), **lines)
        else:
            lines = {"max_lines": source.choice(LINES)}
            how = {"stop": source.choice(STOPS)} if kind is TextHead else {}
            self.strategy = kind(budget(source), **lines, **how)
        self.settings = {
            "errors": source.choice(ERRORS),
            "whole_lines": source.flag(),
            "count_lines": source.flag(),
        }
        self.limit = MOST if set(lines.values()) == {None} else MOST_LINES
        self.empty = b""

    def fresh(self):
        return TextRetainer(self.strategy, **self.settings)

    def seen(self, retainer):
        return retainer.seen_bytes

    def chunk(self, source, room):
        """A chunk of any type, and the bytes that it stands for."""
        data = source.take(source.byte() % 64) * source.choice(REPEATS)
        kind = source.choice([*BUFFERS, "str", "str"])
        if kind != "str":
            return BUFFERS[kind](data[:room]), data[:room]
        text = source.text(data)[: room // 4]
        return text, reference.encoded(text)

    def refused(self, source, retainer):
        """A call that changes nothing and what it raises."""
        return source.choice([
            (retainer.push, None, TypeError),
            (retainer.push, [b"a"], TypeError),
            (retainer.push, memoryview(b"abcd")[::2], BufferError),
            (retainer.extend, "abcd", TypeError),
            (retainer.merge, b"abcd", TypeError),
            (retainer.merge, TextRetainer(TextHead(1234)), ValueError),
        ])  # fmt: skip

    def check(self, retainer, stream):
        expected = outcome(reference.text, self.strategy, stream, **self.settings)
        assert outcome(retainer.finish) == expected, (self.strategy, self.settings, stream[-99:])
        raw = reference.raw(self.strategy, stream)
        assert retainer.finish_bytes() == raw, (self.strategy, self.settings, stream[-99:])
        assert (retainer.seen_bytes, retainer.truncated) == (len(stream), raw.truncated)
        if isinstance(expected, type):
            return
        notice = retainer.notice("scope")
        assert (notice.omitted, notice.kept) == (expected.omitted_bytes, len(stream) - expected.omitted_bytes.count)

    def check_unknown(self, retainer):
        """A stream of which only a state is known."""
        raw = retainer.finish_bytes()
        assert len(raw.head) + len(raw.tail) + raw.omitted_bytes.count == raw.seen_bytes == retainer.seen_bytes
        result = outcome(retainer.finish)
        if not isinstance(result, type):
            assert result.seen_bytes == raw.seen_bytes
            assert result.omitted_bytes.count >= raw.omitted_bytes.count
            retainer.notice("scope")

    def field(self, source):
        """What a state may be damaged by."""
        number = source.byte() + 256 * source.byte()
        return source.choice([
            lambda: number, lambda: -1, lambda: 2 ** (number % 70) - 1, lambda: number % 2 == 1, lambda: None,
            lambda: source.take(number % 64), lambda: b"\n" * number,
            lambda: source.choice([*ERRORS, "no such handler"]),
        ])()  # fmt: skip


class Items(Text):
    """The same with items."""

    def __init__(self, source):
        kind = source.choice([ItemHead, ItemTail, ItemHeadTail])
        if kind is ItemHeadTail:
            self.strategy = kind(budget(source), budget(source))
        else:
            how = {"stop": source.choice(STOPS)} if kind is ItemHead else {}
            self.strategy = kind(budget(source), **how)
        self.limit = 2000
        self.empty = []

    def fresh(self):
        return ItemRetainer(self.strategy)

    def seen(self, retainer):
        return retainer.seen

    def chunk(self, source, room):
        item = (source.byte(),)
        return item, [item]

    def refused(self, source, retainer):
        return source.choice([
            (retainer.extend, 7, TypeError),
            (retainer.merge, [], TypeError),
            (retainer.merge, ItemRetainer(ItemHead(1234)), ValueError),
        ])  # fmt: skip

    def check(self, retainer, stream):
        assert retainer.finish() == reference.items(self.strategy, stream), (self.strategy, stream[-99:])
        result = retainer.finish()
        notice = retainer.notice("scope")
        assert (notice.omitted, notice.kept) == (result.omitted, result.kept)
        assert (retainer.seen, retainer.truncated) == (len(stream), result.truncated)

    def check_unknown(self, retainer):
        result = retainer.finish()
        assert len(result.items) + result.omitted.count == result.seen == retainer.seen
        retainer.notice("scope")

    def field(self, source):
        number = source.byte()
        return source.choice([
            lambda: number, lambda: -1, lambda: 2 ** (number % 70) - 1, lambda: [number] * number, lambda: None,
        ])()  # fmt: skip


def push(world, source, retained):
    retainer, stream = retained[-1]
    chunk, data = world.chunk(source, world.limit - len(stream))
    assert retainer.push(chunk) == decision(world.strategy, stream, data), (world.strategy, stream[-99:], chunk)
    retained[-1] = retainer, stream + data


def extend(world, source, retained):
    retainer, stream = retained[-1]
    room = world.limit - len(stream)
    pairs = []
    for _ in range(source.byte() % 6):
        pairs.append(world.chunk(source, room))
        room -= len(pairs[-1][1])
    # Together no more than there is room for.
    pairs *= min(source.choice(REPEATS), 1 + room // max(world.limit - len(stream) - room, 1))
    rest = iter([chunk for chunk, _ in pairs])
    stream, taken, answer = extended(world.strategy, stream, [data for _, data in pairs])
    make = source.choice([list, tuple, iter])
    assert retainer.extend(make(rest)) == answer, (world.strategy, stream[-99:], len(pairs))
    if make is iter:
        assert len(list(rest)) == len(pairs) - taken, (world.strategy, stream[-99:], len(pairs))
    retained[-1] = retainer, stream


def finish(world, source, retained):
    world.check(*retained[-1])


def begin(world, source, retained):
    retained.append((world.fresh(), world.empty))


def turn(world, source, retained):
    retained.insert(0, retained.pop())


def merge(world, source, retained):
    (later, end), (retainer, stream) = source.choice(retained), retained[-1]
    if len(stream) + len(end) <= world.limit:
        retainer.merge(later)
        retained[-1] = retainer, stream + end


def add(world, source, retained):
    (one, stream), (later, end) = source.choice(retained), retained[-1]
    if len(stream) + len(end) <= world.limit:
        retained[-1] = one + later, stream + end


def duplicate(world, source, retained):
    retainer, stream = retained[-1]
    protocol = source.byte() % (pickle.HIGHEST_PROTOCOL + 1)
    way = source.choice([lambda one: pickle.loads(pickle.dumps(one, protocol)), copy.copy, copy.deepcopy])
    if source.flag():
        retained.append((way(retainer), stream))
    else:
        retained[-1] = way(retainer), stream


def refuse(world, source, retained):
    retainer, stream = retained[-1]
    function, argument, error = world.refused(source, retainer)
    try:
        function(argument)
    except error:
        world.check(retainer, stream)
        return
    raise AssertionError(f"{function} took {argument!r}")


def damage(world, source, retained):
    """A state with a wrong field is refused, and the retainer as before; or it is that of another stream."""
    retainer, _ = retained[-1]
    state = list(retainer.__reduce__()[2])
    for _ in range(1 + source.byte() % 3):
        state[source.byte() % len(state)] = world.field(source)
    other = world.fresh()
    try:
        other.__setstate__(tuple(state))
    except (ValueError, LookupError):
        world.check(other, world.empty)
        return
    world.check_unknown(other)
    before = world.seen(other)
    chunk, data = world.chunk(source, 100)
    other.push(chunk)
    assert world.seen(other) == before + len(data), (world.strategy, state)
    world.check_unknown(other)
    world.check_unknown(pickle.loads(pickle.dumps(other)))
    with contextlib.suppress(OverflowError):
        other.merge(other)
    world.check_unknown(other)


OPERATIONS = [push, push, push, extend, finish, begin, turn, merge, add, duplicate, refuse, damage]


def run(data):
    source = Input(data)
    world = source.choice([Text, Items])(source)
    # The retainers, each beside its stream; the last is operated on.
    retained = [(world.fresh(), world.empty)]
    for _ in range(MOST_OPERATIONS):
        if not source:
            break
        source.choice(OPERATIONS)(world, source, retained)
    for retainer, stream in retained:
        world.check(retainer, stream)


if __name__ == "__main__":
    fuzz(run, *OPERATIONS, Text.__init__, Text.chunk, Items.__init__)
