"""Mutants: one small fault at a time put into the library; the tests must notice each.

    python tests/mutants.py                         every mutant of every file below: takes hours
    python tests/mutants.py _cuts.pyx --sample 40   of one file; as many as that, chosen by --seed
    python tests/mutants.py --list                  only shows them

A comparison is moved by one and turned, a sign and a number changed, a condition changed or left out, a statement left
out. Each mutant is built unoptimised in a copy of the checkout, with the bounds checked, and the tests of that file run
until one fails. Those that survive are printed; the exit status is 1 if any of them is not among EXPLAINED.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tokenize
from pathlib import Path

TOP = Path(__file__).parent.parent
# In seconds, for the tests of one mutant: one that never ends is noticed too.
LIMIT = 300

TEXT = ["test_conformance", "test_exhaustive", "test_text", "test_properties", "test_lines", "test_merge"]

# The files that are changed, and the tests that know them best.
TESTS = {
    "_utf8.pxd": TEXT,
    "_window.pxd": TEXT,
    "_window.pyx": [*TEXT, "test_buffers", "test_memory"],
    "_cuts.pyx": TEXT,
    "_lines.pxd": [*TEXT, "test_file"],
    "_lines.pyx": [*TEXT, "test_file"],
    "_units.pxd": [*TEXT, "test_memory"],
    "_spill.pxd": ["test_spill"],
    "text.pyx": [*TEXT, "test_pickle", "test_notices", "test_file", "test_api", "test_drain"],
    "items.pyx": ["test_items", "test_merge", "test_pickle", "test_notices", "test_memory"],
    "results.pyx": ["test_results", "test_markers", "test_pickle", "test_notices"],
    "fitting.pyx": ["test_fitting"],
    "_signals.pxd": ["test_signals", "test_run"],
    "_engine.pyx": ["test_drain", "test_signals", "test_communicate", "test_run", "test_spill", "test_faults"],
    "strategies.py": ["test_strategies", "test_notices"],
    "notices.py": ["test_notices"],
    "markers.py": ["test_markers"],
    "draining.py": ["test_drain"],
    "file.py": ["test_file"],
    "spill.py": ["test_spill"],
    "_options.py": ["test_command"],
    "command.py": ["test_command"],
    "process.py": ["test_run", "test_communicate"],
    "child.py": ["test_run", "test_communicate", "test_command_run"],
}

OPERATORS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "+": ("-",),
    "-": ("+",),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "and": ("or",),
    "or": ("and",),
    "not": ("",),
    "True": ("False",),
    "False": ("True",),
    "min": ("max",),
    "max": ("min",),
}

# Lines whose surviving mutants change nothing that a test could see, and why.
EXPLAINED: dict[str, dict[str, str]] = {}

Mutant = collections.namedtuple("Mutant", "path line before after")


def mutants_of(path):
    source = (TOP / "retention" / path).read_text()
    lines = source.splitlines()
    found = []
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        depth += (token.type == tokenize.INDENT) - (token.type == tokenize.DEDENT)
        if depth == 0 or token.type not in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            continue
        row, column = token.start
        line = lines[row - 1]
        # A larger array is no fault.
        if re.fullmatch(r"\s+cdef [^=(]*", line):
            continue
        # Comparisons and signs stand between spaces; a cast, a pointer or a default does not.
        spaced = line[column - 1 : column] == " " and line[token.end[1] : token.end[1] + 1] in (" ", "(")
        if token.type == tokenize.NUMBER:
            others = (str(int(token.string, 0) + 1),) if re.fullmatch(r"0x[\da-fA-F]+|[\d_]+", token.string) else ()
        elif token.string in ("min", "max"):
            others = OPERATORS[token.string] if line[token.end[1] : token.end[1] + 1] == "(" else ()
        elif token.string in ("True", "False"):
            others = OPERATORS[token.string]
        else:
            others = OPERATORS.get(token.string, ()) if spaced else ()
        found += [
            Mutant(path, row, line, line[:column] + other + line[token.end[1] :].lstrip(" " if not other else ""))
            for other in others
        ]
    return found + left_out(path, lines)


def left_out(path, lines):
    """Each assignment and call that is a statement of its own on a line, replaced by nothing."""
    statement = re.compile(r"( {4,})(?!return\b|cdef\b|def\b|raise\b)[\w.\[\]]+( [-+]?= .*[^,({\[\\]|\(.*\))$")
    inside = re.compile(r'^\s*("""|#)')
    found = []
    for row, line in enumerate(lines, 1):
        match = statement.fullmatch(line)
        if match and not inside.match(line) and line.count("(") == line.count(")"):
            found.append(Mutant(path, row, line, match[1] + "pass"))
    return found


