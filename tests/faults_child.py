"""Run by test_faults.py in an interpreter of its own that shim.c is preloaded into.

    faults_child.py PROGRAM [WORD...]

Prints a JSON object: `problems`, one text for each case that went wrong, and `hits`, how many calls were made to fail.
"""

import contextlib
import ctypes
import errno
import faulthandler
import fcntl
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

# Only this process is to be affected, none that it starts. Already loaded is already loaded.
SHIM = ctypes.CDLL(os.environ.pop("LD_PRELOAD"))
SHIM.fault_arm.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long, ctypes.c_long, ctypes.c_size_t]
SHIM.fault_bytes_read.restype = SHIM.fault_bytes_written.restype = ctypes.c_longlong
for name in ("fault_calls", "fault_hits", "fault_polls"):
    getattr(SHIM, name).restype = ctypes.c_long
SHIM.fault_after_read.argtypes = [ctypes.c_void_p]
HOOK = ctypes.CFUNCTYPE(None)

from retention import Spill, SpillResult, TextHead, TextHeadTail, TextRetainer, TextTail, communicate, run  # noqa: E402
from retention import child as child_module  # noqa: E402

# One case may take so long; then the interpreter shows where it is, and ends.
CASE_LIMIT = 40
# What a slow machine may add to a time that is promised.
SLACK = 10
FOREVER = 1 << 40
# The programs that would go on are gone after these seconds, should nobody end them.
SLEEP = "60"
# More faults in a row than any scenario makes calls.
TOO_MANY = 3000
SHORT = 0

LINES = b"".join(b"%d\n" % number for number in range(160_000))[: 1 << 20]
CAT = "cat; echo done >&2"

problems = []
hits = 0


class RecordedPopen(subprocess.Popen):
    """Kept here, so that nothing is closed or reaped merely because nobody refers to it any more."""

    started = []  # noqa: RUF012

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.started.append(self)


subprocess.Popen = RecordedPopen


def kept(strategy, stream):
    retainer = TextRetainer(strategy)
    retainer.push(stream)
    return retainer.finish()


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


def pipe_with(stream):
    """The end of a pipe that holds these bytes, and has no writer any more."""
    source, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 18)
    assert os.write(writer, stream) == len(stream)
    os.close(writer)
    return source


# Scenarios


class Scenario:
    """Something small that is done again and again. `streams`: what each retainer would see in all."""

    # Whether the program may still be there: a signal was refused, so that there is no status.
    may_be_left = False
    # Whether it goes well in any case.
    survives = False
    # The longest that it may take, where that is promised.
    promised = 10.0
    smallest = 0

    def __init__(self):
        self.retainers = [TextRetainer(self.strategy) for _ in self.streams]

    def prepare(self):
        """Before anything is made to fail."""

    def clean(self):
        """Afterwards, whatever has happened."""

    def check_streams(self):
        """What was kept is what was read, to the byte, whatever happened then."""
        seen = [retainer.seen_bytes for retainer in self.retainers]
        assert sum(seen) == SHIM.fault_bytes_read(), (seen, SHIM.fault_bytes_read())
        for retainer, stream, size in zip(self.retainers, self.streams, seen, strict=True):
            assert retainer.finish() == kept(self.strategy, stream[:size]), (retainer.finish(), size)


class Drain(Scenario):
    """A pipe that holds 200 kB, and has no writer any more."""

    strategy = TextHeadTail(1000, 1000)
    streams = (LINES[:200_000],)

    def prepare(self):
        self.source = pipe_with(self.streams[0])

    def act(self):
        return self.retainers[0].drain(self.source)

    def check(self, result):
        assert (result.status, result.nbytes) == ("eof", len(self.streams[0])), result

    def check_streams(self):
        super().check_streams()
        # And what has not been read is still to be had.
        rest = self.retainers[0].drain(self.source, timeout=30)
        assert rest.status == "eof", rest
        assert self.retainers[0].finish() == kept(self.strategy, self.streams[0])

    def clean(self):
        os.close(self.source)


class LargeDrain(Drain):
    """One whose retainer has to allocate more than once."""

    strategy = TextHeadTail(90_000, 90_000)
    smallest = 60_000


class Both(Scenario):
    """1 MiB written to a program, and read back from it."""

    strategy = TextHeadTail(1000, 1000)
    streams = (LINES, b"done\n")

    def act(self):
        out, err = self.retainers
        return run(["sh", "-c", CAT], stdout=out, stderr=err, input=self.streams[0])

    def check(self, result):
        out, err = (kept(self.strategy, stream) for stream in self.streams)
        assert (result.stdout, result.stderr) == (out, err), result
        flags = (result.returncode, result.timed_out, result.stopped, result.eof)
        assert flags == (0, False, False, True), result


