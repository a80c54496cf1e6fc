"""Reading a source to its end into a text retainer: a descriptor by the engine, anything else by its own methods."""

from __future__ import annotations

import io
import sys

from retention._frozen import Frozen
from retention.strategies import real_number, shown
from retention.text import TextRetainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

engine: Any
try:
    # Not `from retention import`, which does not tell a module that is missing from one that is broken.
    import retention._engine as engine
except ModuleNotFoundError:
    # Not a POSIX system. Sources are read all the same, by their own methods and without a timeout.
    engine = None

BLOCK = 64 << 10


class DrainResult(Frozen):
    """How a drain ended, and how much it took from the source.

    status: "eof": the source has ended. "stopped": the strategy asked to stop. "timeout": the time was over.
    nbytes: the bytes taken, kept or not.
    """

    __slots__ = __match_args__ = ("status", "nbytes")
    status: Literal["eof", "stopped", "timeout"]
    nbytes: int

    def __init__(self, status: Literal["eof", "stopped", "timeout"], nbytes: int) -> None:
        self._set(status=status, nbytes=nbytes)


def drain(retainer: TextRetainer, source: Any, timeout: float | None) -> DrainResult:
    """TextRetainer.drain, which documents it."""
    seconds = checked_seconds("timeout", timeout)
    if isinstance(source, io.TextIOBase):
        raise TypeError("source must be binary, got a text file: pass its .buffer, or open it in mode 'rb'")
    fd = descriptor(source)
    if fd is None or engine is None:
        if seconds is not None:
            raise ValueError(f"timeout needs a source that can be waited for, by its descriptor; got {shown(source)}")
        return drain_object(retainer, with_methods(source))
    if fd < 0:
        raise ValueError(f"source must be an open descriptor, socket or file, got {shown(source)}")
    buffered = take_buffered(source)
    if buffered and retainer.push(buffered).should_stop:
        return DrainResult("stopped", len(buffered))
    pump = engine.Pump([(fd, retainer, False)])
    event = pump.run(seconds)
    status: Literal["eof", "stopped", "timeout"] = (
        "eof" if event == "done" else "stopped" if event == "stopped" else "timeout"
    )
    return DrainResult(status, len(buffered) + pump.nbytes(0))


def checked_seconds(name: str, value: float | None) -> float | None:
    """A time span as a float; None where there is no end to it."""
    if value is None:
        return None
    try:
        seconds = real_number(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number of seconds or None, got {shown(value)}") from None
    if not seconds >= 0:
        raise ValueError(f"{name} must be a non-negative number of seconds, got {shown(value)}")
    return None if seconds == float("inf") else seconds


def descriptor(source: Any) -> int | None:
    """The descriptor to read in place of a source; None if there is none, or it would not give the source's bytes.

    A file that decompresses or decrypts has a descriptor too: only of the plain types is it known that reading the
    one is reading the other.
    """
    if isinstance(source, int) and not isinstance(source, bool):
        return source
    raw = source.raw if type(source) is io.BufferedReader else source
    if type(raw) is io.FileIO:
        return raw.fileno()
    socket = sys.modules.get("socket")
    if socket is not None:
        if type(raw) is socket.SocketIO:
            raw = raw._sock
        if type(raw) is socket.socket:
            return raw.fileno()  # type: ignore[no-any-return]
    return None


def take_buffered(source: Any) -> bytes:
    """What a buffered reader has read from its descriptor and given to nobody yet, without waiting for more."""
    if type(source) is not io.BufferedReader:
        return b""
    # With an empty buffer peek() reads, and may wait. For its while, reading finds nothing there.
    source.raw.readinto = lambda block: None
    try:
        buffered = source.peek()
    finally:
        del source.raw.readinto
    return source.read(len(buffered))


def own_method(source: Any, name: str) -> Any:
    """A method; None where there is none, or only the one of io's base class, which may call what is not there."""
    inherited = getattr(type(source), name, None) is getattr(io.BufferedIOBase, name)
    return None if inherited else getattr(source, name, None)


def with_methods(source: Any) -> Any:
    """The source itself, which may hold what it has read ahead; a file for a mere descriptor, or a socket."""
    if isinstance(source, int) and not isinstance(source, bool):
        return io.FileIO(source, closefd=False)
    socket = sys.modules.get("socket")
    if socket is not None and type(source) is socket.socket:
        return source.makefile("rb", buffering=0)
    return source


def drain_object(retainer: TextRetainer, source: Any) -> DrainResult:
    # What returns with what there is comes first: where a block is waited for, an early stop waits for bytes that
    # nobody wants.
    into = own_method(source, "readinto1")
    read = own_method(source, "read1") if into is None else None
    if into is None and read is None:
        into, read = getattr(source, "readinto", None), getattr(source, "read", None)
    if into is None and read is None:
        taken = "a descriptor, a socket, a binary file or an object with readinto or read"
        raise TypeError(f"source must be {taken}, got {shown(source)}")
    nbytes = 0
    block = bytearray(BLOCK)
    while True:
        chunk: Any
        if into is not None:
            size = into(block)
            chunk = None if size is None else memoryview(block)[:size]
        else:
            chunk = read(BLOCK)  # type: ignore[misc]
        if chunk is None:
            raise BlockingIOError("source has nothing to read now, and no descriptor to wait for")
        if isinstance(chunk, str):
            raise TypeError("source must be binary, got one whose read() returns str")
        if not len(chunk):
            return DrainResult("eof", nbytes)
        nbytes += len(chunk)
        if retainer.push(chunk).should_stop:
            return DrainResult("stopped", nbytes)
