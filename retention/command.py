"""The `retain` command: standard input, or what a command prints, in bounded form."""

from __future__ import annotations

import os
import sys

from retention._options import HELP, UsageError, parse_options, strategy_of
from retention._streams import STDIN, STDOUT, complain, write
from retention.markers import on_its_own_line
from retention.results import Omitted, RetainedText
from retention.text import TextRetainer

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
    options, files, command = parse_options(words)
    if "--help" in options:
        write(STDOUT, HELP)
        return 0
    if "--version" in options:
        from importlib.metadata import version

        write(STDOUT, f"retain {version('output-retention')}\n")
        return 0
    if files:
        return retain_files(files, options)
    retainer = TextRetainer(strategy_of(options), whole_lines="--whole-lines" in options)
    if command:
        from retention.draining import engine

        if engine is None:
            raise UsageError("running a command needs a POSIX system")
        from retention.running import CannotStartError, run_command

        try:
            status = run_command(retainer, command, options)
        except CannotStartError as error:
            complain(str(error))
            return error.status
    else:
        status = read_standard_input(retainer)
    show(retainer, options)
    return status


def retain_files(files: list[str], options: dict[str, str]) -> int:
    """Each file in turn, under its name where there are several, also after one that cannot be read."""
    from retention.file import retain_file

    strategy, whole_lines = strategy_of(options), "--whole-lines" in options
    status = 0
    before = ""
    for name in files:
        try:
            if name == "-":
                retainer = TextRetainer(strategy, whole_lines=whole_lines)
                status = read_standard_input(retainer) or status
            else:
                retainer = retain_file(name, strategy, whole_lines=whole_lines)
        except OSError as error:
            complain(f"{name}: {error.strerror or error}{command_hint(files) if status == 0 else ''}")
            status = 1
            continue
        if len(files) > 1 and "--json" not in options:
            write(STDOUT, f"{before}==> {name} <==\n")
            before = "\n"
        show(retainer, options)
    return status


def command_hint(files: list[str]) -> str:
    """What to write where the first name is no file, but a command: as `time` and `timeout` take one."""
    import shlex
    import shutil

    if os.path.lexists(files[0]) or not shutil.which(files[0]):
        return ""
    return f" (as a command: -- {shlex.join(files)})"


def show(retainer: TextRetainer, options: dict[str, str]) -> None:
    result = retainer.finish()
    write(STDOUT, as_json(result) if "--json" in options else as_text(result, options))


def read_standard_input(retainer: TextRetainer) -> int:
    try:
        if retainer.drain(STDIN).status == "stopped":
            # Closed now, and not when this process ends: who writes to the pipe is to learn of it.
            os.close(STDIN)
    except KeyboardInterrupt:
        # Whoever feeds us has had the same signal. What came before it is worth showing.
        return INTERRUPTED
    return 0


def as_text(result: RetainedText, options: dict[str, str]) -> str:
    if "--no-marker" in options or options.get("--marker") == "":
        return result.text
    if "--marker" in options:
        text = result.render(lambda result: on_its_own_line(result.head, options["--marker"], result.tail))
    else:
        text = result.render()
    # A marker is a line; at the very end it would run into the next prompt.
    return f"{text}\n" if result.truncated and not result.tail else text


def as_json(result: RetainedText) -> str:
    import json

    fields = {
        "text": result.text,
        "head": result.head,
        "tail": result.tail,
        "truncated": result.truncated,
        "omitted": as_fields(result.omitted_bytes),
        "seen": result.seen_bytes,
    }
    if result.seen_lines is not None:
        fields |= {"seen_lines": result.seen_lines, "omitted_lines": as_fields(result.omitted_lines)}
    return json.dumps(fields, ensure_ascii=False) + "\n"


def as_fields(omitted: Omitted) -> dict[str, str | int | None]:
    return {"kind": omitted.kind, "count": omitted.count}
