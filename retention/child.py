"""A started program until it is reaped: its pipes are pumped, and when it must be, it is ended. POSIX only."""

from __future__ import annotations

import os
from io import BufferedWriter
from time import monotonic, sleep

from retention.draining import BLOCK, engine, take_buffered
from retention.spill import SpillFile, SpillResult
from retention.text import TextRetainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from typing import Any, Protocol

    class _Process(Protocol):
        """What is needed of a Popen."""

        pid: int
        returncode: Any
        stdin: Any
        stdout: Any
        stderr: Any

        def poll(self) -> int | None: ...

else:
    # What `signal` wraps in enums, which take 3 ms to import: a short command would notice.
    import _signal as signal


# How long a program that SIGKILL was sent to may take to be gone. One that waits for a device may take for ever.
KILL_PATIENCE = 1.0

# Seconds between two calls of who wants to show that something goes on.
TICK = 0.2


class Child:
    """One program, and what has become of it so far.

    process: set by who starts it. All else is made before, so that no program is lost for want of memory.
    ours: the pipes were made by us, for this; then our ends may be made non-blocking.
    waker: a descriptor that another thread makes readable to have the program ended.
    tick: called a few times a second while it is pumped.
    timed_out, stopped, woken: it was ended because its time was over, a retainer asked for that, or the waker was.
    """

    process: _Process

    def __init__(
        self,
        out: TextRetainer | None,
        err: TextRetainer | None,
        grace: float,
        *,
        ours: bool,
        spill: SpillFile | None = None,
        waker: int = -1,
        tick: Callable[[], None] | None = None,
    ) -> None:
        self.out, self.err, self.grace, self.ours = out, err, grace, ours
        self.spill, self.waker, self.tick = spill, waker, tick
        self.pump: Any = None
        self.files: list[Any] = []
        self.timed_out = self.stopped = self.woken = self.ending = self.refused = False
        self.kill_limit: float | None = None

    def attend(self, data: memoryview | None, deadline: float | None) -> None:
        """Pump until the program is done with, and reap it. Whatever is raised meanwhile, it is ended first."""
        pidfd = -1
        try:
            pidfd = open_pidfd(self.process)
            self.start_pump(data, pidfd)
            self.live(deadline)
        except BaseException:
            self.end()
            raise
        finally:
            # One by one: there may be no memory for a tuple of them.
            close(self.process.stdin)
            close(self.process.stdout)
            close(self.process.stderr)
            if pidfd >= 0:
                os.close(pidfd)
            self.reap()

    def start_pump(self, data: memoryview | None, pidfd: int) -> None:
        readers = []
        buffered = []
        for file, retainer in ((self.process.stdout, self.out), (self.process.stderr, self.err)):
            if retainer is not None:
                assert file is not None
                if self.ours:
                    os.set_blocking(file.fileno(), False)
                readers.append((file.fileno(), retainer, self.ours))
                buffered.append((retainer, take_buffered(file)))
                self.files.append(file)
        self.pump = engine.Pump(readers, waker=self.waker)
        if self.spill is not None and self.spill.fd >= 0:
            # The first reader is that of the standard output.
            self.pump.spill(self.spill.fd, self.spill.max_bytes)
        if self.process.returncode is None:
            self.pump.watch(self.process.pid, pidfd)
        stdin = self.process.stdin
        if stdin is not None and not stdin.closed:
            # What the caller has written to it and has not gone out yet comes first.
            unwritten = take_unwritten(stdin) + bytes(data or b"") if type(stdin) is BufferedWriter else data
            if unwritten:
                if self.ours:
                    os.set_blocking(stdin.fileno(), False)
                self.pump.write(stdin.fileno(), unwritten, self.ours)
            else:
                close(stdin)
        for retainer, chunk in buffered:
            self.stopped |= retainer.push(chunk).should_stop

    def live(self, deadline: float | None) -> None:
        if self.stopped:
            event = "stopped"
        elif self.process.returncode is not None:
            event = "exited"
        else:
            event = self.pump_until(deadline)
        if event == "exited":
            # By itself. Others may hold its pipes, for as long as they like.
            limit = monotonic() + self.grace
            event = self.pump_until(limit if deadline is None else min(limit, deadline))
            if event == "timeout":
                self.sweep()
        elif event == "timeout":
            self.timed_out = True
            self.end()
        if event in ("stopped", "woken"):
            self.woken = event == "woken"
            self.end()

    def pump_until(self, deadline: float | None) -> str:
        """What happens next, other than that the input has been taken."""
        while True:
            limit = deadline
            if self.tick is not None:
                limit = monotonic() + TICK if deadline is None else min(deadline, monotonic() + TICK)
            event: str = self.pump.run(None if limit is None else limit - monotonic())
            if event == "timeout" and limit != deadline and self.tick is not None:
                self.tick()
                continue
            if event == "stopped":
                # The pipes of those who asked are closed at once: the program gets EPIPE, as under `head`.
                self.stopped = True
                for number, file in enumerate(self.files):
                    if self.pump.asked_to_stop(number):
                        close(file)
            if event != "written":
                return event
            close(self.process.stdin)

    def end(self) -> None:
        """Our own stop: SIGTERM, SIGKILL at the end of the grace, and no waiting for the pipes any more."""
        if self.ending:
            # What was raised in here has killed the program on its way: there is one grace in all.
            return
        self.ending = True
        try:
            self.signal(signal.SIGTERM)
            limit = monotonic() + self.grace
            while self.pump is not None and not (self.pump.exited and not self.pump.reading):
                if self.pump_until(limit) in ("timeout", "done"):
                    break
        finally:
            # Also where a second Ctrl-C comes during the grace. Before the program is reaped: until then nobody else
            # can have its pid, nor its group's. What it has left behind goes with it.
            self.kill_limit = monotonic() + KILL_PATIENCE
            self.signal(signal.SIGKILL)
            self.see_it_gone()

    def see_it_gone(self) -> None:
        while self.pump is not None and not (self.pump.exited or self.refused or self.process.returncode is not None):
            if self.pump_until(self.kill_limit) == "timeout":
                break
        if self.pump is not None:
            self.sweep()

    def reap(self) -> None:
        """An end that was seen is reaped at once, or by another thread that is just about to. One that was not, where
        pumping failed, has the rest of its second; a program that cannot be ended is left to who started it."""
        limit = monotonic() + KILL_PATIENCE if self.kill_limit is None else self.kill_limit
        while self.process.poll() is None and not self.refused and monotonic() < limit:
            sleep(0.01)

    def sweep(self) -> None:
        """Read what is in the pipes now: at most what a pipe holds, however fast somebody goes on filling it."""
        for _ in range(max([pipe_blocks(file) for file in self.files if not file.closed], default=0)):
            if not self.pump.reading:
                return
            self.pump_until(0)

    def close_spill(self) -> SpillResult | None:
        if self.spill is None:
            return None
        own_stop = self.timed_out or self.stopped or self.woken
        ended = self.pump is not None and self.pump.at_end(0) and not own_stop
        return self.spill.close(self.pump, ended)

    def signal(self, number: int) -> None:
        pid = self.process.pid
        if self.process.returncode is not None or not engine.is_child(pid):
            # Somebody else has reaped it: the pid may be anybody's by now.
            return
        try:
            # Only a group of its own: never that of this program, whatever the Popen was made with.
            if os.getpgid(pid) == pid and pid != os.getpgrp():
                os.killpg(pid, number)
            else:
                os.kill(pid, number)
            self.refused = False
        except ProcessLookupError:
            return
        except PermissionError:
            self.refused = True


def open_pidfd(process: _Process) -> int:
    """A descriptor that tells of a child's end; -1 where the system has none to give, and it is asked for instead."""
    if process.returncode is None and hasattr(os, "pidfd_open"):
        try:
            return os.pidfd_open(process.pid)
        except OSError:
            return -1
    return -1


def pipe_blocks(file: Any) -> int:
    """The blocks that a pipe may hold."""
    import fcntl

    try:
        capacity = fcntl.fcntl(file.fileno(), fcntl.F_GETPIPE_SZ)
    except (OSError, AttributeError):
        return 1
    return -(-capacity // BLOCK)


def take_unwritten(file: BufferedWriter) -> bytes:
    """What was written to a buffered writer and has not gone out yet: flushing it might wait for ever."""
    parts: list[bytes] = []

    def take(part: memoryview) -> int:
        parts.append(bytes(part))
        return len(part)

    # For its while, writing goes to us.
    raw: Any = file.raw
    raw.write = take
    try:
        file.flush()
    finally:
        del raw.write
    return b"".join(parts)


def close(file: Any) -> None:
    """Close a pipe. What cannot be written any more, or closed, concerns nobody: the others must be closed too."""
    if file is not None:
        try:
            file.close()
        except OSError:
            return
