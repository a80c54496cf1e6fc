import faulthandler
import gc
import os
import signal
import subprocess
import threading
import time
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, settings
from processes import Holder
from watch import SLACK, SOON, children, descriptors, heirs, unread, wait_for

if "ASAN_OPTIONS" in os.environ:
    # For the interpreters that tests start: at its end CPython leaves memory behind, which is not what they are about;
    # and what asks for more memory than there is wants an error, not an end.
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1"

# Run in the background of a shell, or by nohup, we have inherited that these are ignored; so would every program here.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

# No deadline, for an example or for making one: the machines that run this are shared, and a slow moment is no failure.
# Fewer examples where the same tests run again, on another interpreter or under a sanitizer.
settings.register_profile(
    "retention",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=int(os.environ.get("RETENTION_EXAMPLES", "600")),
)
# The first example that fails is enough, and the same ones each time.
settings.register_profile(
    "mutants",
    settings.get_profile("retention"),
    max_examples=100,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("retention")


def pytest_collection_finish():
    """Spare the collector, which many tests call, what was there before the first of them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def real_stderr(pytestconfig):
    """The standard error of the whole run, which is not captured."""
    with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        fd = os.dup(2)
    yield fd
    os.close(fd)


@pytest.fixture
def bounded(real_stderr):
    """A test that hangs ends the whole run, with a traceback: nothing gentler would reach whatever hangs."""
    faulthandler.dump_traceback_later(4 * SOON, exit=True, file=real_stderr)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def nothing_left(bounded, monkeypatch):
    """No descriptor, no thread, no child, and none of their children."""
    mark = f"RETENTION_TEST={uuid4()}"
    monkeypatch.setenv(*mark.split("="))
    before = descriptors(), set(threading.enumerate()), children()
    yield
    # Those that have just been killed, and are not ours to reap, may take a moment.
    deadline = time.monotonic() + SLACK
    while (left := heirs(mark)) and time.monotonic() < deadline:
        time.sleep(0.01)
    after = descriptors(), set(threading.enumerate()), children()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert (left, *after) == (set(), *before)


@pytest.fixture
def holder():
    with Holder() as holder:
        yield holder


@pytest.fixture
def started_when(monkeypatch):
    """Has `run` go on with a program only once something holds of its process, a Popen.

    For what a program must have done before its time is over, or before it is sent a signal. That time counts from
    before its start, and may be over by then: what is in the pipes is read all the same.
    """

    def arrange(condition):
        class PatientPopen(subprocess.Popen):
            def __init__(self, *args, **options):
                super().__init__(*args, **options)
                wait_for(lambda: condition(self))

        monkeypatch.setattr(subprocess, "Popen", PatientPopen)

    return arrange


@pytest.fixture
def started_when_it_speaks(started_when):
    """The same, for whatever a program says first on its standard output."""
    started_when(lambda process: unread(process.stdout))
