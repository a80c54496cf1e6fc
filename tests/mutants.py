"""Mutants: one small fault at a time put into the library; the tests must notice each.

    python tests/mutants.py                         every mutant of every file below
    python tests/mutants.py _cuts.pyx --sample 40   of one file; as many as that, chosen by --seed
    python tests/mutants.py --list                  only shows them

A comparison is moved by one and turned, a sign and a number changed, a condition changed or left out, a statement left
out. In a copy of the checkout all mutants of the Cython files are compiled at once, each behind its number:
`if size > 1` becomes `if ((size >= 1) if MUTANT == 7 else size > 1)`, and a function of C a function for each of its
mutants. The few that cannot be written so are built one by one, and those of the Python files need no building. All is
hardly optimised, with the bounds checked. The tests of the file, first those that noticed others near by, then the
quickest, run until one fails. Those that survive are printed; the exit status is 1 if any of them is not among
EXPLAINED. Most mutants live for less than a second; one that survives takes as long as all tests of its file.
"""

import argparse
import collections
import contextlib
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from compiling import build_in_place, copy_checkout
from explained_mutants import EXPLAINED
from mutating import TOP, mutants_of, show
from weaving import weave_all

TEXT = ["test_conformance", "test_exhaustive", "test_text", "test_properties", "test_lines", "test_merge"]

RUNNING = ["test_run", "test_communicate", "test_spill"]

# The files that are changed, and the tests that know them best.
TESTS = {
    "_scan.pxd": [*TEXT, "test_file", "test_fitting"],
    "_utf8.pxd": TEXT,
    "_window.pxd": TEXT,
    "_window.pyx": [*TEXT, "test_buffers", "test_memory", "test_leaks"],
    "_cuts.pxd": TEXT,
    "_cuts.pyx": TEXT,
    "_lines.pxd": [*TEXT, "test_file"],
    "_lines.pyx": [*TEXT, "test_file", "test_memory"],
    "_units.pxd": [*TEXT, "test_memory"],
    "_spill.pxd": ["test_spill"],
    "text.pyx": [
        *TEXT,
        "test_pickle",
        "test_notices",
        "test_file",
        "test_api",
        "test_drain",
        "test_buffers",
        "test_threads",
        "test_faults",
        "test_leaks",
        "test_nomemory",
    ],
    "items.pyx": ["test_items", "test_merge", "test_pickle", "test_notices", "test_memory"],
    "results.pyx": ["test_results", "test_markers", "test_pickle", "test_notices"],
    "fitting.pyx": ["test_fitting"],
    "_signals.pxd": ["test_signals", "test_run"],
    "_engine.pyx": [
        *RUNNING,
        "test_drain",
        "test_signals",
        "test_faults",
        "test_aio",
        "test_subinterpreters",
        "test_leaks",
    ],
    "__init__.py": ["test_api"],
    "_frozen.py": ["test_strategies", "test_notices", "test_pickle", "test_nomemory"],
    "_streams.py": ["test_command"],
    "_spawn.py": ["test_command_run"],
    "running.py": ["test_command_run", "test_security"],
    "aio.py": ["test_aio"],
    "strategies.py": ["test_strategies", "test_notices", "test_conformance", "test_items"],
    "notices.py": ["test_notices"],
    "markers.py": ["test_markers"],
    "draining.py": ["test_drain", "test_no_engine"],
    "file.py": ["test_file"],
    "spill.py": ["test_spill"],
    "_options.py": ["test_command", "test_file", "test_command_run"],
    "command.py": ["test_command", "test_file", "test_command_run"],
    "process.py": RUNNING,
    "child.py": [*RUNNING, "test_command_run"],
}


