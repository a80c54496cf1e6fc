"""Keeping the whole of an output in a file, beside the part of it that is retained."""

from __future__ import annotations

import os

from retention._frozen import Frozen
from retention.strategies import budget, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex

    from retention.process import CompletedRun

    _Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


class Spill(Frozen):
    """Where the whole of an output is to go: a file at `path` that is made for it.

    max_bytes: the most that the file may get, in bytes; None for all. No character is divided there either.

    The file must not exist, nor be a link: it is made with mode 0600 and never follows one. That protects the last
    component of the path only, so use a directory in which nobody else can write.

    Raises:
        TypeError: the path is none, or the budget no integer.
        ValueError: the budget is negative.
    """

    __slots__ = ("path", "max_bytes")
    __match_args__ = ("path", "max_bytes")
    path: _Path
    max_bytes: int | None

    def __init__(self, path: _Path, max_bytes: SupportsIndex | None = None) -> None:
        try:
            os.fspath(path)
        except TypeError:
            raise TypeError(f"path must be a str, bytes or path-like object, got {shown(path)}") from None
        self._set(path=path, max_bytes=None if max_bytes is None else budget("max_bytes", max_bytes))


class SpillResult(Frozen):
    """What became of a spilled output.

    path: the file, as it was given.
    nbytes: the bytes in it.
    complete: it has every byte of the output, to its end: never after an early stop, a timeout, a cap, a full disk.
    error: what kept it from being made or written, in the words of the system; None if nothing did.
    """

    __slots__ = __match_args__ = ("path", "nbytes", "complete", "error")
    path: _Path
    nbytes: int
    complete: bool
    error: str | None

    def __init__(self, path: _Path, nbytes: int, complete: bool, error: str | None) -> None:
        self._set(path=path, nbytes=nbytes, complete=complete, error=error)


def spill_notice(result: CompletedRun) -> str:
    """Return the sentence for a footer that says where the whole output is, or a part of it; empty where there is none.

    result: a CompletedRun.

    >>> from retention import CompletedRun, SpillResult
    >>> spill = SpillResult("all.log", 12, True, None)
    >>> spill_notice(CompletedRun(["make"], 0, None, None, False, False, True, 0.1, spill))
    'Full output (12 bytes) saved to all.log.'
    """
    spill = result.spill
    if spill is None or not spill.nbytes:
        return ""
    size = f"{spill.nbytes} {'byte' if spill.nbytes == 1 else 'bytes'}"
    return f"{'Full' if spill.complete else 'Partial'} output ({size}) saved to {os.fsdecode(spill.path)}."


class SpillFile:
    """The file of a spill while its program runs; at -1, `fd` says that there is none, and `error` why."""

    fd = -1

    def __init__(self, spill: Spill) -> None:
        self.path, self.max_bytes = spill.path, spill.max_bytes
        self.error: str | None = None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self.fd = os.open(spill.path, flags, 0o600)
        except (OSError, ValueError) as error:
            self.error = reason(error)

    def __del__(self) -> None:
        # Left open by who had no memory to come to its end.
        if self.fd >= 0:
            os.close(self.fd)

    def remove(self) -> None:
        """Undo it all: the program did not start."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            # What is no longer there, somebody else has removed.
            try:
                os.unlink(self.path)
            except FileNotFoundError:
                return

    def close(self, pump: Any, at_end: bool) -> SpillResult:
        """`at_end`: the output came to its end, so that a file without a gap has all of it."""
        if self.fd < 0:
            return SpillResult(self.path, 0, False, self.error)
        nbytes, capped, errno = pump.end_spill() if pump is not None else (0, False, 0)
        fd, self.fd = self.fd, -1
        try:
            os.close(fd)
        except OSError as error:
            # Where writing is put off, it may fail as late as this.
            errno = errno or error.errno
        error_text = os.strerror(errno) if errno else None
        return SpillResult(self.path, nbytes, at_end and not capped and not errno, error_text)


def reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
