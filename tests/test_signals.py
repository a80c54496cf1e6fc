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
from watch import SLACK, SOON, descriptors

import retention
from retention import TextHead, TextRetainer

pytestmark = pytest.mark.usefixtures("nothing_left")


class HandlerError(Exception):
    pass


@pytest.fixture
def retainer():
    return TextRetainer(TextHead(100))


@pytest.fixture
def silent():
    """A pipe into which nobody writes."""
    reader, writer = os.pipe()
    yield reader
    os.close(reader)
    os.close(writer)


@pytest.fixture
def handle():
    """Sets the handler of SIGUSR1."""
    before = signal.getsignal(signal.SIGUSR1)
    yield lambda handler: signal.signal(signal.SIGUSR1, handler)
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


def signalled_soon():
    """A thread that sends SIGUSR1 when the main thread is likely to wait."""
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    return timer


def test_a_handler_that_raises_ends_a_wait(retainer, silent, handle):
    handle(raising)
    timer = signalled_soon()
    began = time.monotonic()
    with pytest.raises(HandlerError):
        retainer.drain(silent)
    assert time.monotonic() - began < SLACK
    timer.join()


def test_the_programs_wakeup_descriptor_gets_what_came_meanwhile(retainer, silent, handle, wakeup):
    handled = []
    handle(lambda number, frame: handled.append(number))
    timer = signalled_soon()
    assert retainer.drain(silent, timeout=0.4).status == "timeout"
    timer.join()
    assert handled == [signal.SIGUSR1]
    assert os.read(wakeup[0], 10) == bytes([signal.SIGUSR1])


def test_the_programs_wakeup_descriptor_gets_it_also_when_the_handler_raises(retainer, silent, handle, wakeup):
    handle(raising)
    timer = signalled_soon()
    with pytest.raises(HandlerError):
        retainer.drain(silent)
    timer.join()
    assert os.read(wakeup[0], 10) == bytes([signal.SIGUSR1])


def test_a_wakeup_descriptor_that_nobody_reads_does_not_hold_anything_up(retainer, silent, handle, wakeup):
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(wakeup[1], bytes(4096))
    handle(raising)
    timer = signalled_soon()
    with pytest.raises(HandlerError):
        retainer.drain(silent)
    timer.join()


def test_a_wakeup_descriptor_that_a_handler_sets_stays(retainer, silent, handle, wakeup):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    handle(lambda number, frame: signal.set_wakeup_fd(writer))
    timer = signalled_soon()
    try:
        retainer.drain(silent, timeout=0.4)
        timer.join()
        assert signal.set_wakeup_fd(wakeup[1]) == writer
    finally:
        os.close(reader)
        os.close(writer)


def test_a_wakeup_descriptor_that_was_closed_meanwhile_is_no_error(retainer, silent, handle, wakeup):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    handle(lambda number, frame: (os.close(reader), os.close(writer)))
    timer = signalled_soon()
    assert retainer.drain(silent, timeout=0.4).status == "timeout"
    timer.join()
    assert signal.set_wakeup_fd(wakeup[1]) == -1


def test_a_handler_may_run_a_program_itself(handle, wakeup):
    texts = []
    handle(lambda number, frame: texts.append(retention.run(["echo", "inner"]).stdout.text))
    timer = signalled_soon()
    result = retention.run(["sh", "-c", "sleep 0.4; echo outer"])
    timer.join()
    assert (texts, result.stdout.text) == (["inner\n"], "outer\n")
    assert os.read(wakeup[0], 10) == bytes([signal.SIGUSR1])


def test_another_thread_leaves_the_wakeup_descriptor_alone(retainer, silent, wakeup):
    found = []

    def drain():
        retainer.drain(silent, timeout=0.2)
        found.append(True)

    thread = threading.Thread(target=drain)
    before = descriptors()
    thread.start()
    time.sleep(0.1)
    # Neither is there a pipe: nobody would see to it.
    assert signal.set_wakeup_fd(wakeup[1]) == wakeup[1]
    assert descriptors() == before
    thread.join()
    assert found == [True]


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
{source}
unused = os.dup(0)
os.close(unused)
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (unused, hard))
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    retainer.drain(reader)
except HandlerError:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "source", ["reader, writer = os.pipe()", "reader = os.open('/dev/zero', os.O_RDONLY)"], ids=["idle", "flooded"]
)
def test_signals_are_heard_where_there_is_no_descriptor_left_for_a_pipe(source):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_DESCRIPTORS.format(source=source)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SOON,
    )
    assert (run.stdout, run.stderr, run.returncode) == ("interrupted\n", "", 0)


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_THREAD"), reason="the system does not count by threads")
def test_who_waits_is_not_woken_in_vain(retainer, silent):
    # Only the voluntary switches of this thread: it waits once, not ten times a second.
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    retainer.drain(silent, timeout=1)
    assert resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before < 8
