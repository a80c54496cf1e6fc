"""Signals while the engine reads: heard by a pipe of its own, in place of the program's wakeup descriptor."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest
from processes import interpreter
from watch import SOON, descriptors, wait_for, wait_until_read

import retention
from retention import TextHead, TextRetainer
from retention._engine import Pump

pytestmark = pytest.mark.usefixtures("nothing_left")


class HandlerError(Exception):
    pass


@pytest.fixture
def retainer():
    return TextRetainer(TextHead(100))


class Silent:
    """A pipe into which nothing is written while it is drained, but a byte that shows that it is."""

    def __init__(self):
        self.reader, self.writer = os.pipe()

    def wait_until_drained(self):
        os.write(self.writer, b"x")
        wait_until_read(self.writer)

    def end(self):
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1


@pytest.fixture
def silent():
    pipe = Silent()
    yield pipe
    pipe.end()
    os.close(pipe.reader)


@pytest.fixture
def handle():
    """Sets the handler of SIGUSR1. Returns what grows each time that it is called."""
    before = signal.getsignal(signal.SIGUSR1)

    def arrange(handler):
        calls = []

        def handle(number, frame):
            calls.append(number)
            handler(number, frame)

        signal.signal(signal.SIGUSR1, handle)
        return calls

    yield arrange
    signal.signal(signal.SIGUSR1, before)


@pytest.fixture
def wakeup():
    """A wakeup descriptor of the program's own, as an event loop has one: the end that is read."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer)
    yield reader, writer
    assert signal.set_wakeup_fd(before) == writer
    os.close(reader)
    os.close(writer)


def raising(number, frame):
    raise HandlerError


@contextlib.contextmanager
def signalled(silent, handled):
    """Sends SIGUSR1 to the main thread while that drains the pipe, which ends when it has been handled."""

    def send():
        silent.wait_until_drained()
        # It may be about to wait; most often it waits by now.
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGUSR1)
        wait_for(lambda: handled)
        silent.end()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_a_handler_that_raises_ends_a_wait(retainer, silent, handle):
    with signalled(silent, handle(raising)), pytest.raises(HandlerError):
        retainer.drain(silent.reader)


def test_the_programs_wakeup_descriptor_gets_what_came_meanwhile(retainer, silent, handle, wakeup):
    handled = handle(lambda number, frame: None)
    with signalled(silent, handled):
        assert retainer.drain(silent.reader).status == "eof"
    assert handled == [signal.SIGUSR1]
    assert os.read(wakeup[0], 10) == bytes([signal.SIGUSR1])


def test_the_programs_wakeup_descriptor_gets_it_also_when_the_handler_raises(retainer, silent, handle, wakeup):
    with signalled(silent, handle(raising)), pytest.raises(HandlerError):
        retainer.drain(silent.reader)
    assert os.read(wakeup[0], 10) == bytes([signal.SIGUSR1])


def test_a_wakeup_descriptor_that_nobody_reads_does_not_hold_anything_up(retainer, silent, handle, wakeup):
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(wakeup[1], bytes(4096))
    with signalled(silent, handle(raising)), pytest.raises(HandlerError):
        retainer.drain(silent.reader)


def test_a_wakeup_descriptor_that_a_handler_sets_stays(retainer, silent, handle, wakeup):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        with signalled(silent, handle(lambda number, frame: signal.set_wakeup_fd(writer))):
            retainer.drain(silent.reader)
        assert signal.set_wakeup_fd(wakeup[1]) == writer
    finally:
        os.close(reader)
        os.close(writer)


def test_a_wakeup_descriptor_that_was_closed_meanwhile_is_no_error(retainer, silent, handle, wakeup):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    with signalled(silent, handle(lambda number, frame: (os.close(reader), os.close(writer)))):
        assert retainer.drain(silent.reader).status == "eof"
    assert signal.set_wakeup_fd(wakeup[1]) == -1


def test_a_signal_in_the_last_moment_is_passed_on(retainer, silent, handle, wakeup, monkeypatch):
    handled = handle(lambda number, frame: None)
    set_wakeup_fd = signal.set_wakeup_fd

    def late(fd, **options):
        if fd == -1:
            signal.raise_signal(signal.SIGUSR1)
        return set_wakeup_fd(fd, **options)

    silent.end()
    with monkeypatch.context() as patches:
        patches.setattr("_signal.set_wakeup_fd", late)
        assert retainer.drain(silent.reader).status == "eof"
    assert handled == [signal.SIGUSR1]
    assert os.read(wakeup[0], 10) == bytes([signal.SIGUSR1])


