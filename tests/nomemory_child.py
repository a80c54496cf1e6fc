"""Run by test_nomemory.py in an interpreter of its own: every allocation of an operation fails, one after another.

    nomemory_child.py DIRECTORY CASE...

The directory has the compiled module `nomemory`. Prints a JSON object: for each case how many allocations were made to
fail, and the problems, one text for each failure that had a wrong outcome.
"""

import asyncio
import contextlib
import copy
import ctypes
import faulthandler
import gc
import io
import json
import operator
import os
import pickle
import subprocess
import sys
import tempfile
import traceback
from array import array
from functools import cache, partial

import reference

from retention import (
    ItemHead,
    ItemHeadTail,
    ItemRetainer,
    ItemTail,
    Omitted,
    PushDecision,
    RetainedBytes,
    RetainedItems,
    RetainedText,
    RetentionNotice,
    Spill,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
    aio,
    arun,
    communicate,
    fit_text,
    format_retention_notice,
    retain_file,
    run,
)

# A sweep that takes longer shows where it is, and ends.
LIMIT = 60
# More than a program takes to notice that its pipes are closed.
SOON = 20
# More allocations than any operation makes.
TOO_MANY = 20_000
# So often each sweep is repeated, to see whether memory grows by it.
ROUNDS = 4


# Text


STREAM = ("line one\nzwei é\r\n三 € 😀\n" * 40).encode()
BEFORE = STREAM[:100]
PLAIN = {
    "head": (TextHead(700), {}),
    "tail": (TextTail(700), {}),
    "both": (TextHeadTail(500, 400), {}),
    "stop": (TextHead(300, stop="stop_when_full"), {}),
}
LINES = {
    "head lines": (TextHead(700, max_lines=40), {}),
    "tail lines": (TextTail(700, max_lines=15), {}),
    "both lines": (TextHeadTail(400, 500, head_lines=5, tail_lines=40), {"whole_lines": True}),
    "stop lines": (TextHead(700, max_lines=40, stop="stop_when_full"), {}),
    "whole lines": (TextHeadTail(400, 500), {"whole_lines": True}),
}
TEXT = PLAIN | LINES


class Odd(ctypes.Structure):
    """Of a format that a memoryview cannot recast."""

    _fields_ = (("one", ctypes.c_short), ("other", ctypes.c_byte))
    _pack_ = 1