class LargeBoth(Both):
    strategy = TextHeadTail(90_000, 90_000)
    smallest = 60_000


class Communicate(Both):
    """The same through pipes that somebody else made, which stay blocking. Something is in a buffer already."""

    streams = (LINES[: 64 << 10], b"done\n")

    def prepare(self):
        self.process = subprocess.Popen(
            ["sh", "-c", CAT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.process.stdin.write(self.streams[0][:100])

    def act(self):
        out, err = self.retainers
        # `cat` is in no group of its own, and ends when its input does: only then. That is not waited for.
        grace = 5 if self.survives else 0.03
        return communicate(self.process, stdout=out, stderr=err, input=self.streams[0][100:], grace=grace)


class Timeout(Scenario):
    """A program that ignores SIGTERM, and says a word at its start if there is time for it."""

    strategy = TextHeadTail(1000, 1000)
    streams = (b"ready\n", b"")
    timeout = grace = 0.02
    promised = timeout + grace + 1

    def prepare(self):
        # What is ignored here is ignored by those who are started.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def act(self):
        out, err = self.retainers
        words = ["sh", "-c", f"echo ready; exec sleep {SLEEP}"]
        return run(words, stdout=out, stderr=err, timeout=self.timeout, grace=self.grace)

    def check(self, result):
        flags = (result.returncode, result.timed_out, result.stopped, result.eof)
        assert flags == (-signal.SIGKILL, True, False, False), result

    def clean(self):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class LeftAfterTimeout(Timeout):
    may_be_left = True

    def prepare(self):
        super().prepare()
        # Many of them wait in vain for a program to be gone: not for so long.
        self.patience = child_module.KILL_PATIENCE
        child_module.KILL_PATIENCE = 0.2

    def clean(self):
        super().clean()
        child_module.KILL_PATIENCE = self.patience

    def check(self, result):
        flags = (result.timed_out, result.stopped, result.eof)
        assert flags == (True, False, False), result
        assert result.returncode in (None, -signal.SIGKILL), result


class Stop(Scenario):
    """A program without an end, stopped at its tenth byte."""

    strategy = TextHead(10, stop="stop_when_full")
    streams = (b"y\n" * (1 << 20), b"")
    promised = 2.0

    def act(self):
        out, err = self.retainers
        return run(["yes"], stdout=out, stderr=err, grace=1.0)

    def check(self, result):
        flags = (result.timed_out, result.stopped, result.eof)
        assert flags == (False, True, False), result
        assert result.returncode in (-signal.SIGPIPE, -signal.SIGTERM), result
        assert result.stdout.text == "y\n" * 5, result
        assert result.stdout.omitted_bytes.kind == "at_least", result


class Quiet(Scenario):
    """A program that closes its outputs long before it ends; and nothing tells of its end."""

    strategy = TextHeadTail(1000, 1000)
    streams = (b"", b"")
    status = (5,)

    def prepare(self):
        self.pidfd_open = os.pidfd_open
        del os.pidfd_open

    def act(self):
        out, err = self.retainers
        return run(["sh", "-c", "exec >/dev/null 2>&1; sleep 0.05; exit 5"], stdout=out, stderr=err)

    def check(self, result):
        assert (result.timed_out, result.stopped, result.eof) == (False, False, True), result
        assert result.returncode in self.status, result

    def clean(self):
        os.pidfd_open = self.pidfd_open


class LeftQuiet(Quiet):
    """Told that it is no child of ours any more, while it is: there may be no status to report."""

    may_be_left = True
    status = (5, 0, None)


class Spilling(Scenario):
    """Output that goes to a file as well."""

    strategy = TextHeadTail(1000, 1000)
    streams = (LINES[:200_000], b"")
    cap = None

    def prepare(self):
        self.folder = tempfile.TemporaryDirectory()
        self.source, self.path = Path(self.folder.name, "source"), Path(self.folder.name, "all")
        self.source.write_bytes(self.streams[0])

    def act(self):
        out, err = self.retainers
        return run(["cat", self.source], stdout=out, stderr=err, spill=Spill(self.path, self.cap))

    def check(self, result):
        assert result.spill == SpillResult(self.path, len(self.streams[0]), True, None), result
        assert self.saved == self.streams[0]

    def clean(self):
        self.saved = self.path.read_bytes()
        self.folder.cleanup()


class DividedSpill(Spilling):
    """The cap divides a character; where its first byte cannot be taken back, that is said."""

    streams = ("\N{EURO SIGN}".encode() * 100, b"")
    cap = 151

    def check(self, result):
        error = os.strerror(errno.EIO) if SHIM.fault_hits() else None
        nbytes = 151 if error else 150
        assert result.spill == SpillResult(self.path, nbytes, False, error), result
        assert self.saved == self.streams[0][:nbytes]


SCENARIOS = {
    kind.__name__: kind
    for kind in (
        Drain,
        LargeDrain,
        Both,
        LargeBoth,
        Communicate,
        Timeout,
        LeftAfterTimeout,
        Stop,
        Quiet,
        LeftQuiet,
        Spilling,
        DividedSpill,
    )
}


# Cases


def case(label, function):
    """Runs a function of no arguments, in bounded time, and records what goes wrong. Returns its answer."""
    faulthandler.dump_traceback_later(CASE_LIMIT, exit=True)
    try:
        return function()
    except BaseException:
        problems.append(f"{label}: {traceback.format_exc(limit=-4)}")
        return None
    finally:
        SHIM.fault_disarm()
        faulthandler.cancel_dump_traceback_later()


def leftovers():
    """Ends and reaps every program that is still there. Returns which were."""
    left = []
    for process in RecordedPopen.started:
        if process.returncode is None:
            left.append(process.pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            process.wait()
        for file in (process.stdin, process.stdout, process.stderr):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()
    RecordedPopen.started.clear()
    return left


def attempt(scenario, function, number, start, stop):
    """One go, in which the calls from `start` to `stop` fail. Returns what was raised, and whether any call did."""
    before = descriptors()
    scenario.prepare()
    result = raised = None
    started = time.monotonic()
    SHIM.fault_reset()
    SHIM.fault_arm(function.encode(), number, start, stop, scenario.smallest)
    try:
        try:
            result = scenario.act()
        except (OSError, MemoryError) as error:
            # Without its traceback, which would hold on to all that was involved.
            raised = error.with_traceback(None)
            raised.__context__ = None
        finally:
            elapsed = time.monotonic() - started
            SHIM.fault_disarm()
        hit = SHIM.fault_hits()
        open_files = [
            file.fileno()
            for process in RecordedPopen.started
            for file in (process.stdin, process.stdout, process.stderr)
            if file is not None and not file.closed
        ]
        scenario.check_streams()
    finally:
        scenario.clean()
        left = leftovers()
        after = descriptors()
    assert not open_files, f"pipes left open: {open_files}"
    assert after == before, f"descriptors {before} became {after}"
    assert not left or scenario.may_be_left, f"not reaped, after {raised!r}"
    assert elapsed < scenario.promised + SLACK, f"took {elapsed:.2f} s"
    return result, raised, hit


def named_fault(word):
    return SHORT if word == "SHORT" else getattr(errno, word)


def names_the_error(raised, number):
    if number == errno.ENOMEM:
        return type(raised) is MemoryError
    return isinstance(raised, OSError) and raised.errno == number


def sweep(kind, function, expected, *words):
    """Each call in turn, for each fault. `expected`: "survives", "raises", or "ends", if one or the other will do."""
    global hits
    for word in words:
        number = named_fault(word)
        for nth in range(1, TOO_MANY):

            def one(number=number, nth=nth):
                scenario = SCENARIOS[kind]()
                scenario.survives = expected == "survives"
                result, raised, hit = attempt(scenario, function, number, nth, nth)
                judge(scenario, expected, result, raised, hit, number)
                return hit

            hit = case(f"{kind}, {function} number {nth}: {word}", one)
            if hit == 0:
                # More than there are calls: this was a run in which nothing failed.
                break
            hits += 1
        else:
            problems.append(f"{kind}, {function}: {word}: there is no end of calls")


def onward(kind, function, expected, *words):
    """From each of the first calls on, all of them."""
    global hits
    for word in words:
        number = named_fault(word)
        for nth in (1, 2, 3):

            def one(number=number, nth=nth):
                scenario = SCENARIOS[kind]()
                scenario.survives = expected == "survives"
                result, raised, hit = attempt(scenario, function, number, nth, FOREVER)
                judge(scenario, expected, result, raised, hit, number)
                return hit

            hit = case(f"{kind}, {function} from number {nth} on: {word}", one)
            if hit == 0:
                break
            hits += hit or 1


def first(kind, function, expected, *words):
    """The first call only."""
    global hits
    for word in words:
        number = named_fault(word)

        def one(number=number):
            scenario = SCENARIOS[kind]()
            result, raised, hit = attempt(scenario, function, number, 1, 1)
            judge(scenario, expected, result, raised, hit, number)
            return hit

        hits += case(f"{kind}, {function} number 1: {word}", one) or 0


def judge(scenario, expected, result, raised, hit, number):
    if raised is not None and hit and expected in ("raises", "ends"):
        assert names_the_error(raised, number), repr(raised)
        return
    assert raised is None, f"raised {raised!r}"
    assert not (hit and expected == "raises"), "raised nothing"
    scenario.check(result)


# The end of the input: what is written is counted, and comes back.


def broken_input(kind, *words):
    """The program takes no more input: no error, and it sees all that had been written by then."""
    global hits
    for word in words:
        number = named_fault(word)
        for nth in range(1, TOO_MANY):

            def one(nth=nth, number=number):
                scenario = SCENARIOS[kind]()
                result, raised, hit = attempt(scenario, "write", number, nth, FOREVER)
                assert raised is None, repr(raised)
                size = SHIM.fault_bytes_written()
                scenario.streams = (scenario.streams[0][:size], scenario.streams[1])
                scenario.check(result)
                return hit

            hit = case(f"{kind}, write number {nth}: {word}", one)
            if hit == 0:
                break
            hits += 1


# Memory


def large_object():
    """Whether the memory of Python's own objects is asked of malloc at all: a build without the GIL has another way."""
    global hits
    SHIM.fault_arm(b"malloc", errno.ENOMEM, 1, FOREVER, LargeBoth.smallest)
    with contextlib.suppress(MemoryError):
        bytearray(2 * LargeBoth.smallest)
    hits += SHIM.fault_hits()


@contextlib.contextmanager
def after_reads(function):
    """Has it called after each read of the engine that read something, when room is promised to what was read."""
    hook = HOOK(function)
    SHIM.fault_after_read(ctypes.cast(hook, ctypes.c_void_p))
    try:
        yield
    finally:
        SHIM.fault_after_read(None)


def arm_growth():
    """Have all memory fail that is as much as a block."""
    SHIM.fault_arm(b"realloc", errno.ENOMEM, 1, FOREVER, 60_000)


def refused(retainer, chunk):
    """How often there was no memory before a push failed: 0 if it was taken."""
    arm_growth()
    try:
        retainer.push(chunk)
        return 0
    except MemoryError:
        return SHIM.fault_hits()
    finally:
        SHIM.fault_disarm()


def raced_memory():
    """Another push takes the room that was made for a read, and there is no more of it."""
    global hits
    retainer = TextRetainer(TextHeadTail(1 << 20, 0))
    pushed = b"+" * (64 << 10)
    source = pipe_with(LINES[:200_000])

    def push_all():
        SHIM.fault_after_read(None)
        # Until what has been allocated is full.
        retainer.push(pushed)
        arm_growth()

    SHIM.fault_reset()
    with after_reads(push_all), contextlib.suppress(MemoryError):
        retainer.drain(source, timeout=30)
    hits += SHIM.fault_hits()
    SHIM.fault_disarm()
    os.close(source)
    read = SHIM.fault_bytes_read()
    assert retainer.seen_bytes == len(pushed) + read, (retainer.seen_bytes, len(pushed), read)


def refused_memory():
    """While a read has room promised to it, there is no memory for a push: nothing of that is taken, all of this is."""
    global hits
    strategy = TextHeadTail(1 << 20, 0)
    retainer = TextRetainer(strategy)
    source = pipe_with(LINES[:1000])
    answers = []

    def push_in_vain():
        chunks = (b"+" * (64 << 10), "\N{EURO SIGN}" * (64 << 10))
        answers.extend((refused(retainer, chunk), retainer.seen_bytes) for chunk in chunks)

    with after_reads(push_in_vain):
        retainer.drain(source, timeout=5)
    os.close(source)
    assert answers == [(1, 0), (1, 0)], answers
    assert retainer.finish() == kept(strategy, LINES[:1000])
    hits += 2


def shared_promises():
    """Two drains at once into one retainer: each read has room promised to it, also when the other drain has ended."""
    global hits
    retainer = TextRetainer(TextTail(1 << 20))
    both = threading.Barrier(2, timeout=CASE_LIMIT)
    answers = []

    def push_in_vain():
        one_of_them = both.wait() == 0
        if one_of_them:
            # Room for both blocks and no more.
            answers.append((refused(retainer, b"+" * (64 << 10)), retainer.seen_bytes))
        both.wait()
        if one_of_them:
            for drain in drains:
                if drain is not threading.current_thread():
                    drain.join(CASE_LIMIT)
            # That has been doubled for the last look of the other drain, which has brought 1,000 bytes.
            answers.append((refused(retainer, b"+" * (192 << 10)), retainer.seen_bytes))

    sources = [pipe_with(LINES[:1000]) for _ in range(2)]
    drains = [threading.Thread(target=retainer.drain, args=[source]) for source in sources]
    with after_reads(push_in_vain):
        for drain in drains:
            drain.start()
        for drain in drains:
            drain.join()
    for source in sources:
        os.close(source)
    assert answers == [(1, 0), (1, 1000)], answers
    assert retainer.finish() == kept(TextTail(1 << 20), LINES[:1000] * 2)
    hits += 2


def measured_promises():
    """What is pushed while a read has room promised to it is taken where there is room for just both, and else not."""
    global hits
    for unit in (b"+", "+", "\N{LATIN SMALL LETTER E WITH ACUTE}", "\N{EURO SIGN}", "\N{GRINNING FACE}"):
        measured_promise(unit)
        hits += 1


def measured_promise(unit):
    strategy = TextHead(1 << 20)
    retainer = TextRetainer(strategy)
    before = b"-" * 100_000
    # Twice as much is allocated for the read, of which it is promised a block.
    room = 100_000 - (64 << 10)
    encoded = unit if type(unit) is bytes else unit.encode()
    retainer.push(before)
    source = pipe_with(LINES[:1000])
    answers = []

    def push():
        answers.extend(refused(retainer, unit * (size // len(encoded))) for size in (60_000, room))

    with after_reads(push):
        retainer.drain(source)
    os.close(source)
    assert answers == [1, 0], (unit, answers)
    assert retainer.finish() == kept(strategy, before + encoded * (room // len(encoded)) + LINES[:1000]), unit


def broken_promises():
    """What was promised to a read that is over, with something or with nothing, is promised no more."""
    global hits
    retainer = TextRetainer(TextTail(1 << 20))
    source, writer = os.pipe()
    for data, most in (b"", 64 << 10), (b"data\n", 128 << 10):
        SHIM.fault_arm(b"realloc", errno.ENOMEM, 1, FOREVER, most + 1)
        for _ in range(3):
            os.write(writer, data)
            # Long enough to read, and to find nothing more.
            assert retainer.drain(source, timeout=0.1).status == "timeout"
        SHIM.fault_disarm()
    os.close(writer)
    os.close(source)
    assert retainer.finish().text == "data\n" * 3
    # It would have failed.
    SHIM.fault_arm(b"realloc", errno.ENOMEM, 1, FOREVER, most + 1)
    with contextlib.suppress(MemoryError):
        retainer.push(b"+" * most)
    SHIM.fault_disarm()
    hits += SHIM.fault_hits()


def any_memory():
    """Every allocation of Python's own in turn, in a drain."""
    global hits
    import _testcapi

    for nth in range(1, TOO_MANY):
        scenario = Drain()
        scenario.prepare()
        before = descriptors()
        SHIM.fault_reset()
        failed = True
        _testcapi.set_nomemory(nth, nth + 1)
        try:
            scenario.act()
            failed = False
        except MemoryError:
            pass
        finally:
            _testcapi.remove_mem_hooks()
        assert descriptors() == before, nth
        scenario.check_streams()
        scenario.clean()
        if not failed:
            break
        hits += 1


# Terminals


def terminal():
    """EIO is how a terminal says that nobody has its other side any more."""
    global hits
    for nth in (1, 2):
        retainer = TextRetainer(TextHeadTail(100, 100))
        ours, theirs = os.openpty()
        try:
            os.write(theirs, b"x" * 10)
            SHIM.fault_reset()
            SHIM.fault_arm(b"read", errno.EIO, nth, nth, 0)
            if nth == 2:
                os.close(theirs)
            result = retainer.drain(ours, timeout=30)
            hits += SHIM.fault_hits()
            assert (result.status, result.nbytes) == ("eof", 10 * (nth - 1)), result
            assert retainer.seen_bytes == result.nbytes == SHIM.fault_bytes_read()
        finally:
            SHIM.fault_disarm()
            os.close(ours)
            if nth == 1:
                os.close(theirs)


def unreadable():
    """Descriptors of which no read succeeds, whoever asks: the error is the one that it was."""
    global hits
    for path, number in (("/proc/self/mem", errno.EIO), ("/", errno.EISDIR)):
        source = os.open(path, os.O_RDONLY)
        raised = None
        try:
            TextRetainer(TextHead(10)).drain(source, timeout=30)
        except OSError as error:
            raised = error
        finally:
            os.close(source)
        hits += 1
        assert raised is not None, path
        assert raised.errno == number, (path, raised)


# The end of a program, without a descriptor that tells of it


@contextlib.contextmanager
def without_pidfd(word):
    real = os.pidfd_open

    def refused(pid, flags=0):
        number = getattr(errno, word)
        raise OSError(number, os.strerror(number))

    if word == "deleted":
        del os.pidfd_open
    else:
        os.pidfd_open = refused
    try:
        yield
    finally:
        os.pidfd_open = real


def looked_for_exit(word):
    """The end is noticed soon, and looking for it is no spinning."""
    global hits
    with without_pidfd(word):
        hits += 1
        before = descriptors()
        # Another holds the pipes: only the program's own end can tell.
        result = run(["sh", "-c", f"sleep {SLEEP} & echo $!; exit 3"], grace=0.0)
        os.kill(int(result.stdout.text), signal.SIGKILL)
        assert (result.returncode, result.eof, result.timed_out) == (3, False, False), result
        assert result.elapsed < SLACK
        assert descriptors() == before
        assert not leftovers()

        SHIM.fault_reset()
        result = run(["sh", "-c", "sleep 0.4; exit 4"], stdout=None, stderr=None)
        assert (result.returncode, result.eof, result.stdout) == (4, True, None), result
        # One each 20 ms; fewer where this was kept waiting.
        assert 1 <= SHIM.fault_polls() <= 1 + result.elapsed / 0.02, (SHIM.fault_polls(), result.elapsed)

        for kind in (Both, Timeout, Stop):
            scenario = kind()
            result, raised, _ = attempt(scenario, "nothing", 0, 1, 1)
            assert raised is None, repr(raised)
            scenario.check(result)


def not_waited_for():
    """Children that the system reaps by itself: it says ECHILD, and there is no status."""
    global hits
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        for word in ("deleted", None):
            hits += 1
            with without_pidfd(word) if word else contextlib.nullcontext():
                result = run(["sh", "-c", "echo out; exit 3"])
                assert (result.returncode, result.eof, result.stdout.text) == (0, True, "out\n"), result
                result = run(["sh", "-c", "exec >/dev/null 2>&1; sleep 0.1; exit 3"])
                assert (result.returncode, result.eof) == (0, True), result
                result = run(["sleep", SLEEP], timeout=0.05, grace=0.05)
                assert (result.returncode, result.timed_out) == (0, True), result
                assert result.elapsed < 1.1 + SLACK
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def no_spinning():
    """EAGAIN, poll that comes back early, and a program that waits: as many calls as there is something to do."""
    global hits
    for blocking in (True, False):
        source, writer = os.pipe()
        os.set_blocking(source, blocking)
        SHIM.fault_reset()
        SHIM.fault_arm(b"read", errno.EAGAIN, 1, 1, 0)
        os.write(writer, b"abc")
        retainer = TextRetainer(TextHeadTail(10, 10))
        result = retainer.drain(source, timeout=0.3)
        hits += SHIM.fault_hits()
        SHIM.fault_disarm()
        os.close(source)
        os.close(writer)
        assert (result.status, result.nbytes) == ("timeout", 3), result
        # One that fails to read, one that reads, one that waits, and perhaps one more at the deadline.
        assert SHIM.fault_polls() <= 5, SHIM.fault_polls()

    SHIM.fault_reset()
    result = run(["sh", "-c", "sleep 0.3"])
    assert result.returncode == 0
    assert SHIM.fault_polls() <= 6, SHIM.fault_polls()

    # With input for which there is no room.
    SHIM.fault_reset()
    result = run(["sleep", SLEEP], input=bytes(1 << 20), timeout=0.3)
    assert result.timed_out
    assert SHIM.fault_polls() <= 8, SHIM.fault_polls()
    assert SHIM.fault_bytes_written() < 1 << 20


def unanswered():
    """No way at all to learn of a program's end: its time is over all the same."""
    global hits
    with without_pidfd("ENOSYS"):
        for word in ("ENOSYS", "EINVAL", "ECHILD"):
            SHIM.fault_arm(b"waitid", getattr(errno, word), 1, FOREVER, 0)
            started = time.monotonic()
            run(["sh", "-c", f"exec >/dev/null 2>&1; exec sleep {SLEEP}"], timeout=0.05, grace=0.05)
            hits += SHIM.fault_hits()
            SHIM.fault_disarm()
            assert time.monotonic() - started < 1.1 + SLACK
            leftovers()


def unanswered_without_timeout():
    """The same without a timeout: the program ends by itself, and an error or a result must follow."""
    global hits
    with without_pidfd("ENOSYS"):
        SHIM.fault_arm(b"waitid", errno.ENOSYS, 1, FOREVER, 0)
        hits += 1
        try:
            with contextlib.suppress(OSError):
                result = run(["sh", "-c", "echo out; exit 3"])
                assert (result.returncode, result.eof, result.stdout.text) == (3, True, "out\n"), result
        finally:
            SHIM.fault_disarm()
        assert not leftovers()


# Starting a program


def few_descriptors():
    """As many descriptors as there are, and one more each time, until there are enough."""
    global hits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(int(name) for name in os.listdir("/proc/self/fd")) + 1
    data = LINES[: 32 << 10]
    good = 0
    for limit in range(used - 1, used + 24):
        before = descriptors()
        raised = None
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        try:
            result = run(["sh", "-c", CAT], input=data)
        except OSError as error:
            raised = error.with_traceback(None)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert descriptors() == before, limit
        assert not leftovers(), limit
        if raised is not None:
            assert raised.errno == errno.EMFILE, (limit, raised)
            assert not good, f"{limit}: {raised!r} although fewer were enough"
            hits += 1
        else:
            flags = (result.returncode, result.eof, result.stdout.seen_bytes, result.stderr.text)
            assert flags == (0, True, len(data), "done\n"), (limit, result)
            good += 1
    assert good, "never enough"


def low_limit():
    """A limit that was lowered since: poll refuses as many entries as the engine has, with EINVAL."""
    global hits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    process = subprocess.Popen(["sh", "-c", CAT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    before = descriptors()
    raised = None
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    started = time.monotonic()
    try:
        communicate(process, input=b"abc", timeout=5, grace=0.1)
    except OSError as error:
        raised = error.with_traceback(None)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    hits += 1
    assert raised is not None
    assert raised.errno == errno.EINVAL, repr(raised)
    assert time.monotonic() - started < 1.1 + SLACK
    assert len(descriptors()) == len(before) - 3
    assert not leftovers(), "not reaped"


def no_processes():
    """No process may be started any more: fork says EAGAIN."""
    global hits
    # What is imported when it is first used must be there before this is nobody.
    run(["true"])
    leftovers()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    before = descriptors()
    try:
        run(["true"], input=b"abc")
    except BlockingIOError:
        hits += 1
    else:
        raise AssertionError("a process was started")
    gc.collect()
    assert descriptors() == before
    assert not leftovers()


class UnluckyPopenError(Exception):
    pass


def unstarted():
    """Popen raises: what it raises comes out, and nothing is left behind."""
    global hits
    wrong = [
        (FileNotFoundError, ["no-such-program-anywhere"], {}),
        (FileNotFoundError, ["true"], {"cwd": "/no/such/directory"}),
        (PermissionError, ["/etc/passwd"], {}),
        (subprocess.SubprocessError, ["true"], {"preexec_fn": lambda: 1 / 0}),
    ]
    for expected, words, options in wrong:
        before = descriptors()
        try:
            run(words, input=b"abc", **options)
        except expected:
            hits += 1
        else:
            raise AssertionError(f"{words} was started")
        gc.collect()
        assert descriptors() == before, words
        assert not leftovers()
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            continue
        raise AssertionError(f"{words}: {pid} is there")


def unlucky():
    """Something raises when the program has been started already: it is ended, reaped, and its pipes are closed."""
    global hits
    places = [
        (os, "pidfd_open"),
        (os, "set_blocking"),
        (child_module, "take_buffered"),
        (child_module.engine, "Pump"),
        (child_module.Child, "live"),
    ]
    for owner, name in places:
        for nth in (1, 2, 3):
            real = getattr(owner, name)
            count = 0

            def raising(*args, real=real, nth=nth, **kwargs):
                nonlocal count
                count += 1
                if count == nth:
                    raise UnluckyPopenError
                return real(*args, **kwargs)

            before = descriptors()
            setattr(owner, name, raising)
            started = time.monotonic()
            raised = False
            try:
                run(["sleep", SLEEP], input=b"abc", timeout=0.05, grace=0.05)
            except UnluckyPopenError:
                raised = True
            finally:
                setattr(owner, name, real)
            hits += raised
            assert raised or nth > 1, name
            assert time.monotonic() - started < 1.1 + SLACK, name
            after = descriptors()
            assert not leftovers(), (name, nth)
            assert after == before, (name, nth)


def raised_after_fork():
    """A Popen that raises when it has forked keeps its program to itself; the exception comes out, no pipe stays."""
    global hits

    class Unlucky(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            raise UnluckyPopenError

    before = descriptors()
    real, subprocess.Popen = subprocess.Popen, Unlucky
    try:
        run(["cat"], input=b"abc")
    except UnluckyPopenError:
        hits += 1
    finally:
        subprocess.Popen = real
    # The list here is the only one that knows it.
    assert len(RecordedPopen.started) == 1
    leftovers()
    gc.collect()
    assert descriptors() == before


# Ctrl-C while a signal is being sent


def interrupted_signal():
    """An exception out of the sending of a signal: the program is killed all the same."""
    global hits
    for nth in (1, 2):
        real = os.killpg
        count = 0

        def interrupted(group, number, real=real, nth=nth):
            nonlocal count
            count += 1
            if count == nth:
                raise KeyboardInterrupt
            real(group, number)

        before = descriptors()
        os.killpg = interrupted
        raised = False
        try:
            run(["sleep", SLEEP], timeout=0.05, grace=0.05)
        except KeyboardInterrupt:
            raised = True
        finally:
            os.killpg = real
        hits += raised
        after = descriptors()
        left = leftovers()
        assert raised, nth
        assert after == before, nth
        # Where SIGKILL itself was interrupted there is no other.
        assert not left or nth == 2, f"signal {nth}: not killed"


# Input that the caller left in the buffer of a pipe


def full_input_pipe():
    """A pipe that is full, with more in its buffer: the time is over all the same."""
    global hits
    process = subprocess.Popen(["sleep", SLEEP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.set_blocking(process.stdin.fileno(), False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(process.stdin.fileno(), b"x" * 4096)
    os.set_blocking(process.stdin.fileno(), True)
    process.stdin.write(b"x" * 100)
    started = time.monotonic()
    hits += 1
    result = communicate(process, input=b"abc", timeout=0.1, grace=0.1)
    assert result.timed_out, result
    assert time.monotonic() - started < 1.2 + SLACK
    assert not leftovers()


def full_nonblocking_input_pipe():
    """The same with an end that does not block: an error, or a timeout; and nothing stays behind."""
    global hits
    before = descriptors()
    process = subprocess.Popen(["sleep", SLEEP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.set_blocking(process.stdin.fileno(), False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(process.stdin.fileno(), b"x" * 4096)
    process.stdin.write(b"x" * 100)
    hits += 1
    with contextlib.suppress(BlockingIOError):
        communicate(process, input=b"abc", timeout=0.1, grace=0.1)
    open_files = [name for name in ("stdin", "stdout", "stderr") if not getattr(process, name).closed]
    for name in open_files:
        with contextlib.suppress(OSError):
            getattr(process, name).close()
    after = descriptors()
    left = leftovers()
    assert not open_files, f"left open: {open_files}"
    assert after == before
    assert not left, "not reaped"


SWEEPS = {"sweep": sweep, "onward": onward, "first": first, "broken_input": broken_input}
PROGRAMS = {
    program.__name__: program
    for program in (
        large_object,
        raced_memory,
        refused_memory,
        shared_promises,
        measured_promises,
        broken_promises,
        any_memory,
        terminal,
        unreadable,
        looked_for_exit,
        not_waited_for,
        no_spinning,
        unanswered,
        unanswered_without_timeout,
        few_descriptors,
        low_limit,
        no_processes,
        unstarted,
        unlucky,
        raised_after_fork,
        interrupted_signal,
        full_input_pipe,
        full_nonblocking_input_pipe,
    )
}


def main(program, *words):
    if program in SWEEPS:
        SWEEPS[program](*words)
    else:
        case(program, lambda: PROGRAMS[program](*words))
        leftovers()
    json.dump({"problems": problems, "hits": hits}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
