"""Running a program with bounded memory: its output goes into retainers while it is read. POSIX only."""

from __future__ import annotations

import subprocess
from time import monotonic

from retention._frozen import Frozen
from retention.child import Child
from retention.draining import checked_seconds, engine
from retention.results import RetainedText
from retention.spill import Spill, SpillFile, SpillResult
from retention.strategies import TextHeadTail, TextRetentionStrategy, shown
from retention.text import TextRetainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import IO, Any, TypedDict, Unpack

    from typing_extensions import Buffer

    class _PopenOptions(TypedDict, total=False):
        """What `run` hands on to Popen: all that it takes but what is retained or refused."""

        executable: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None
        stdin: int | IO[Any] | None
        preexec_fn: Callable[[], Any] | None
        close_fds: bool
        shell: bool
        cwd: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None
        env: Mapping[str, str] | Mapping[bytes, bytes] | None
        startupinfo: Any
        creationflags: int
        restore_signals: bool
        start_new_session: bool
        pass_fds: Collection[int]
        user: str | int | None
        group: str | int | None
        extra_groups: Iterable[str | int] | None
        umask: int
        pipesize: int
        process_group: int | None

    _Destination = TextRetentionStrategy | TextRetainer | int | None
    _Command = str | bytes | os.PathLike[str] | os.PathLike[bytes] | Sequence[str | bytes | os.PathLike[str]]

DEFAULT = TextHeadTail(8192, 8192)

# What Popen takes that has no meaning here, and why.
REFUSED = {
    "capture_output": "stdout and stderr are always retained; say how by a strategy",
    "text": "a retainer counts bytes and decodes what it keeps",
    "encoding": "output is decoded as UTF-8; for raw bytes pass a TextRetainer and use its finish_bytes()",
    "errors": "pass stdout=TextRetainer(strategy, errors=...)",
    "universal_newlines": "a retainer counts bytes and decodes what it keeps",
    "bufsize": "the pipes are read by blocks of their own size",
}


class CompletedRun(Frozen):
    """What became of a program that was run.

    args: the command, as it was given.
    returncode: its exit status, or minus the signal that ended it; None if it could not be ended in time.
    stdout, stderr: a RetainedText each; None for one that was not read.
    timed_out: the time was over, and the program was ended.
    stopped: a strategy asked to stop, and the program was ended. Its status says nothing then.
    eof: every pipe that was read came to its end, or there was none; False after our own stop.
    elapsed: seconds, from before its start to after its end.
    spill: a SpillResult: what became of the file that was to get the whole output; None if none was asked for.
    """

    __slots__ = __match_args__ = (
        "args",
        "returncode",
        "stdout",
        "stderr",
        "timed_out",
        "stopped",
        "eof",
        "elapsed",
        "spill",
    )
    args: Any
    returncode: int | None
    # None where the caller asked for it: to a type checker Any, so that who did not need not test for it.
    stdout: RetainedText | Any
    stderr: RetainedText | Any
    timed_out: bool
    stopped: bool
    eof: bool
    elapsed: float
    spill: SpillResult | None

    def __init__(
        self,
        args: Any,
        returncode: int | None,
        stdout: RetainedText | None,
        stderr: RetainedText | None,
        timed_out: bool,
        stopped: bool,
        eof: bool,
        elapsed: float,
        spill: SpillResult | None = None,
    ) -> None:
        self._set(
            args=args,
            returncode=returncode,
            stdout=stdout,
            stderr=stderr,
            timed_out=timed_out,
            stopped=stopped,
            eof=eof,
            elapsed=elapsed,
            spill=spill,
        )