CHUNKS = {
    "bytes": bytes,
    "ascii": lambda data: data.decode("ascii", "ignore"),
    "latin": lambda data: "é\n" * 300,
    "str": bytes.decode,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "array": lambda data: array("H", data[: len(data) // 2 * 2]),
    "structure": lambda data: (Odd * (len(data) // 3)).from_buffer_copy(data[: len(data) // 3 * 3]),
}


@cache
def model(name, stream):
    strategy, how = TEXT[name]
    return len(stream), reference.text(strategy, stream, **how), reference.raw(strategy, stream)


def state(retainer):
    result = retainer.finish()
    assert retainer.truncated == result.truncated
    return retainer.seen_bytes, result, retainer.finish_bytes()


def retainer_of(name, stream):
    strategy, how = TEXT[name]
    retainer = TextRetainer(strategy, **how)
    retainer.push(stream)
    return retainer


class Case:
    """`act` is done without memory; `check` looks at what it has left behind. Made anew for each failure."""

    # What may be raised beside MemoryError.
    raises = ()
    # Whether only the allocations of other threads fail.
    elsewhere = False
    # Whether one allocation failed, and no others after it.
    alone = True

    def act(self):
        raise NotImplementedError

    def check(self, raised, answer):
        raise NotImplementedError

    def close(self):
        """Whatever has happened."""


class Push(Case):
    def __init__(self, name, chunk):
        self.name, self.chunk = name, chunk
        self.more = chunk.encode() if isinstance(chunk, str) else bytes(chunk)
        self.retainer = retainer_of(name, BEFORE)

    def act(self):
        return self.retainer.push(self.chunk)

    def check(self, raised, answer):
        if raised:
            assert state(self.retainer) == model(self.name, BEFORE)
            answer = self.retainer.push(self.chunk)
        assert state(self.retainer) == model(self.name, BEFORE + self.more)
        result = self.retainer.finish()
        stops = reference.stops_early(TEXT[self.name][0])
        assert answer == PushDecision(not result.truncated, result.truncated, stops and result.truncated)


class Extend(Case):
    def __init__(self, name):
        self.name = name
        self.chunks = [b"one\n", "zw\nei €\n" * 20, bytearray(b"3" * 300), memoryview(b"\n4" * 150), "é\n" * 99, b"end"]
        self.stream = b"".join(chunk.encode() if isinstance(chunk, str) else bytes(chunk) for chunk in self.chunks)
        self.retainer = retainer_of(name, b"")

    def act(self):
        return self.retainer.extend(self.chunks)

    def check(self, raised, answer):
        seen = 0
        rest = list(self.chunks)
        while seen < self.retainer.seen_bytes:
            chunk = rest.pop(0)
            seen += len(chunk.encode() if isinstance(chunk, str) else bytes(chunk))
        # What came before stays, and is whole chunks.
        assert state(self.retainer) == model(self.name, self.stream[:seen])
        assert raised or not rest or answer.should_stop
        for chunk in rest:
            self.retainer.push(chunk)
        assert state(self.retainer) == model(self.name, self.stream)


class Merge(Case):
    """Of two that have something, or of a fresh one and one that has dropped its middle."""

    def __init__(self, name, before):
        self.name, self.before = name, before
        self.one, self.other = retainer_of(name, before), retainer_of(name, STREAM)

    def act(self):
        self.one.merge(self.other)

    def check(self, raised, answer):
        assert state(self.other) == model(self.name, STREAM)
        if raised:
            assert state(self.one) == model(self.name, self.before)
            self.one.merge(self.other)
        assert state(self.one) == model(self.name, self.before + STREAM)


class Add(Merge):
    def act(self):
        return self.one + self.other

    def check(self, raised, answer):
        assert state(self.other) == model(self.name, STREAM)
        assert state(self.one) == model(self.name, self.before)
        both = self.one + self.other if raised else answer
        assert state(both) == model(self.name, self.before + STREAM)


class Read(Case):
    """What changes nothing: it gives the same when there is memory again."""

    def __init__(self, name, operation):
        self.name = name
        self.retainer = retainer_of(name, STREAM)
        self.operation = operation

    def act(self):
        return self.operation(self.retainer)

    def check(self, raised, answer):
        assert state(self.retainer) == model(self.name, STREAM)
        right = self.operation(self.retainer)
        assert raised or answer == right or (state(answer) == state(right) == model(self.name, STREAM))
        self.retainer.push(b"more")
        assert state(self.retainer) == model(self.name, STREAM + b"more")


class SetState(Case):
    def __init__(self, name):
        self.name = name
        self.retainer = TextRetainer(TEXT[name][0])
        self.taken = retainer_of(name, STREAM).__reduce__()[2]
        self.settings = self.retainer.__reduce__()[2]

    def act(self):
        self.retainer.__setstate__(self.taken)

    def check(self, raised, answer):
        if raised:
            assert self.retainer.__reduce__()[2] == self.settings
            self.retainer.__setstate__(self.taken)
        assert state(self.retainer) == model(self.name, STREAM)


class Call(Case):
    """A function of nothing: its answer, or no memory for it."""

    def __init__(self, function, right):
        self.function, self.right = function, right

    def act(self):
        return self.function()

    def check(self, raised, answer):
        assert raised or answer == self.right, answer


class Refused(Case):
    """What is refused is refused, or there was no memory to say so. The retainer goes on."""

    def __init__(self, operation, error):
        self.raises = (error,)
        self.retainer = retainer_of("both lines", BEFORE)
        self.operation = operation

    def act(self):
        self.operation(self.retainer)

    def check(self, raised, answer):
        assert raised
        assert state(self.retainer) == model("both lines", BEFORE)
        self.retainer.push(STREAM)
        assert state(self.retainer) == model("both lines", BEFORE + STREAM)


# Items


ITEMS = [f"item {number}" for number in range(60)]
FIRST = ITEMS[:3]
ITEM_STRATEGIES = {
    "head": ItemHead(9),
    "tail": ItemTail(9),
    "both": ItemHeadTail(20, 20),
    "stop": ItemHead(9, stop="stop_when_full"),
}


def items_of(name, items):
    retainer = ItemRetainer(ITEM_STRATEGIES[name])
    for item in items:
        retainer.push(item)
    return retainer


def item_state(retainer):
    result = retainer.finish()
    assert retainer.truncated == result.truncated
    return retainer.seen, result


@cache
def item_model(name, count, start=0):
    items = ITEMS[start : start + count]
    return len(items), reference.items(ITEM_STRATEGIES[name], items)


class PushItems(Case):
    """One after another, so that the lists grow."""

    def __init__(self, name):
        self.name = name
        self.retainer = items_of(name, [])

    def act(self):
        for item in ITEMS:
            self.retainer.push(item)

    def check(self, raised, answer):
        assert raised or self.retainer.seen == len(ITEMS)
        assert item_state(self.retainer) == item_model(self.name, self.retainer.seen)
        for item in ITEMS[self.retainer.seen :]:
            self.retainer.push(item)
        assert item_state(self.retainer) == item_model(self.name, len(ITEMS))


class ExtendItems(Case):
    def __init__(self, name, kind):
        self.name = name
        self.stops = name == "stop"
        self.retainer = items_of(name, FIRST)
        self.items = kind(ITEMS[3:])

    def act(self):
        return self.retainer.extend(self.items)

    def check(self, raised, answer):
        assert raised or self.stops or self.retainer.seen == len(ITEMS)
        seen = self.retainer.seen
        assert seen >= 3
        assert item_state(self.retainer) == item_model(self.name, seen)
        if not self.stops:
            self.retainer.extend(ITEMS[seen:])
            assert item_state(self.retainer) == item_model(self.name, len(ITEMS))


class MergeItems(Case):
    def __init__(self, name, plus):
        self.name, self.plus = name, plus
        self.one, self.other = items_of(name, ITEMS[:25]), items_of(name, ITEMS[25:])

    def act(self):
        if self.plus:
            return self.one + self.other
        return self.one.merge(self.other)

    def check(self, raised, answer):
        assert item_state(self.other) == item_model(self.name, 35, 25)
        if raised or self.plus:
            assert item_state(self.one) == item_model(self.name, 25)
        if raised:
            answer = self.act()
        assert item_state(answer if self.plus else self.one) == item_model(self.name, len(ITEMS))


class ReadItems(Case):
    def __init__(self, name, operation):
        self.name, self.operation = name, operation
        self.retainer = items_of(name, ITEMS[:50])

    def act(self):
        return self.operation(self.retainer)

    def check(self, raised, answer):
        assert item_state(self.retainer) == item_model(self.name, 50)
        right = self.operation(self.retainer)
        assert raised or answer == right or item_state(answer) == item_state(right) == item_model(self.name, 50)
        for item in ITEMS[50:]:
            self.retainer.push(item)
        assert item_state(self.retainer) == item_model(self.name, len(ITEMS))


# Sources


def pipe_of(stream):
    reader, writer = os.pipe()
    os.write(writer, stream)
    os.close(writer)
    return reader


class Drain(Case):
    """What has been read is in the retainer, and what is not is still to be had."""

    def __init__(self, name):
        self.name = name
        self.retainer = retainer_of(name, b"")
        self.source = pipe_of(STREAM)

    def act(self):
        return self.retainer.drain(self.source)

    def check(self, raised, answer):
        seen = self.retainer.seen_bytes
        assert state(self.retainer) == model(self.name, STREAM[:seen])
        assert raised or (answer.nbytes, seen) == (seen, len(STREAM))
        while rest := os.read(self.source, 1 << 16):
            self.retainer.push(rest)
        assert state(self.retainer) == model(self.name, STREAM)

    def close(self):
        os.close(self.source)


class DrainObject(Case):
    """An object with a method: a block for which there is no memory is lost, as the object gave it away."""

    def __init__(self, name, kind):
        self.name = name
        self.retainer = retainer_of(name, b"")
        self.source = kind(STREAM)

    def act(self):
        return self.retainer.drain(self.source)

    def check(self, raised, answer):
        seen = self.retainer.seen_bytes
        assert seen in (0, len(STREAM))
        status = "stopped" if reference.stops_early(TEXT[self.name][0]) else "eof"
        assert raised or (answer.status, answer.nbytes, seen) == (status, len(STREAM), len(STREAM))
        self.retainer.push(STREAM[seen:])
        assert state(self.retainer) == model(self.name, STREAM)


class OnlyRead:
    def __init__(self, stream):
        self.read = io.BytesIO(stream).read


class File(Case):
    def __init__(self, name):
        self.name = name

    def act(self):
        strategy, how = TEXT[self.name]
        return retain_file(PATH, strategy, **how)

    def check(self, raised, answer):
        assert raised or state(answer) == model(self.name, STREAM)


# Programs


class Process(Case):
    """A program that copies its input: ended and reaped, its pipes closed, whatever there is no memory for."""

    def __init__(self, name, how):
        self.name, self.how = name, how
        # An event loop without memory is lost in itself, and so is a thread that begins or ends: see `record_programs`.
        self.elsewhere = how == "arun"
        self.retainer = retainer_of(name, b"")
        self.before = descriptors()
        self.process = None
        self.folder = None
        if how == "spill":
            self.folder = tempfile.TemporaryDirectory()
            self.spill = Spill(os.path.join(self.folder.name, "all"))
        if how == "communicate":
            self.before = descriptors()
            self.process = subprocess.Popen(CAT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            STARTED.clear()
            STARTED.append(self.process)
        else:
            STARTED.clear()

    def act(self):
        if self.how == "communicate":
            return communicate(self.process, stdout=self.retainer, input=STREAM, grace=0.05)
        if self.how == "spill":
            return run(CAT, stdout=self.retainer, input=STREAM, spill=self.spill)
        if self.how == "arun":
            HOOK.pause()
            with asyncio.Runner(loop_factory=LOOP) as runner:
                return runner.run(arun(CAT, stdout=self.retainer, input=STREAM))
        return run(CAT, stdout=self.retainer, input=STREAM)

    def check(self, raised, answer):
        seen = self.retainer.seen_bytes
        assert state(self.retainer) == model(self.name, STREAM[:seen])
        if not raised:
            assert (answer.returncode, answer.eof, answer.timed_out) == (0, True, False), answer
            assert answer.stdout == model(self.name, STREAM)[1]
        for process in STARTED:
            files = [file for file in (process.stdin, process.stdout, process.stderr) if file is not None]
            if raised and self.how == "communicate" and not any(file.closed for file in files):
                # It came to nothing: all is as it was, and the caller's.
                assert process.poll() is None
                return
            assert all(file.closed for file in files), "pipes left open"
            # The status may be lost to `waitpid`, which has no memory to return it.
            if not self.alone:
                # There may have been no memory to send a signal. It ends as its pipes are closed.
                process.wait(SOON)
            assert process.poll() is not None, "not ended"
        gc.collect()
        assert descriptors() == self.before, (descriptors(), self.before)

    def close(self):
        for process in STARTED:
            if process.returncode is None:
                process.kill()
                process.wait()
            for file in (process.stdin, process.stdout, process.stderr):
                if file is not None:
                    with contextlib.suppress(OSError):
                        file.close()
        if self.folder is not None:
            self.folder.cleanup()


def descriptors():
    return {name: os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if is_open(int(name))}


def is_open(fd):
    # Not that of the listing itself.
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


# CPython


class Pure:
    """Without anything of ours: what CPython itself loses where it has no memory for copying or pickling."""

    def __init__(self, strategy):
        self.state = None

    def __reduce__(self):
        return Pure, ("strategy",), (1, "replace", 1000, bytes(100), bytes(200), [1, 2, 3])

    def __setstate__(self, state):
        self.state = state


class Control(Case):
    raises = (KeyError,)

    def __init__(self, operation):
        self.operation = operation

    def act(self):
        self.operation()

    def check(self, raised, answer):
        """Only what it loses is looked at."""


def raising():
    raise KeyError


CONTROLS = {
    "raise": lambda: raising(),
    "list": lambda: operator.iadd([], list(range(1000, 1005))),
    "cell": lambda: (lambda value: lambda: value)(object()),
    "pickle": lambda: pickled(Pure("strategy")),
    "copy": lambda: copy.copy(Pure("strategy")),
    "deepcopy": lambda: copy.deepcopy(Pure("strategy")),
}


# Programs and files that the cases share; what is started is recorded, so that nothing is lost by being forgotten.
CAT = ["cat"]
STARTED = []
# Failures at which CPython lost an exception.
LOST = []
HOOK = LOOP = None
PATH = os.path.join(tempfile.gettempdir(), f"retention-nomemory-{os.getpid()}")


def record_programs(hook):
    """Lets Popen have all the memory that it wants: what it loses, a program among it, is no matter of ours.

    Of the thread of an `arun`, all is looked at from the start of its program to the handing over of the result.
    """
    global HOOK, LOOP
    HOOK = hook
    real, run_child = subprocess.Popen, aio.run_child

    class Loop(asyncio.SelectorEventLoop):
        def call_soon_threadsafe(self, *arguments):
            super().call_soon_threadsafe(*arguments)
            hook.pause()

    def resumed(*args, **options):
        hook.resume()
        return run_child(*args, **options)

    aio.run_child = resumed

    class Recorded(real):
        def __new__(cls, *args, **kwargs):
            STARTED.clear()
            return super().__new__(cls)

        def __init__(self, *args, **kwargs):
            hook.pause()
            try:
                super().__init__(*args, **kwargs)
                STARTED.append(self)
            finally:
                hook.resume()

    subprocess.Popen = Recorded
    LOOP = Loop


def pickled(value):
    try:
        return pickle.loads(pickle.dumps(value))
    except pickle.PicklingError:
        # How `pickle` says that it had no memory to look for a name.
        raise MemoryError from None


def rebuilt(retainer):
    """What pickling and copying ask of a retainer, without the two."""
    kind, arguments, state = retainer.__reduce__()
    again = kind(*arguments)
    again.__setstate__(state)
    return again


def results():
    """Every kind of value, made by its constructor: functions, and what they return."""
    omitted = Omitted("exact", 10**30)
    text = RetainedText("a\nb", "a\n", "b", True, Omitted("exact", 1000), 1003, 700, Omitted("exact", 698))
    raw = RetainedBytes(b"a", b"b", True, Omitted("at_least", 1000), 1002)
    items = RetainedItems(["a", "b"], ["a"], ["b"], True, Omitted("exact", 1000), 1002, 2)
    notice = RetentionNotice("grep", "head", "items", 100, 100, Omitted("exact", 1000))
    for value in (omitted, PushDecision(True, False, False), text, raw, items, notice):
        kind = type(value)
        fields = [getattr(value, name) for name in kind.__match_args__]
        name = kind.__name__
        yield f"{name}()", partial(kind, *fields), value
        yield f"repr({name})", partial(repr, value), repr(value)
        yield f"{name} ==", partial(kind.__eq__, value, kind(*fields)), True
        yield f"pickle {name}", partial(pickled, value), value
        yield f"deepcopy {name}", partial(copy.deepcopy, value), value
        if kind is not RetainedItems:
            yield f"hash({name})", partial(hash, value), hash(value)
    yield "Omitted +", lambda: omitted + omitted, Omitted("exact", 2 * 10**30)
    yield "render text", text.render, "a\n[Omitted 698 lines.]\nb"
    yield "render text, a function", lambda: text.render(lambda result: f"<{result.seen_bytes}>"), "a\n<1003>b"
    yield "render items", items.render, "a\n[Omitted 1000 items.]\nb"
    yield "render items, a function", lambda: items.render(repr, str.upper.__name__), "'a'\nupper\n'b'"
    yield "format_retention_notice", lambda: format_retention_notice(notice, "More."), "Omitted 1000 items. More."
    for words, sizes in {"0123456789" * 10: 41, "é" * 90: 60, "€\r\n" * 40: 70, "\ud83d😀" * 40: 80}.items():
        yield f"fit_text {words[:2]!a}", partial(fit_text, words, sizes), fit_text(words, sizes)
        whole = partial(fit_text, words, sizes, whole_lines=True, marker=lambda result: f"<{len(result.head)}>")
        yield f"fit_text {words[:2]!a}, lines, a function", whole, whole()


def control_of(name):
    """The case of CPython alone that may excuse it if this one loses memory."""
    words = name.replace(",", "").split()
    if words[0] == "items" and words[1] in ("merge", "add", "extend", "reduce", "finish", "render"):
        return "list"
    if name in ("refused merge", "program communicate, both"):
        return "cell"
    if name.startswith(("value render", "refused drain")):
        return "raise"
    return next((word for word in words if word in CONTROLS), None)


def all_cases():
    for name, operation in CONTROLS.items():
        yield f"control {name}", partial(Control, operation)
    for name in TEXT:
        for kind, make in CHUNKS.items():
            yield f"push {kind}, {name}", lambda name=name, make=make: Push(name, make(STREAM))
        yield f"extend, {name}", partial(Extend, name)
        for number, before in enumerate((b"", BEFORE, STREAM)):
            yield f"merge {number}, {name}", partial(Merge, name, before)
            yield f"add {number}, {name}", partial(Add, name, before)
        reads = {
            "finish": TextRetainer.finish,
            "finish_bytes": TextRetainer.finish_bytes,
            "notice": lambda retainer: retainer.notice("a tool"),
            "repr": repr,
            "pickle": pickled,
            "copy": copy.copy,
            "deepcopy": copy.deepcopy,
            "reduce": rebuilt,
            "render": lambda retainer: retainer.finish().render(),
        }
        if name in LINES and name != "whole lines":
            reads["notice of lines"] = lambda retainer: retainer.notice("a tool", unit="lines")
        for kind, operation in reads.items():
            yield f"{kind}, {name}", partial(Read, name, operation)
        yield f"setstate, {name}", partial(SetState, name)
        yield f"drain, {name}", partial(Drain, name)
        yield f"drain readinto, {name}", partial(DrainObject, name, io.BytesIO)
        yield f"drain read, {name}", partial(DrainObject, name, OnlyRead)
        yield f"file, {name}", partial(File, name)
    for name in ITEM_STRATEGIES:
        yield f"items push, {name}", partial(PushItems, name)
        for kind in (list, tuple, iter):
            yield f"items extend {kind.__name__}, {name}", partial(ExtendItems, name, kind)
        yield f"items merge, {name}", partial(MergeItems, name, False)
        yield f"items add, {name}", partial(MergeItems, name, True)
        reads = {
            "finish": ItemRetainer.finish,
            "notice": lambda retainer: retainer.notice("a tool"),
            "repr": repr,
            "pickle": pickled,
            "copy": copy.copy,
            "reduce": rebuilt,
            "render": lambda retainer: retainer.finish().render(),
        }
        for kind, operation in reads.items():
            yield f"items {kind}, {name}", partial(ReadItems, name, operation)
    for label, function, right in results():
        yield f"value {label}", partial(Call, function, right)
    refused = {
        "push": (lambda retainer: retainer.push(None), TypeError),
        "push a view": (lambda retainer: retainer.push(memoryview(b"abcdef")[::2]), BufferError),
        "extend": (lambda retainer: retainer.extend("abc"), TypeError),
        "notice": (lambda retainer: retainer.notice("a tool", unit="items"), ValueError),
        "merge": (lambda retainer: retainer.merge(TextRetainer(TextHead(1))), ValueError),
        "setstate": (lambda retainer: retainer.__setstate__((1, 2)), ValueError),
        "drain": (lambda retainer: retainer.drain(None), TypeError),
        "drain a closed descriptor": (lambda retainer: retainer.drain(987), OSError),
        "errors": (lambda retainer: TextRetainer(TextHead(1), errors="none such"), LookupError),
        "budget": (lambda retainer: TextHead(-1), ValueError),
    }
    for kind, (operation, error) in refused.items():
        yield f"refused {kind}", partial(Refused, operation, error)
    for how in ("run", "spill", "communicate"):
        yield f"program {how}, both", partial(Process, "both", how)
    yield "program run, both lines", partial(Process, "both lines", "run")
    yield "program arun, both", partial(Process, "both", "arun")


def sweep(hook, make, last_of):
    """Failures from each allocation on, up to the first without one. Returns how many, and what went wrong."""
    problems = []
    fail, done = hook.fail, hook.done
    for number in range(1, TOO_MANY):
        case = make()
        act, raises = case.act, (MemoryError, *case.raises)
        last = last_of(number)
        case.alone = last == number
        raised = answer = failed = None
        try:
            fail(number, last, case.elsewhere)
            try:
                answer = act()
            except raises:
                raised = True
            except SystemError as error:
                # Where a frame ends whose traceback lives, CPython may lose the exception for want of memory: it is
                # cleared in `take_ownership` (Python/frame.c). A function that returned none is told of otherwise.
                words = str(error)
                if words != "error return without exception set" and not words.startswith("<function "):
                    raise
                raised = True
                LOST.append(number)
            finally:
                hits = done()
            case.check(raised, answer)
        except BaseException:
            failed = traceback.format_exc(limit=-6)
        finally:
            case.close()
        if failed:
            problems.append(f"allocation {number} to {last}, {hits} failed: {failed}")
        if not hits:
            return number - 1, problems
    raise AssertionError("there is no end of allocations")


# Not all from it on: at a `with` or a `finally` CPython itself asks for an int until it gets one (in `exception_unwind`
# of ceval.c), and would ask for ever.
MODES = {"one": lambda number: number, "a hundred from it on": lambda number: number + 99}


def one_case(hook, make):
    """Both ways to fail, again and again; and what is allocated more than before."""
    # What is imported or made at first use is there from now on.
    for _ in range(3):
        case = make()
        answer, raised = None, False
        try:
            answer = case.act()
        except case.raises:
            raised = True
        case.check(raised, answer)
        case.close()
    case = answer = None
    found = {"hits": 0, "problems": [], "grown": {}}
    LOST.clear()
    for mode, last_of in MODES.items():
        grown = []
        for _ in range(ROUNDS):
            gc.collect()
            before = hook.blocks()
            hits, problems = sweep(hook, make, last_of)
            gc.collect()
            grown.append(hook.blocks() - before)
            found["problems"] += [f"{mode}: {problem}" for problem in problems]
            if problems:
                break
        found["hits"] = max(found["hits"], hits)
        found["grown"][mode] = grown
    found["lost"] = len(LOST)
    return found


def main(folder, *names):
    faulthandler.enable()
    sys.path.insert(0, folder)
    import nomemory

    record_programs(nomemory)
    with open(PATH, "wb") as file:
        file.write(STREAM)
    found = {}
    try:
        for name, make in all_cases():
            if name in names:
                faulthandler.dump_traceback_later(LIMIT, exit=True)
                found[name] = one_case(nomemory, make)
                faulthandler.cancel_dump_traceback_later()
    finally:
        os.unlink(PATH)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
