"""How many instructions the loops of a retainer take: the same number on a busy machine as on a quiet one.

    python benchmarks/instructions.py [LOOP ...] [--save FILE] [--compare FILE]

prints a table. Each loop runs under `valgrind --tool=callgrind`, once with some number of statements and once with
twice as many; the difference belongs to the statements alone, without the interpreter's start. `--save` writes the
counts as JSON; `--compare` shows those of such a file beside them, and ends with status 1 if one has grown by more than
2 %. Counts are those of this machine's compiler, CPython and C library: compare builds of one machine, and change one
thing. What they cannot show is waiting for memory. Valgrind is needed; all loops take some minutes.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

GROWN = 1.02

# By name: what is made once, the statement, and how many of them to count; so many that what CPython does at times,
# such as growing a list, is within a thousandth.
LOOPS = {
    "deque(maxlen=1).append": ("push = deque(maxlen=1).append", "push(CHUNK)", 20_000),
    "push bytes, beyond a head": ("push = text(TextHead(16)).push", "push(CHUNK)", 20_000),
    "push bytes, all kept by a head": ("push = text(TextHead(10**9)).push", "push(CHUNK)", 20_000),
    "push bytes, tail": ("push = text(TextTail(16384)).push", "push(CHUNK)", 20_000),
    "push bytes, head and tail": ("push = text(TextHeadTail(8192, 8192)).push", "push(CHUNK)", 20_000),
    "push bytearray, tail": ("push = text(TextTail(16384)).push; chunk = bytearray(CHUNK)", "push(chunk)", 20_000),
    "push memoryview, tail": ("push = text(TextTail(16384)).push; chunk = memoryview(CHUNK)", "push(chunk)", 20_000),
    "push str ASCII, tail": ("push = text(TextTail(16384)).push; chunk = CHUNK.decode()", "push(chunk)", 20_000),
    "push str CJK, tail": ("push = text(TextTail(16384)).push; chunk = '狐狸' * 10", "push(chunk)", 20_000),
    "push bytes, tail, counting lines": ("push = text(TextTail(16384), count_lines=True).push", "push(CHUNK)", 20_000),
    "push bytes, tail of 100 lines": ("push = text(TextTail(16384, max_lines=100)).push", "push(CHUNK)", 20_000),
    "extend by a chunk, tail": ("extend = text(TextTail(16384)).extend; chunks = [CHUNK] * 1000", "extend(chunks)", 20),
    "finish, tail, ASCII": ("finish = text(TextTail(16384)).finish", "finish()", 1000),
    "finish, head and tail, ASCII": ("finish = text(TextHeadTail(8192, 8192)).finish", "finish()", 1000),
    "make a retainer": ("strategy = TextTail(16384)", "TextRetainer(strategy)", 5000),
    "push an item, beyond a head": ("push = items(ItemHead(100)).push", "push(CHUNK)", 20_000),
    "push an item, tail": ("push = items(ItemTail(100)).push", "push(CHUNK)", 20_000),
    "extend by an item, tail": ("extend = items(ItemTail(100)).extend; many = [None] * 1000", "extend(iter(many))", 20),
}  # fmt: skip
# Of a loop whose statement takes many chunks or items: how many.
TIMES = {"extend by a chunk, tail": 1000, "extend by an item, tail": 1000}
UNROLLED = 10
PROGRAM = """
from collections import deque
from retention import *

CHUNK = b"%063d\\n" % 3

def fed(retainer):
    for _ in range(2000):
        retainer.push(CHUNK)
    return retainer

def text(strategy, **options):
    return fed(TextRetainer(strategy, **options))

def items(strategy):
    return fed(ItemRetainer(strategy))

{setup}

def loop(rounds):
    for _ in range(rounds):
{body}

loop(100)
loop({rounds})
"""


def count(setup, statement, statements):
    """The instructions of a process that runs the statement so often."""
    body = f"        {statement}\n" * UNROLLED
    program = PROGRAM.format(setup=setup, body=body, rounds=statements // UNROLLED)
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", program]
    # What would differ from run to run.
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    run = subprocess.run(words, capture_output=True, text=True, env=env, timeout=600, check=False)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not collected:
        sys.exit(f"{' '.join(words[:2])} failed:\n{run.stderr[-2000:]}")
    return int(collected[1])


def measure(name):
    setup, statement, statements = LOOPS[name]
    once, twice = (count(setup, statement, number) for number in (statements, 2 * statements))
    return (twice - once) / statements / TIMES.get(name, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("loops", nargs="*", metavar="LOOP", help="those whose names contain one of these; else all")
    parser.add_argument("--save", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is needed")
    names = [name for name in LOOPS if not options.loops or any(part in name for part in options.loops)]
    before = json.loads(options.compare.read_text())["instructions"] if options.compare else {}
    print(f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}.")
    print("Instructions per statement, or per chunk or item that it has:\n")
    print("| loop | instructions | before | ratio |" if before else "| loop | instructions |")
    print("| --- | ---: | ---: | ---: |" if before else "| --- | ---: |")
    counts, grown = {}, []
    for name in names:
        counts[name] = measure(name)
        cells = [name, f"{counts[name]:.1f}"]
        if name in before:
            ratio = counts[name] / before[name]
            cells += [f"{before[name]:.1f}", f"{ratio:.3f}"]
            if ratio > GROWN:
                grown.append(name)
        elif before:
            cells += ["", ""]
        print(f"| {' | '.join(cells)} |", flush=True)
    if options.save:
        options.save.write_text(json.dumps({"python": platform.python_version(), "instructions": counts}, indent=1))
    if grown:
        sys.exit(f"grown by more than {GROWN - 1:.0%}: {', '.join(grown)}")


if __name__ == "__main__":
    main()