def run(
    args: _Command,
    *,
    stdout: _Destination = DEFAULT,
    stderr: _Destination = DEFAULT,
    input: str | Buffer | None = None,
    timeout: float | None = None,
    grace: float = 0.5,
    check: bool = False,
    spill: Spill | str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
    **popen: Unpack[_PopenOptions],
) -> CompletedRun:
    """Run a program and retain what it prints, as it prints it: in bounded memory, in bounded time.

    args: the program and its arguments, as `subprocess.Popen` takes them.
    stdout, stderr: a strategy; a fresh TextRetainer, to set more or to look at it meanwhile from another thread;
        `subprocess.DEVNULL`; or None, for the parent's own. `stderr=subprocess.STDOUT` joins both in one retainer.
    input: text (as UTF-8) or bytes for the program's standard input. Without it the standard input is inherited: a
        program in a session of its own cannot read the terminal: pass `stdin=subprocess.DEVNULL` to one that may try.
    timeout: in seconds, after which the program is ended. The call returns what has come, at most `grace` and one
        second later, whoever else holds the pipes.
    grace: in seconds: between SIGTERM and SIGKILL when the program is ended; and how long pipes that others still hold
        are read after the program has exited by itself.
    check: raise for a status other than 0, or a timeout.
    spill: a path, or a Spill: a new file that gets the whole of the standard output (and of the standard error, if
        joined), as it is read. Where it cannot be made or written the run goes on; the result's `spill` says so.
    popen: `cwd`, `env`, `shell`, `stdin` and the rest of `subprocess.Popen`. The program gets a session of its own, so
        that its children are ended with it, unless `start_new_session` or `process_group` say otherwise.

    A head strategy with `stop="stop_when_full"` ends the program at the first byte beyond the budget.

    Returns a CompletedRun, also after a timeout.

    Raises:
        subprocess.CalledProcessError, subprocess.TimeoutExpired: with `check`; the CompletedRun is their `.result`.
        TypeError, ValueError: arguments that are wrong or contradict each other.
        OSError: the program could not be started.
        NotImplementedError: this is not a POSIX system.
    """
    return run_child(args, stdout, stderr, input, timeout, grace, check, spill, popen)


def run_child(
    args: _Command,
    stdout: _Destination,
    stderr: _Destination,
    input: str | Buffer | None,
    timeout: float | None,
    grace: float,
    check: bool,
    spill: Any,
    popen: _PopenOptions,
    waker: int = -1,
) -> CompletedRun:
    """`run`, which another thread may end by making `waker`, a descriptor, readable."""
    started = monotonic()
    if engine is None:
        raise NotImplementedError("running programs needs a POSIX system")
    for name in popen:
        if name in REFUSED:
            raise TypeError(f"run() takes no {name}: {REFUSED[name]}")
    if input is not None:
        if "stdin" in popen:
            raise ValueError("input is written to a pipe of its own: stdin must not be given with it")
        popen["stdin"] = subprocess.PIPE
    seconds, patience = checked_seconds("timeout", timeout), checked_grace(grace)
    data = input_bytes(input)
    out, out_end = destination("stdout", stdout)
    err, err_end = destination("stderr", stderr)
    if out is not None and out is err:
        raise ValueError("stdout and stderr must be two retainers; stderr=subprocess.STDOUT joins them in one")
    if spill is not None and out is None:
        raise ValueError("spill gets what is read from stdout: stdout must be retained")
    if "process_group" not in popen:
        popen.setdefault("start_new_session", True)
    file = None if spill is None else SpillFile(spill if isinstance(spill, Spill) else Spill(spill))
    deadline = None if seconds is None else started + seconds
    try:
        child = Child(out, err, patience, ours=True, spill=file, waker=waker)
        child.process = subprocess.Popen(args, stdout=out_end, stderr=err_end, bufsize=0, **popen)
    except BaseException:
        if file is not None:
            file.remove()
        raise
    try:
        child.attend(data, deadline)
    finally:
        spilled = child.close_spill()
    return completed(args, child, started, timeout, check, spilled)


