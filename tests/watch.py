"""What the tests of running programs look at: processes, descriptors, files that somebody else writes."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

# More than any of these takes, in seconds, also on a slow and busy machine. Less where many are expected to hang.
SOON = float(os.environ.get("RETENTION_SOON", "60"))

# What such a machine may add to a time that is promised. What would take too long takes longer than this, in each test.
SLACK = 10.0


def wait_for(condition):
    """Ask until the answer is true, and return it."""
    deadline = time.monotonic() + SOON
    while not (answer := condition()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
    return answer


def in_own_group(command, seconds, **options):
    """Run a program in a group of its own, so that one that hangs is ended whole; its status, output and complaint."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    ) as process:
        try:
            output, complaint = process.communicate(timeout=seconds)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, output, complaint


def line_in(path: Path) -> str:
    """The first line of a file that somebody else is about to write."""
    wait_for(lambda: path.exists() and "\n" in path.read_text())
    return path.read_text().partition("\n")[0]


def unread(pipe) -> int:
    """How many bytes are in a pipe, of which this is either end: a file or a descriptor."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def wait_until_read(pipe: int) -> None:
    """Wait until everything in a pipe has been read."""
    wait_for(lambda: not unread(pipe))


def stat(pid: int) -> list[str]:
    """State, parent, group, session and more of a process; nothing if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_there(pid: int) -> bool:
    """Whether there is a process of that number, be it as a zombie."""
    return bool(stat(pid))


def program(pid: int) -> str:
    """The name of what a process executes by now."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_running(pid: int) -> bool:
    return stat(pid)[:1] not in ([], ["Z"], ["X"])


def processes() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def children() -> set[int]:
    """Our own, also those that have ended and are not reaped."""
    return {pid for pid in processes() if stat(pid)[1:2] == [str(os.getpid())]}


def heirs(variable: str) -> set[int]:
    """The running processes that were given an environment with this in it, whoever's children they are by now."""
    found = set()
    for pid in processes():
        with contextlib.suppress(OSError):
            if variable.encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.add(pid)
    return found - {os.getpid()}


def descriptors(pid: int | str = "self") -> dict[int, str]:
    """The open descriptors of a process, each with what it is."""
    found = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        # That of the listing itself is gone by now.
        with contextlib.suppress(FileNotFoundError):
            found[int(name)] = os.readlink(f"/proc/{pid}/fd/{name}")
    return found
