"""The command's words: help, options, and sizes such as 8K. Written out because argparse takes 8 ms to import."""

from __future__ import annotations

from retention.strategies import TextHead, TextHeadTail, TextRetentionStrategy, TextTail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from retention.strategies import StopMode

DEFAULT_SIZE = 8 << 10
# Of an end that is asked for in lines only: room for the lines.
SIZE_FOR_LINES = 1 << 20

HELP = """\
retain: read standard input, files, or what a command prints; print the beginning and the end of it, and say what is
missing between.

  git log -p | retain                        the first and the last 8 KiB
  retain --tail-lines 40 -- make             only the last 40 lines; the status is that of make
  find / | retain --head 2K --stop           the first 2 KiB; find is ended there
  seq 1000000 | retain --lines 5 --json      5 lines of each end, as JSON
  retain --merge --timeout 60 --spill all.log -- ./test.sh
                                             both outputs, for a minute at most; all of it in a new file, too
  retain --stats -- cat big.log              how fast it came: bytes, seconds, GB/s, peak memory
  retain --tail 2K huge.log                  at once, however large it is

usage: retain [options] [FILE...]
       retain [options] -- COMMAND ARGS...

Of a large FILE only the two ends are read (all of it where lines are counted); "-" is standard input.

What to keep, by default --head 8K --tail 8K:
  --head SIZE     keep the first SIZE bytes; without an option for the tail, nothing else
  --tail SIZE     keep the last SIZE bytes; without an option for the head, nothing else
  --head-lines N  of the head, keep at most N lines
  --tail-lines N  of the tail, keep at most N lines
  --lines N       both of these; an end without a SIZE gets 1M for its lines
  --whole-lines   move a cut inside a line to the line's border, unless that leaves nothing
  --stop          with a head alone: stop at the first byte that does not fit, and end the command

How to show it:
  --json          print one JSON object: text, head, tail, truncated, omitted (kind, count), seen; where lines are
                  counted, also seen_lines and omitted_lines
  --marker TEXT   the line that stands where something was omitted, instead of "[Omitted 123 bytes.]"
  --no-marker     no such line

For a command:
  --merge         its standard error too, in the order of arrival; else that goes through untouched
  --timeout S     end it after S seconds
  --spill FILE    write all of its output to a new file too, in a directory that nobody else can write to; where that
                  fails, say so and go on
  --stats         say on standard error how many bytes came, in what time, and the memory used
  --foreground    leave it in this session, where it can read the terminal, and pass no signals on
  --no-progress   on a terminal, do not show how far it is

  --help, --version

SIZE is a number of bytes: 8192, 8K or 8KiB (times 1024), 8KB (times 1000), and so on with M, G, T, P, E. No cut divides
a character. However much comes, memory stays at the sizes asked for. Text is written as UTF-8, with U+FFFD for what is
malformed; control characters and terminal escapes are content and come through as they are.

A command runs in a session of its own, so that its children can be ended with it: it has no terminal to ask anything
(see --foreground). INT, TERM, HUP and QUIT are passed on to it; what it prints until it ends is read and shown.

Status: that of the command; 128+N if signal N ended it, 124 after --timeout, 0 after --stop, 127 if it is not found,
126 if it cannot be run. Without a command: 0, or 130 after Ctrl-C, when what had come is printed. Always: 1 if reading
or writing fails (but for --spill), 2 for options that are wrong, 141 if the output was closed.
"""

UNITS = "KMGTPE"

# Whether an option is followed by a value.
TAKES_VALUE = {
    "--head": True,
    "--tail": True,
    "--lines": True,
    "--head-lines": True,
    "--tail-lines": True,
    "--whole-lines": False,
    "--stop": False,
    "--json": False,
    "--marker": True,
    "--no-marker": False,
    "--merge": False,
    "--timeout": True,
    "--spill": True,
    "--stats": False,
    "--foreground": False,
    "--no-progress": False,
    "--help": False,
    "--version": False,
}


class UsageError(Exception):
    """The options are wrong; the message says how."""


FOR_COMMAND = ("--merge", "--timeout", "--spill", "--stats", "--foreground", "--no-progress")


