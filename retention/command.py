"""The `retain` command: standard input in, its bounded form out."""

from __future__ import annotations

import os
import sys

from retention._options import DEFAULT_SIZE, HELP, UsageError, parse_options, parse_size
from retention.notices import describe_omitted
from retention.results import RetainedText
from retention.strategies import TextHead, TextHeadTail, TextRetentionStrategy, TextTail
from retention.text import TextRetainer

STDIN, STDOUT, STDERR = 0, 1, 2

# One read; larger blocks fall out of the processor's second cache and take twice as long.
BLOCK = 64 << 10

# As of a process that the signal ended, in a shell.
INTERRUPTED, PIPE_CLOSED = 128 + 2, 128 + 13


def main(words: list[str] | None = None) -> int:
    """Run the command with these arguments (those of the process by default) and return its exit status."""
    try:
        return run(sys.argv[1:] if words is None else words)
    except UsageError as error:
        complain(f"{error}\nTry 'retain --help'.")
        return 2
    except BrokenPipeError:
        return PIPE_CLOSED
    except OSError as error:
        complain(error.strerror or str(error))
        return 1


def run(words: list[str]) -> int:
    options = parse_options(words)
    if "--help" in options:
        write(STDOUT, HELP)
        return 0
    if "--version" in options:
        from importlib.metadata import version

        write(STDOUT, f"retain {version('output-retention')}\n")
        return 0
    retainer = TextRetainer(chosen_strategy(options))
    status = 0
    try:
        read_standard_input(retainer)
    except KeyboardInterrupt:
        # Whoever feeds us has had the same signal. What came before it is worth showing.
        status = INTERRUPTED
    result = retainer.finish()
    write(STDOUT, as_json(result) if "--json" in options else as_text(result, marker(result, options)))
    return status


def chosen_strategy(options: dict[str, str]) -> TextRetentionStrategy:
    sizes = {name: parse_size(name, options[name]) for name in ("--head", "--tail") if name in options}
    if not sizes:
        return TextHeadTail(DEFAULT_SIZE, DEFAULT_SIZE)
    if "--tail" not in sizes:
        return TextHead(sizes["--head"], stop="stop_when_full" if "--stop" in options else "read_to_end")
    if "--head" not in sizes:
        return TextTail(sizes["--tail"])
    return TextHeadTail(sizes["--head"], sizes["--tail"])


def read_standard_input(retainer: TextRetainer) -> None:
    from io import FileIO
    from mmap import mmap

    # The memory of an anonymous map begins at a page, into which the kernel copies twice as fast as beside one.
    block = mmap(-1, BLOCK)
    source = FileIO(STDIN, closefd=False)
    while (size := source.readinto(block)) != 0:
        if size is None:
            # Non-blocking, by somebody else's choice, and empty: not the end.
            wait_for([STDIN], [])
        elif retainer.push(block if size == BLOCK else memoryview(block)[:size]).should_stop:
            # Closed now, and not when this process ends: who writes to the pipe is to learn of it.
            os.close(STDIN)
            return


def marker(result: RetainedText, options: dict[str, str]) -> str:
    """The line in the gap; empty where nothing is missing, or no line is wanted."""
    if not result.truncated or "--no-marker" in options:
        return ""
    return options.get("--marker", f"[{describe_omitted(result.omitted_bytes, 'bytes')}]")


def as_text(result: RetainedText, marker: str) -> str:
    if not marker:
        return result.text
    # A line of its own, with no newline where one stands already.
    before = "\n" if result.head and not result.head.endswith("\n") else ""
    after = "" if result.tail.startswith("\n") else "\n"
    return f"{result.head}{before}{marker}{after}{result.tail}"


def as_json(result: RetainedText) -> str:
    import json

    omitted = {"kind": result.omitted_bytes.kind, "count": result.omitted_bytes.count}
    fields = {
        "text": result.text,
        "head": result.head,
        "tail": result.tail,
        "truncated": result.truncated,
        "omitted": omitted,
        "seen": result.seen_bytes,
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def write(fd: int, text: str) -> None:
    # Past sys.stdout: it has the locale's encoding, and at exit would try once more to write to a closed pipe.
    # What of an argument is no UTF-8 comes back as the bytes that it was.
    rest = memoryview(text.encode("utf-8", "surrogateescape"))
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            wait_for([], [fd])


def wait_for(reading: list[int], writing: list[int]) -> None:
    from select import select

    select(reading, writing, [])


def complain(message: str) -> None:
    try:
        write(STDERR, f"retain: {message}\n")
    except OSError:
        return  # Nobody is there to be told; the status says it.
