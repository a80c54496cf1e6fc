"""A command under `retain --`: started, looked after with signals and progress, and told of by its exit status."""

from __future__ import annotations

import os
from stat import S_ISFIFO
from time import monotonic

from retention._options import parse_seconds
from retention._spawn import Spawned
from retention._streams import STDERR, STDOUT, complain, write
from retention.child import Child
from retention.spill import Spill, SpillFile, SpillResult
from retention.text import TextRetainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    # What `signal` wraps in enums, which take 3 ms to import: a short command would notice.
    import _signal as signal

# Seconds between SIGTERM and SIGKILL, and for pipes that others hold when the command has ended.
GRACE = 0.5

# As `timeout`, as `env`, as a shell.
TIMED_OUT, NOT_RUNNABLE, NOT_FOUND, SIGNALLED = 124, 126, 127, 128
PIPE_CLOSED = SIGNALLED + signal.SIGPIPE

PASSED_ON: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# With --foreground the terminal sends these to the command itself, and to us, who go on reading what it says to it.
FROM_TERMINAL: tuple[int, ...] = (signal.SIGINT, signal.SIGQUIT)


class CannotStartError(Exception):
    """The command was not started: why, and the exit status that says so."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status


def run_command(retainer: TextRetainer, command: list[str], options: dict[str, str]) -> int:
    """Run a command into a retainer, to its end or to ours; returns the exit status.

    Raises:
        CannotStartError: the command is not found, or is no program.
    """
    timeout = parse_seconds("--timeout", options["--timeout"]) if "--timeout" in options else None
    foreground = "--foreground" in options
    started = monotonic()
    signals: list[int] = []
    child: Child | None = None

    def pass_on(number: int, frame: object) -> None:
        if not foreground:
            signals.append(number)
            if child is not None:
                child.signal(signals.pop())

    # What this program was told to ignore, it and the command go on ignoring.
    numbers = FROM_TERMINAL if foreground else PASSED_ON
    handled = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    for number in handled:
        signal.signal(number, pass_on)
    piped = is_pipe(STDOUT)
    spill = SpillFile(Spill(options["--spill"])) if "--spill" in options else None
    try:
        process = Spawned(command, merge="--merge" in options, new_session=not foreground)
    except OSError as error:
        if spill is not None:
            spill.remove()
        status = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_RUNNABLE
        raise CannotStartError(f"{command[0]}: {error.strerror or error}", status) from None
    progress = Progress(retainer, started) if "--no-progress" not in options and os.isatty(STDERR) else None
    looked_after = Child(
        retainer,
        None,
        GRACE,
        ours=True,
        spill=spill,
        # A pipe whose reader has gone shows it here: nobody wants the rest.
        waker=STDOUT if piped else -1,
        tick=progress.show if progress is not None else None,
    )
    looked_after.process = process
    child = looked_after
    for number in signals:
        child.signal(number)
    try:
        child.attend(None, None if timeout is None else started + timeout)
    finally:
        # From here on there is nobody to pass a signal on to, and what is left to do may be ended by one.
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
        if progress is not None:
            progress.clear()
    spilled = child.close_spill()
    if spilled is not None and spilled.error is not None:
        complain(spill_failure(spilled))
    if "--stats" in options:
        complain(statistics(retainer.seen_bytes, monotonic() - started))
    return status_of(child)


def is_pipe(fd: int) -> bool:
    try:
        return S_ISFIFO(os.fstat(fd).st_mode)
    except OSError:
        return False


def status_of(child: Child) -> int:
    if child.woken:
        return PIPE_CLOSED
    if child.timed_out:
        return TIMED_OUT
    if child.stopped:
        return 0
    status: int | None = child.process.returncode
    if status is None:
        # It could not be ended, and goes on.
        return SIGNALLED + signal.SIGKILL
    return status if status >= 0 else SIGNALLED - status


def spill_failure(spilled: SpillResult) -> str:
    path = os.fsdecode(spilled.path)
    kept = f"; the first {spilled.nbytes} bytes are saved" if spilled.nbytes else ""
    return f"--spill {path}: {spilled.error}{kept}"


def statistics(nbytes: int, seconds: float) -> str:
    rate = nbytes / max(seconds, 1e-9) / 1e9
    return f"{nbytes} bytes in {seconds:.3f} s, {rate:.3f} GB/s, peak memory {peak_memory() / (1 << 20):.1f} MiB"


def peak_memory() -> int:
    """In bytes. Linux counts into a process's ru_maxrss what its parent had when it started it."""
    import resource
    import sys

    if sys.platform == "linux":
        with open("/proc/self/status", "rb") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith(b"VmHWM:"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


class Progress:
    """One line on a terminal, from the second second on, that goes away again."""

    def __init__(self, retainer: TextRetainer, started: float) -> None:
        self.retainer, self.started = retainer, started
        self.shown = False

    def show(self) -> None:
        seconds = monotonic() - self.started
        if seconds >= 1:
            nbytes = self.retainer.seen_bytes
            self.write(f"\r\x1b[Kretain: {scaled(nbytes)}, {scaled(nbytes / seconds)}/s")
            self.shown = True

    def clear(self) -> None:
        if self.shown:
            self.write("\r\x1b[K")

    def write(self, text: str) -> None:
        try:
            write(STDERR, text)
        except OSError:
            return  # The terminal is gone; the command is not.


def scaled(number: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if number < 999.5:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.4g} TB"