def test_a_handler_may_run_a_program_itself(silent, handle, wakeup):
    texts = []
    with signalled(silent, handle(lambda number, frame: texts.append(retention.run(["echo", "inner"]).stdout.text))):
        # It reads the pipe to its end.
        result = retention.run(["sh", "-c", "cat; echo outer"], stdin=silent.reader)
    assert (texts, result.stdout.text) == (["inner\n"], "xouter\n")
    assert os.read(wakeup[0], 10) == bytes([signal.SIGUSR1])


def test_another_thread_leaves_the_wakeup_descriptor_alone(retainer, silent, wakeup):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(retainer.drain(silent.reader)))
    before = descriptors()
    thread.start()
    silent.wait_until_drained()
    # Neither is there a pipe: nobody would see to it.
    assert signal.set_wakeup_fd(wakeup[1]) == wakeup[1]
    assert descriptors() == before
    silent.end()
    thread.join()
    assert [answer.status for answer in answers] == ["eof"]


def test_what_gets_the_numbers_of_the_pipe_afterwards_stays_open(retainer, silent):
    pump = Pump([(silent.reader, retainer, False)])
    assert pump.run(0.01) == "timeout"
    # Who does not wait needs no pipe.
    with open(os.devnull) as one, open(os.devnull) as other:
        assert pump.run(0) == "timeout"
        assert os.path.sameopenfile(one.fileno(), other.fileno())


WITHOUT_DESCRIPTORS = """
import os, resource, signal, sys, threading
from retention import TextHead, TextRetainer

class HandlerError(Exception):
    pass

def handler(number, frame):
    raise HandlerError

retainer = TextRetainer(TextHead(5))
retainer.drain(os.open("/dev/null", os.O_RDONLY))
signal.signal(signal.SIGALRM, handler)
told, teller = os.pipe()
os.set_blocking(teller, False)
signal.set_wakeup_fd(teller)
{source}
unused = os.dup(0)
os.close(unused)
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (unused, limits[1]))
try:
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    retainer.drain(reader, timeout={timeout})
except HandlerError:
    print("interrupted")
# What else there is to do at the end may need some.
resource.setrlimit(resource.RLIMIT_NOFILE, limits)
print(os.read(told, 10) == bytes([signal.SIGALRM]), signal.set_wakeup_fd(-1) == teller)
"""


IDLE = "reader, writer = os.pipe()"

# The system gives it to a thread that has not blocked it: the one that drains is not interrupted.
BLOCKED = f"""
{IDLE}
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
"""


@pytest.mark.parametrize(
    "source",
    [IDLE, BLOCKED, "reader = os.open('/dev/zero', os.O_RDONLY)"],
    ids=["idle", "idle and not interrupted", "flooded"],
)
@pytest.mark.parametrize("timeout", [None, 10 * SOON])
def test_signals_are_heard_where_there_is_no_descriptor_left_for_a_pipe(source, timeout):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_DESCRIPTORS.format(source=source, timeout=timeout)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SOON,
    )
    assert (run.stdout, run.stderr, run.returncode) == ("interrupted\nTrue True\n", "", 0)


def test_the_pipe_for_signals_may_be_descriptor_0():
    answers = interpreter(
        """
        import os, signal
        from retention import TextHead, TextRetainer

        reader, writer = os.pipe()
        os.write(writer, b"text")
        os.close(writer)
        os.close(0)
        print(TextRetainer(TextHead(10)).drain(reader).nbytes, signal.set_wakeup_fd(-1))
        try:
            os.fstat(0)
        except OSError:
            print("closed")
        """
    )
    assert answers == "4 -1\nclosed\n"


def test_the_programs_wakeup_descriptor_may_be_descriptor_0():
    answers = interpreter(
        """
        import os, signal
        from retention import TextHead, TextRetainer

        class HandlerError(Exception):
            pass

        def handler(number, frame):
            raise HandlerError

        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        os.dup2(writer, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.set_wakeup_fd(0)
        idle, _ = os.pipe()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            TextRetainer(TextHead(10)).drain(idle)
        except HandlerError:
            print(os.read(reader, 10) == bytes([signal.SIGALRM]), signal.set_wakeup_fd(-1))
        """
    )
    assert answers == "True 0\n"


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_THREAD"), reason="the system does not count by threads")
def test_who_waits_is_not_woken_in_vain(retainer, silent):
    # Only the voluntary switches of this thread: it waits once, not ten times a second.
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    retainer.drain(silent.reader, timeout=1)
    assert resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before < 8