def parse_options(words: list[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """The options, each with its value or the empty string; the files; and the command that follows a `--`.

    Raises:
        UsageError: an unknown option, a value missing or too many, options that contradict each other.
    """
    options: dict[str, str] = {}
    rest = iter(words)
    files = []
    command = None
    for word in rest:
        if word == "--":
            command = list(rest)
            break
        if word == "-" or not word.startswith("-"):
            files.append(word)
            continue
        name, equals, value = word.partition("=")
        if name == "-h":
            name = "--help"
        if name not in TAKES_VALUE:
            raise UsageError(f"unknown option {word!r}")
        if TAKES_VALUE[name]:
            if not equals:
                try:
                    value = next(rest)
                except StopIteration:
                    raise UsageError(f"{name} needs a value") from None
        elif equals:
            raise UsageError(f"{name} takes no value")
        options[name] = value
    if "--marker" in options and "--no-marker" in options:
        raise UsageError("--marker and --no-marker contradict each other")
    if command is None:
        for name in FOR_COMMAND:
            if name in options:
                raise UsageError(f"{name} goes with a command: retain {name} ... -- COMMAND ARGS...")
    elif not command:
        raise UsageError("no command after --")
    elif files:
        raise UsageError(f"either files or a command, not both: {files[0]!r}")
    return options, files, command or []


def strategy_of(options: dict[str, str]) -> TextRetentionStrategy:
    """What the options ask to keep: an end that one of them names; both where none is named.

    Raises:
        UsageError: a size or a number of lines that is none, or `--stop` with a tail.
    """
    sizes: dict[str, int] = {}
    lines: dict[str, int] = {}
    for end in ("head", "tail"):
        if f"--{end}-lines" in options or "--lines" in options:
            name = f"--{end}-lines" if f"--{end}-lines" in options else "--lines"
            lines[end] = parse_number(name, options[name])
            sizes[end] = SIZE_FOR_LINES
        if f"--{end}" in options:
            sizes[end] = parse_size(f"--{end}", options[f"--{end}"])
    if "--stop" in options and list(sizes) != ["head"]:
        raise UsageError("--stop goes with a head alone: a tail is only known at the end")
    if not sizes:
        return TextHeadTail(DEFAULT_SIZE, DEFAULT_SIZE)
    if "tail" not in sizes:
        stop: StopMode = "stop_when_full" if "--stop" in options else "read_to_end"
        return TextHead(sizes["head"], max_lines=lines.get("head"), stop=stop)
    if "head" not in sizes:
        return TextTail(sizes["tail"], max_lines=lines.get("tail"))
    return TextHeadTail(sizes["head"], sizes["tail"], head_lines=lines.get("head"), tail_lines=lines.get("tail"))


def parse_seconds(option: str, text: str) -> float:
    # float() alone would take underscores, spaces and other scripts' digits.
    plain = text.isascii() and "_" not in text and text == text.strip()
    try:
        seconds = float(text) if plain else -1.0
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(f"{option} takes a number of seconds such as 60 or 0.5, not {text[:60]!r}")
    return seconds


def parse_number(option: str, text: str) -> int:
    # int() alone would take signs, underscores and other scripts' digits; it refuses more than 4300 of them.
    if not (text.isascii() and text.isdigit()) or len(text) > 30:
        raise UsageError(f"{option} takes a number such as 40, not {text[:60]!r}")
    return int(text)


def parse_size(option: str, text: str) -> int:
    """A number of bytes from 8192, 8K, 8KiB or 8KB.

    Raises:
        UsageError: anything else.
    """
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    suffix = text[len(digits) :].upper()
    scale = 1
    if suffix and suffix[0] in UNITS:
        bases = {"": 1024, "IB": 1024, "B": 1000}
        scale = bases.get(suffix[1:], 0) ** (UNITS.index(suffix[0]) + 1)
    elif suffix not in ("", "B"):
        scale = 0
    if not scale or not (digits.isascii() and digits.isdigit()) or len(digits) > 30:
        raise UsageError(f"{option} takes a size such as 8192, 8K, 8KiB or 8KB, not {text[:60]!r}")
    return int(digits) * scale
