"""Programs that measure memory, each in an interpreter of its own."""

import subprocess
import sys
import textwrap

# What every program may use: `peak()`, the most bytes that were allocated at once since `start()`, and `held()`.
PRELUDE = """
import gc, sys, tracemalloc
from retention import (
    ItemHead, ItemHeadTail, ItemRetainer, ItemTail, Omitted, PushDecision, RetainedBytes, RetainedItems, RetainedText,
    TextHead, TextHeadTail, TextRetainer, TextTail, describe_omitted, fit_text, format_retention_notice,
)

def start():
    gc.collect()
    tracemalloc.start()

def held():
    gc.collect()
    return tracemalloc.get_traced_memory()[0]

def peak():
    return tracemalloc.get_traced_memory()[1]
"""


def run(program, *, setup="", **values):
    """Runs a program in a fresh interpreter; returns the numbers that it prints. `setup`: more that it may use."""
    values = "".join(f"{name} = {value}\n" for name, value in values.items())
    source = PRELUDE + setup + values + textwrap.dedent(program)
    # Thousands of programs are started in some, and the machine may be slow and busy.
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [int(number) for number in done.stdout.split()]