def build_driver(folder):
    """Compile the driver of test_exhaustive.py, which takes longer than most mutants live."""
    words = ["-c", "import exhaustive; print(exhaustive.build('.'))"]
    (folder / "mutant").write_bytes(struct.pack("i", 0))
    env = {
        **os.environ,
        "MUTANT": str(folder / "mutant"),
        "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "tests")]),
    }
    done = subprocess.run([sys.executable, *words], cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return str(folder / done.stdout.strip())


class Job:
    """A process with a copy, and a plugin of pytest in it: what is collected once is run by a child for each mutant."""

    def __init__(self, whole, todo, done):
        self.whole = whole
        self.todo = todo
        self.done = done
        self.limits = None

    def run(self, names):
        folder = Path(tempfile.mkdtemp(dir=self.whole.parent)) / "copy"
        shutil.copytree(self.whole, folder)
        os.chdir(folder)
        # The copy comes first on the path, before what is installed.
        os.environ.update(MUTANT=str(folder / "mutant"), PYTHONPATH=str(folder), RETENTION_EXAMPLES="100")
        # Many hang.
        os.environ["RETENTION_SOON"] = "15"
        sys.path.insert(0, str(folder))
        os.environ["TMPDIR"] = tempfile.mkdtemp(dir=folder)
        # A shell ignores it for what it starts in the background; tests send it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.choose(0)
        self.output = os.open("output", os.O_RDWR | os.O_CREAT)
        for fd in (1, 2):
            os.dup2(self.output, fd)
        status = pytest.main(words_for(names), [self])
        sys.stdout.flush()
        if self.limits is None:
            # Not in a child: where no mutant was asked for, nothing was collected.
            self.done.put((None, "ended", self.said()))
        os._exit(status)

    def choose(self, number):
        Path("mutant").write_bytes(struct.pack("i", number))

    def said(self):
        return os.pread(self.output, 1 << 20, 0).decode(errors="replace")

    def pytest_runtestloop(self, session):
        collected = session.items
        for number, mutant, woven, limits in iter(self.todo.get, None):
            began = time.monotonic()
            os.ftruncate(self.output, 0)
            os.lseek(self.output, 0, os.SEEK_SET)
            self.choose(number if mutant and woven else 0)
            if woven:
                child = os.fork()
                if child == 0:
                    os.setsid()
                    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                    # One that takes memory without end is noticed too.
                    resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, resource.RLIM_INFINITY))
                    self.limits = limits
                    session.items = [item for name in limits for item in collected if item.path.stem == name]
                    # Those of pytest run them.
                    return None
                outcome = wait_for(child, limits)
            else:
                outcome = self.test_alone(mutant, limits)
            self.done.put((number, outcome, time.monotonic() - began, self.said()))
        return True

    def pytest_runtest_setup(self, item):
        # One that computes without end is noticed too, by the processor's time, which passes no faster where others
        # share the machine.
        signal.setitimer(signal.ITIMER_PROF, self.limits[item.path.stem])

    def pytest_runtest_teardown(self):
        signal.setitimer(signal.ITIMER_PROF, 0)

    def test_alone(self, mutant, limits):
        """A mutant that has not been built with the others."""
        path = Path("retention", mutant.path)
        before = path.read_text()
        lines = (TOP / path).read_text().splitlines(keepends=True)
        lines[mutant.line - 1] = mutant.after + "\n"
        try:
            path.write_text("".join(lines))
            if path.suffix != ".py":
                os.environ.pop("RETENTION_DRIVER", None)
                if build_in_place(".", "RETENTION_DEBUG").returncode:
                    return "does not build"
            command = [sys.executable, "-m", "pytest", *words_for(limits)]
            # No Popen, which would warn in a later test that nobody has waited for it.
            no_input = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
            child = os.posix_spawn(sys.executable, command, os.environ, file_actions=[no_input], setsid=True)
            return wait_for(child, limits)
        finally:
            path.write_text(before)


