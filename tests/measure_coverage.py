"""What the tests reach: lines and branches of the Python files, lines of the compiled ones. Needs gcc.

    pip install coverage
    python tests/measure_coverage.py                        by nearly all tests
    python tests/measure_coverage.py test_text test_lines   by these

In a copy of the checkout, built without optimisation. The compiled modules count how often each line of their C runs,
in all the processes of the tests; a line of Cython has run where the first C of it has. What a process has counted is
lost where a signal kills it. The exit status is 1 if a test fails, or a file is below 98 %: what is missed is printed.
"""

import argparse
import ast
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from compiling import build_in_place, copy_checkout

TOP = Path(__file__).parent.parent
GOAL = 98
# They measure, or reach nothing of their own.
LEFT_OUT = {"bench_scripts", "benchmarks", "exhaustive", "leaks", "memory", "readme", "soak", "typing"}
# What these count or run out of, or the interpreters that they make, coverage.py would disturb: they run without it.
APART = [
    "tests/test_nomemory.py",
    "tests/test_subinterpreters.py",
    "tests/test_command_run.py::test_a_command_costs_no_import_that_it_does_not_need",
]
# Where no file can be written, the counts cannot be either, and that is complained about.
DISTURBED = [
    "tests/test_faults.py::test_starting[no_processes]",
    "tests/test_command_run.py::test_where_the_disk_fills_a_line_says_how_much_is_saved",
]
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]


def start(folder, *words, **options):
    # The copy comes first on the path, before what is installed.
    env = {**os.environ, "RETENTION_EXAMPLES": "50", "PYTHONPATH": str(folder)}
    return subprocess.Popen(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, **options)


def call(folder, *words):
    """What a program prints, which must not fail."""
    process = start(folder, *words, stdout=subprocess.PIPE, text=True)
    answer = process.communicate()[0]
    assert process.returncode == 0, words
    return answer


def run_tests(folder, tests):
    """Whether they pass. Those apart run meanwhile."""
    apart = [test for test in APART if test.split("::")[0] in tests]
    untraced = start(folder, sys.executable, *PYTEST, *apart, stdout=subprocess.PIPE, text=True) if apart else None
    others = [test for test in tests if test not in apart] + [f"--deselect={test}" for test in APART + DISTURBED]
    passed = start(folder, sys.executable, "-m", "coverage", "run", *PYTEST, *others).wait() == 0
    if untraced is not None:
        print(untraced.communicate()[0])
        passed &= untraced.returncode == 0
    return passed


def python_files(folder):
    """For each file: its lines and branches, and of them those missed."""
    call(folder, sys.executable, "-m", "coverage", "combine", "-q")
    call(folder, sys.executable, "-m", "coverage", "json", "-q", "-o", "python.json")
    for path, file in json.loads((folder / "python.json").read_text())["files"].items():
        lines, missed = file["executed_lines"], file["missing_lines"]
        branches, not_taken = file["executed_branches"], file["missing_branches"]
        yield path, len(lines) + len(missed), missed, len(branches) + len(not_taken), not_taken


def compiled_files(folder):
    """The same; without branches."""
    counts = collections.Counter()
    for data in sorted(folder.glob("build/temp*/**/*.gcno")):
        for file in json.loads(call(folder, "gcov", "--json-format", "--stdout", str(data)))["files"]:
            path = folder / file["file"]
            if path.is_relative_to(folder / "build"):
                of_c = collections.Counter()
                for line in file["lines"]:
                    of_c[line["line_number"]] += line["count"]
                counts.update(lines_of_cython(path, of_c))
    files = collections.defaultdict(list)
    for path, line in sorted(counts):
        files[path].append(line)
    for path, lines in files.items():
        yield path, len(lines), [line for line in lines if not counts[path, line]], 0, []


def lines_of_cython(path, of_c):
    """How often each (file, line) of Cython has run, from how often each line of this C has.

    Before the C of a statement Cython puts a comment with its file and line; before that of a finally, which is there
    for each way to leave, only once.
    """
    text = path.read_text()
    verbatim = dict(verbatim_lines(text))
    mark = re.compile(r'\s*/\* "(.+)":(\d+)')
    counts = collections.Counter()
    statement, copies = None, False
    for number, line in enumerate(text.splitlines(), 1):
        if match := mark.fullmatch(line):
            statement, copies = (match[1], int(match[2])), False
        elif line == "};" or "/* function exit code */" in line:
            statement = None
        elif "/*finally:*/" in line:
            copies = True
        elif number in verbatim and number in of_c:
            counts[verbatim[number]] += of_c[number]
        elif statement and statement[0].startswith("retention/") and number in of_c:
            counts[statement] += of_c[number]
            statement = statement if copies else None
    return counts


def verbatim_lines(text):
    """For the lines of C that stand in a .pxd as a docstring, (the line in this C, (the file, the line there))."""
    for source in TOP.glob("retention/*.pxd"):
        declared = source.read_text()
        for match in re.finditer(r'cdef extern from \*:\n *(""".*?""")', declared, re.DOTALL):
            at = text.find(ast.literal_eval(match[1]))
            first, last = (declared.count("\n", 0, end) for end in match.span(1))
            if at >= 0:
                begin = text.count("\n", 0, at)
                for line in range(last - first):
                    yield begin + line + 1, (f"retention/{source.name}", first + line + 1)


def report(files):
    """Print it; whether every file reaches the goal."""
    reached = True
    for path, lines, missed, branches, not_taken in sorted(files):
        counted = [(lines, missed, "lines")] + [(branches, not_taken, "branches")] * bool(branches)
        shares = [f"{100 * (whole - len(some)) / whole:.1f} % of {whole} {what}" for whole, some, what in counted]
        print(f"{path}: {', '.join(shares)}")
        reached &= all(len(some) <= whole * (100 - GOAL) / 100 for whole, some, _ in counted)
        source = (TOP / path).read_text().splitlines()
        for line in missed:
            print(f"    {line}: {source[line - 1].strip()}")
        for before, after in not_taken:
            print(f"    {before} to {after if after > 0 else 'the end'}: {source[before - 1].strip()}")
    return reached


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST", help="names of files of tests/; without any, nearly all")
    names = parser.parse_args().tests or sorted(
        path.stem for path in TOP.glob("tests/test_*.py") if path.stem.removeprefix("test_") not in LEFT_OUT
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "copy")
        copy_checkout(folder)
        done = build_in_place(folder, "RETENTION_COVERAGE")
        if done.returncode:
            raise RuntimeError(f"the checkout does not build:\n{done.stdout}")
        passed = run_tests(folder, [f"tests/{name}.py" for name in names])
        reached = report([*python_files(folder), *compiled_files(folder)])
    return 0 if passed and reached else 1


if __name__ == "__main__":
    sys.exit(main())