def communicate(
    popen: subprocess.Popen[bytes],
    *,
    stdout: TextRetentionStrategy | TextRetainer = DEFAULT,
    stderr: TextRetentionStrategy | TextRetainer = DEFAULT,
    input: str | Buffer | None = None,
    timeout: float | None = None,
    grace: float = 0.5,
    check: bool = False,
) -> CompletedRun:
    """What `run` does, for a program that was started by `subprocess.Popen`, with binary pipes where it is to be read.

    The pipes are closed when this returns. The program's group is signalled only if it leads one of its own.
    It takes the other arguments of `run`, and returns a CompletedRun as that does; `timeout` and `elapsed` count from
    this call.

    Raises what `run` raises; TypeError for what is no Popen, or has a text file for a pipe; ValueError for an output
    that the Popen has no pipe for, or a closed one.
    """
    started = monotonic()
    if engine is None:
        raise NotImplementedError("running programs needs a POSIX system")
    if not isinstance(popen, subprocess.Popen):
        raise TypeError(f"popen must be a subprocess.Popen, got {shown(popen)}")
    for name in ("stdin", "stdout", "stderr"):
        if hasattr(getattr(popen, name), "encoding"):
            raise TypeError(f"popen must have binary pipes, but its {name} is a text file: leave out text and encoding")
    if input is not None and popen.stdin is None:
        raise ValueError("input needs a Popen made with stdin=subprocess.PIPE")
    seconds, patience = checked_seconds("timeout", timeout), checked_grace(grace)
    data = input_bytes(input)
    out = retainer_of_pipe("stdout", popen.stdout, stdout)
    err = retainer_of_pipe("stderr", popen.stderr, stderr)
    if out is not None and out is err:
        raise ValueError("stdout and stderr must be two retainers")
    child = Child(out, err, patience, ours=False)
    child.process = popen
    child.attend(data, None if seconds is None else started + seconds)
    return completed(popen.args, child, started, timeout, check)


def destination(name: str, kept: _Destination) -> tuple[TextRetainer | None, int | None]:
    """The retainer of an output, and what Popen is told."""
    if kept is None or (type(kept) is int and kept == subprocess.DEVNULL):
        return None, kept
    if name == "stderr" and type(kept) is int and kept == subprocess.STDOUT:
        return None, kept
    taken = "a text strategy, a fresh TextRetainer, subprocess.DEVNULL or None"
    if name == "stderr":
        taken = f"subprocess.STDOUT, {taken}"
    return fresh_retainer(name, kept, taken), subprocess.PIPE


def retainer_of_pipe(name: str, pipe: Any, kept: _Destination) -> TextRetainer | None:
    if pipe is not None:
        if pipe.closed:
            raise ValueError(f"{name} of the Popen is closed")
        return fresh_retainer(name, kept, "a text strategy or a fresh TextRetainer")
    if kept is not DEFAULT:
        raise ValueError(f"{name} needs a Popen made with {name}=subprocess.PIPE")
    return None


def fresh_retainer(name: str, kept: _Destination, taken: str) -> TextRetainer:
    if isinstance(kept, TextRetentionStrategy):
        return TextRetainer(kept)
    if not isinstance(kept, TextRetainer):
        raise TypeError(f"{name} must be {taken}, got {shown(kept)}")
    if kept.seen_bytes:
        raise ValueError(f"{name} must be a fresh TextRetainer, got one that has seen {kept.seen_bytes} bytes")
    return kept


def input_bytes(data: str | Buffer | None) -> memoryview | None:
    if data is None:
        return None
    if isinstance(data, str):
        return memoryview(data.encode())
    try:
        return memoryview(data).cast("B")
    except TypeError:
        raise TypeError(f"input must be a str or a bytes-like object, got {shown(data)}") from None


def checked_grace(grace: float) -> float:
    seconds = checked_seconds("grace", grace)
    if seconds is None:
        raise ValueError(f"grace must be a finite number of seconds, got {shown(grace)}")
    return seconds


def completed(
    args: Any, child: Child, started: float, timeout: float | None, check: bool, spilled: SpillResult | None = None
) -> CompletedRun:
    own_stop = child.timed_out or child.stopped or child.woken
    result = CompletedRun(
        args=args,
        returncode=child.process.returncode,
        stdout=child.out.finish() if child.out is not None else None,
        stderr=child.err.finish() if child.err is not None else None,
        timed_out=child.timed_out,
        stopped=child.stopped,
        eof=not own_stop and not child.pump.reading,
        elapsed=monotonic() - started,
        spill=spilled,
    )
    if check:
        raise_for(result, timeout)
    return result


def raise_for(result: CompletedRun, timeout: Any) -> None:
    error: Any
    out = result.stdout.text if result.stdout is not None else None
    err = result.stderr.text if result.stderr is not None else None
    if result.timed_out:
        error = subprocess.TimeoutExpired(result.args, timeout, out, err)
    elif result.returncode and not result.stopped:
        error = subprocess.CalledProcessError(result.returncode, result.args, out, err)
    else:
        return
    # The texts alone would not say what is missing from them.
    error.result = result
    raise error