def words_for(names):
    words = ["-q", "-x", "--tb=short", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
    return [*words, *(f"tests/{name}.py" for name in names)]


def wait_for(child, limits):
    """How the tests of a child end, with whatever they leave behind: "passed", "failed" or "endless"."""
    # A test that waits takes none of the processor's time.
    deadline = time.monotonic() + 20 + 2 * sum(limits.values())
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if ended == (0, 0):
        os.waitpid(child, 0)
        return "endless"
    return {0: "passed", -signal.SIGPROF: "endless"}.get(os.waitstatus_to_exitcode(ended[1]), "failed")


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
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        whole = Path(name, "whole")
        copy_checkout(whole)
        woven = weave_all(whole, mutants)
        if any("test_exhaustive" in TESTS[mutant.path] for mutant in mutants):
            os.environ["RETENTION_DRIVER"] = build_driver(whole)
        note(f"{len(woven)} of {len(mutants)} mutants are built, {time.monotonic() - began:.0f} s")
        names = list(dict.fromkeys(name for mutant in mutants for name in TESTS[mutant.path]))
        context = multiprocessing.get_context("spawn")
        todo, done = context.Queue(), context.SimpleQueue()
        processes = [context.Process(target=Job(whole, todo, done).run, args=(names,)) for _ in range(jobs)]
        for process in processes:
            process.start()
            stack.callback(process.join)
        for _ in processes:
            stack.callback(todo.put, None)
        # Without a mutant all tests pass; and those that take the least time will come first.
        for name in names:
            todo.put((name, None, True, {name: 600}))
        takes = {}
        for _ in names:
            name, outcome, seconds, said = done.get()
            if outcome != "passed":
                raise RuntimeError(f"without a mutant, {name} {outcome}:\n{said}")
            takes[name] = seconds
        note(f"without a mutant the tests pass, {time.monotonic() - began:.0f} s: {takes}")
        return test_all(mutants, woven, takes, todo, done, 2 * jobs)


def test_all(mutants, woven, takes, todo, done, at_once):
    """Have the jobs run the tests of each mutant until one fails. Returns how many end how, and the survivors."""
    outcomes = collections.Counter()
    survivors = []
    began = time.monotonic()
    # First by the tests that noticed others near it, then by the quickest. Those that are built one by one, and by
    # all tests at once, come last: with the first of them what was built before is lost.
    noticed = collections.defaultdict(list)
    left = {number: TESTS[mutant.path] for number, mutant in enumerate(mutants, 1)}
    waiting = collections.deque(sorted(left, key=lambda number: is_built_alone(number, mutants, woven)))
    running = {}
    while waiting or running:
        while waiting and len(running) < at_once:
            number = waiting[0]
            mutant = mutants[number - 1]
            if is_built_alone(number, mutants, woven) and not woven.isdisjoint(running):
                break
            waiting.popleft()
            names = sorted(left[number], key=lambda name: (distance(mutant, noticed[name]), takes[name]))
            running[number] = names[:1] if number in woven else names
            left[number] = names[len(running[number]) :]
            # Of each test of a file; those of a whole file take as long.
            limits = {name: int(5 + takes[name]) for name in running[number]}
            todo.put((number, mutant, number in woven, limits))
        number, outcome, seconds, said = done.get()
        names = running.pop(number)
        mutant = mutants[number - 1]
        if outcome == "passed" and left[number]:
            waiting.appendleft(number)
            continue
        outcomes[outcome] += 1
        first = "".join(re.findall(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)[:1])
        if outcome == "passed":
            survivors.append(mutant)
            print(f"survived: {show(mutant)}", flush=True)
        else:
            noticed[Path(first.partition("::")[0]).stem or names[0]].append(mutant)
        note(
            f"{outcomes.total()} of {len(mutants)}, {time.monotonic() - began:.0f} s: {mutant.path}:{mutant.line} "
            f"{mutant.after.strip()!r} {outcome} in {seconds:.1f} s {first}"
        )
    return outcomes, survivors


def is_built_alone(number, mutants, woven):
    return number not in woven and not mutants[number - 1].path.endswith(".py")


def distance(mutant, others):
    """How many rows away the nearest of them is that is in the same file."""
    rows = [abs(mutant.line - other.line) for other in others if other.path == mutant.path]
    return min(rows, default=1_000_000)


def note(text):
    print(text, file=sys.stderr, flush=True)


def is_explained(mutant):
    before, after = mutant.before.strip(), mutant.after.strip()
    return not EXPLAINED.get(mutant.path, {}).keys().isdisjoint([before, (before, after)])


def report(outcomes, survivors):
    unexplained = [mutant for mutant in survivors if not is_explained(mutant)]
    killed = outcomes["failed"] + outcomes["endless"]
    print(
        f"{sum(outcomes.values())} mutants: {killed} noticed, {outcomes['does not build']} that do not build, "
        f"{len(survivors) - len(unexplained)} survivors explained, {len(unexplained)} not:"
    )
    print("\n".join(map(show, unexplained)))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
