"""Retaining a file: by its two ends where that is enough, however large it is."""

from __future__ import annotations

import os
from stat import S_ISREG

from retention.strategies import TextRetentionStrategy
from retention.text import TextRetainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import FileIO

    _Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

# One read of a file that is read through.
BLOCK = 256 << 10


def retain_file(
    path: _Path,
    strategy: TextRetentionStrategy,
    *,
    errors: str = "replace",
    whole_lines: bool = False,
    count_lines: bool = False,
) -> TextRetainer:
    """Return a TextRetainer that has seen a file.

    Of a regular file only the two ends are read, so that its size does not matter; where lines are counted, all of it.
    Its size is that at the start: what is written to it later is not counted. Anything else (a pipe, a device, a file
    of /proc that says it is empty) is drained to its end.

    The `strategy`, `errors`, `whole_lines` and `count_lines` are those of TextRetainer. What many files gave can be
    merged, in their order.

    Raises:
        OSError: the file at `path` cannot be opened or read, or is shorter in the end than it was at the start.
        TypeError, ValueError, LookupError: as TextRetainer.
    """
    retainer = TextRetainer(strategy, errors=errors, whole_lines=whole_lines, count_lines=count_lines)
    with open(path, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not S_ISREG(status.st_mode) or status.st_size == 0:
            retainer.drain(file)
        elif retainer.finish().seen_lines is None:
            first, last = retainer._reach(status.st_size)
            parts = read_at(file, 0, first), read_at(file, status.st_size - last, last)
            retainer._take_ends(status.st_size, *parts)
        else:
            read_through(retainer, file, status.st_size)
    return retainer


def read_through(retainer: TextRetainer, file: FileIO, size: int) -> None:
    block = memoryview(bytearray(min(BLOCK, size)))
    while size:
        nbytes = file.readinto(block[:size])
        if not nbytes:
            raise shortened()
        size -= nbytes
        if retainer.push(block[:nbytes]).should_stop:
            return


def read_at(file: FileIO, start: int, size: int) -> bytes:
    file.seek(start)
    parts = []
    while size:
        part = file.read(size)
        if not part:
            raise shortened()
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def shortened() -> OSError:
    return OSError("the file was shortened while it was read")
