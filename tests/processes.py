"""Programs for tests, which end with them: one that stays, and an interpreter."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap

import pytest
from watch import SOON

from retention import TextRetainer

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# Larger amounts, for whoever has the time.
THOROUGH = bool(os.environ.get("RETENTION_THOROUGH"))


def kept(strategy, stream):
    """What is kept of a stream, by pushing it."""
    retainer = TextRetainer(strategy)
    retainer.push(stream)
    return retainer.finish()


class Holder:
    """A program for a child or grandchild that stays, silent, until the test is over or it is ended before.

    `command` is for a shell, in a process that was given the descriptors `fds`. It needs no time limit: it reads a
    pipe that ends with the test.
    """

    def __enter__(self):
        self.reader, self.writer = os.pipe()
        # Nobody writes to the other pipe: it ends when the last process that has inherited it is gone.
        self.life, self.inherited = os.pipe()
        self.fds = (self.reader, self.inherited)
        self.command = f"cat /dev/fd/{self.reader}"
        return self

    def __exit__(self, *exception):
        self.release()
        try:
            assert self.is_gone(SOON)
        finally:
            for fd in (self.reader, self.life):
                os.close(fd)

    def release(self):
        """Let the program end."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def is_gone(self, seconds):
        """Whether all who have inherited from the test have ended, or do so within some seconds."""
        if self.inherited >= 0:
            os.close(self.inherited)
            self.inherited = -1
        return bool(select.select([self.life], [], [], seconds)[0])

    def stays(self):
        return not self.is_gone(0.1)


def interpreter(program, *, stdin=subprocess.DEVNULL, **values):
    """Run a program in an interpreter and a session of its own; returns what it printed. It may hang, or be killed."""
    source = "".join(f"{name} = {value!r}\n" for name, value in values.items()) + textwrap.dedent(program)
    command = [sys.executable, "-X", "faulthandler", "-c", source]
    # Files, as nobody can hold them open.
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(command, stdin=stdin, stdout=out, stderr=err, start_new_session=True) as process:
            try:
                process.wait(SOON)
            except subprocess.TimeoutExpired:
                # The handler of faults says where it hangs.
                process.send_signal(signal.SIGABRT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(SOON)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        output, complaint = out.read(), err.read()
    if (process.returncode, complaint) != (0, ""):
        pytest.fail(f"status {process.returncode}\n{output}{complaint}")
    return output
