"""The command's own input and outputs, by their descriptors."""

from __future__ import annotations

import os

STDIN, STDOUT, STDERR = 0, 1, 2


def write(fd: int, text: str) -> None:
    # Past sys.stdout: it has the locale's encoding, and at exit would try once more to write to a closed pipe.
    # What of an argument is no UTF-8 comes back as the bytes that it was.
    rest = memoryview(text.encode("utf-8", "surrogateescape"))
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            # Non-blocking, by somebody else's choice, and full.
            from select import select

            select([], [fd], [])


def complain(message: str) -> None:
    try:
        write(STDERR, f"retain: {message}\n")
    except OSError:
        return  # Nobody is there to be told; the status says it.