def show(mutant):
    return f"{mutant.path}:{mutant.line}\n    - {mutant.before.strip()}\n    + {mutant.after.strip()}"


class Copy:
    """A copy of the checkout, built, into which one mutant after the other is put."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("retention", "tests", "setup.py", "pyproject.toml", "README.md"):
            copy = shutil.copytree if (TOP / name).is_dir() else shutil.copy
            copy(TOP / name, folder / name)
        for old in folder.glob("retention/*.so"):
            old.unlink()
        # The copy comes first on the path, before what is installed.
        self.env = {**os.environ, "RETENTION_DEBUG": "1", "RETENTION_EXAMPLES": "100", "PYTHONPATH": str(folder)}
        assert self.call("setup.py", "-q", "build_ext", "--inplace") == "passed", "the checkout does not build"

    def call(self, *words):
        """ "passed", "failed" or "endless"."""
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return "failed" if process.wait(LIMIT) else "passed"
        except subprocess.TimeoutExpired:
            return "endless"
        finally:
            # And whatever a test has left behind.
            end_group(process)

    def test(self, mutant):
        path = self.folder / "retention" / mutant.path
        source = path.read_text()
        lines = source.splitlines(keepends=True)
        lines[mutant.line - 1] = mutant.after + "\n"
        try:
            path.write_text("".join(lines))
            if path.suffix != ".py" and self.call("setup.py", "-q", "build_ext", "--inplace") != "passed":
                return "does not build"
            files = [f"tests/{name}.py" for name in TESTS[mutant.path] if (TOP / "tests" / f"{name}.py").exists()]
            return self.call("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files)
        finally:
            path.write_text(source)


def end_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="names of files of retention/; without any, all")
    parser.add_argument("--sample", type=int, metavar="N", help="only so many, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="show the mutants, and test none")
    options = parser.parse_args()
    mutants = [mutant for path in options.files or TESTS for mutant in mutants_of(path)]
    if options.sample is not None:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    if options.list:
        print("\n".join(map(show, mutants)), f"{len(mutants)} mutants", sep="\n")
        return 0
    return report(*run_all(mutants, options.jobs))


def run_all(mutants, jobs):
    outcomes = collections.Counter()
    survivors = []
    began = time.monotonic()
    local = threading.local()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(jobs) as pool:

        def attempt(mutant):
            if not hasattr(local, "copy"):
                local.copy = Copy(Path(tempfile.mkdtemp(dir=name)))
            return mutant, local.copy.test(mutant)

        for number, (mutant, outcome) in enumerate(pool.map(attempt, mutants), 1):
            outcomes[outcome] += 1
            if outcome == "passed":
                survivors.append(mutant)
                print(f"survived: {show(mutant)}", flush=True)
            print(f"{number} of {len(mutants)}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return outcomes, survivors


def report(outcomes, survivors):
    unexplained = [mutant for mutant in survivors if mutant.before.strip() not in EXPLAINED.get(mutant.path, ())]
    killed = outcomes["failed"] + outcomes["endless"]
    print(
        f"{sum(outcomes.values())} mutants: {killed} noticed, {outcomes['does not build']} that do not build, "
        f"{len(survivors) - len(unexplained)} survivors explained, {len(unexplained)} not:"
    )
    print("\n".join(map(show, unexplained)))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
