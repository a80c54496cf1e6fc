"""What the scripts here share: sizes, progress, children that measure, medians of rounds, tables."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

UNITS = {"B": 1, **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGT", 1)}}
BINARY_UNITS = {"B": 1, **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGT", 1)}}
HERE = Path(__file__).parent


def size(text):
    """The bytes that a size on the command line says: 4096, 64KiB, 1.5GB."""
    for unit, factor in sorted({**UNITS, **BINARY_UNITS}.items(), key=lambda item: -len(item[0])):
        if text.lower().endswith(unit.lower()):
            return int(float(text[: -len(unit)]) * factor)
    return int(text)


def shown(nbytes, units=UNITS):
    """A size as a reader wants it: in the largest unit of which it is one, and to three digits."""
    unit = max((unit for unit in units if units[unit] <= nbytes), key=units.get, default="B")
    return f"{nbytes / units[unit]:.3g} {unit}"


def binary(nbytes):
    return shown(nbytes, BINARY_UNITS)


def number(value):
    """A number to three digits, without an exponent."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def child(script, job, *, seconds, **options):
    """What a script answers to a job, in a process of its own that may take so long: both in JSON."""
    words = [sys.executable, HERE / script]
    run = subprocess.run(
        words, input=json.dumps(job), text=True, stdout=subprocess.PIPE, check=True, timeout=seconds, **options
    )
    return json.loads(run.stdout)


def in_turn(items, number):
    """The items in the order of one round: each round begins with another."""
    first = number % len(items)
    return items[first:] + items[:first]


def ratio(above, below):
    """The median of the rounds' own ratios, because the machine's speed changes between rounds."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def table(header, rows):
    """Print a table in Markdown: its first column at the left, numbers at the right."""
    first, *others = header
    print(f"| {first} | {' | '.join(others)} |")
    print(f"|---|{'---:|' * len(others)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print()
