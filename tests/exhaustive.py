"""Every short stream of bytes, under all small budgets, as a whole, in halves and byte by byte, against a model.

    python tests/exhaustive.py

Needs Cython and a C compiler, takes minutes, and uses all processors. test_exhaustive.py does a part of it.
"""

import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import reference

import retention
from retention import TextHead, TextHeadTail, TextRetainer, TextTail

DRIVER = Path(__file__).with_name("exhaustive_driver.pyx")

# The bytes that UTF-8 tells apart (Unicode Table 3-7), by some of each class, its first and its last among them. CR is
# one of ASCII, and the newline a class of its own.
CLASSES = [
    b"\0\x7fa\t", b"\n", b"\x80\x8f\x85\x8a", b"\x90\x9f\x95\x9a", b"\xa0\xbf\xa5\xb0",
    b"\xc2\xdf\xc3\xd0", b"\xe0", b"\xe1\xec\xee\xef", b"\xed", b"\xf0", b"\xf1\xf3\xf2", b"\xf4",
    b"\xc0\xc1", b"\xf5\xff\xf7\xf8",
]  # fmt: skip
LINE_CLASSES = [*CLASSES, b"\r"]


def retainers(most):
    """One of each strategy with budgets of up to so many bytes; no lines."""
    budgets = range(most + 1)
    for head, tail in product(budgets, budgets):
        yield TextRetainer(TextHeadTail(head, tail))
    for budget in budgets:
        yield TextRetainer(TextHead(budget))
        yield TextRetainer(TextHead(budget, stop="stop_when_full"))
        yield TextRetainer(TextTail(budget))


def line_retainers(most, most_lines):
    """The same with budgets of up to so many lines, or none, and with and without whole lines."""
    budgets = range(most + 1)
    line_budgets = [None, *range(most_lines + 1)]
    for whole_lines in (False, True):
        how = {"whole_lines": whole_lines, "count_lines": True}
        for head, tail, head_lines, tail_lines in product(budgets, budgets, line_budgets, line_budgets):
            yield TextRetainer(TextHeadTail(head, tail, head_lines=head_lines, tail_lines=tail_lines), **how)
        for budget, lines in product(budgets, line_budgets):
            yield TextRetainer(TextHead(budget, max_lines=lines), **how)
            yield TextRetainer(TextHead(budget, max_lines=lines, stop="stop_when_full"), **how)
            yield TextRetainer(TextTail(budget, max_lines=lines), **how)


def build(folder):
    """Compile the driver into a folder, against the installed package; return the path of the module.

    RETENTION_DRIVER in the environment is one that has been compiled already.
    """
    if "RETENTION_DRIVER" in os.environ:
        return Path(os.environ["RETENTION_DRIVER"])
    source = Path(shutil.copy(DRIVER, folder))
    where = {"PYTHONPATH": str(Path(retention.__file__).parents[1]), "CFLAGS": "-O2 -g0"}
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "-q", "-3", "-i", source.name]
    done = subprocess.run(command, cwd=folder, env=os.environ | where, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"the driver does not compile:\n{done.stdout}{done.stderr}")
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    return source.with_name(source.stem + suffix)


def load(path):
    """The compiled driver as a module."""
    spec = importlib.util.spec_from_file_location(DRIVER.stem, path)
    driver = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    return driver


def cases(driver, retainers):
    """The retainers with the budgets that their strategies were given."""
    return [
        driver.Case(one, *reference.budgets(one.strategy), *reference.line_budgets(one.strategy)) for one in retainers
    ]


# What is checked: the classes of bytes, the size of the longest streams, and the retainers.
SETS = {
    "bytes": (CLASSES, 6, lambda: retainers(7)),
    "lines": (LINE_CLASSES, 5, lambda: line_retainers(5, 2)),
}


def prepare(path):
    """In each process: the driver and the cases of every set."""
    global driver, prepared
    driver = load(path)
    prepared = {name: cases(driver, make()) for name, (_, _, make) in SETS.items()}


def check(name, size, first, last):
    return driver.check(prepared[name], SETS[name][0], size, first, last)


def main():
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(None, None, prepare, (build(folder),)) as pool:
        for name, (classes, most, make) in SETS.items():
            parts = [
                (name, size, count * part // 100, count * (part + 1) // 100)
                for size in range(most + 1)
                for count in [len(classes) ** size]
                for part in range(100)
            ]
            streams = sum(last - first for _, _, first, last in parts)
            print(f"{name}: {streams} streams of up to {most} bytes, {sum(1 for _ in make())} retainers", flush=True)
            done = filled = shown = 0
            for (_, _, first, last), count in zip(parts, pool.map(check, *zip(*parts, strict=True)), strict=True):
                done += last - first
                filled += count
                if done * 20 // streams > shown:
                    shown = done * 20 // streams
                    print(f"  {shown * 5} %, {time.monotonic() - began:.0f} s", flush=True)
            print(f"  {filled} times a stream was retained as the model says", flush=True)
    # The children's, who are gone: what it took also where others share the machine.
    print(f"processor time: {os.times().children_user:.0f} s")


if __name__ == "__main__":
    main()
