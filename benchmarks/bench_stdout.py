"""How fast a program's output gets through, beside a C program that reads the same pipe and throws it away.

    python benchmarks/bench_stdout.py [--gigabytes N] [--rounds N]

prints the tables of the README. The limit is that C program: 64 KiB blocks into memory that begins at a page. Consumers
take turns, round by round, because pipes run at two speeds on some machines and stay at one for minutes: compare within
a run, believe medians. Each consumer's count of bytes is checked. A C compiler is needed.
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

PRODUCER = r"""
#include <stdlib.h>
#include <unistd.h>
/* Writes so many bytes of log lines of 80 characters, in blocks of 64 KiB. */
int main(int count, char **words)
{
    static char block[65536];
    long long left = atoll(words[count - 1]);
    for (int i = 0; i < 65536; i++)
        block[i] = i % 80 == 79 ? '\n' : 'a' + i % 26;
    while (left > 0) {
        ssize_t written = write(1, block, left < 65536 ? left : 65536);
        if (written < 0)
            return 1;
        left -= written;
    }
    return 0;
}
"""
SINK = r"""
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    void *block;
    if (posix_memalign(&block, 4096, 65536))
        return 1;
    while (read(0, block, 65536) > 0) {}
    return 0;
}
"""

# Each consumer is a program of its own, so that its memory and time are its own: producer and size are its arguments.
# What they import is not timed.
COMMON = """
import json, os, resource, subprocess, sys, threading, time
import retention.process
producer, size, busy = sys.argv[1], sys.argv[2], sys.argv[3] == "busy"
if busy:
    def compute():
        while True:
            sum(range(1000))
    threading.Thread(target=compute, daemon=True).start()
start = time.perf_counter()
"""
CONSUMERS = {
    "C reader, throws away": """
        process = subprocess.Popen([producer, size], stdout=subprocess.PIPE)
        subprocess.run([os.environ["SINK"]], stdin=process.stdout, check=True)
        process.stdout.close()
        assert process.wait() == 0
        seen = int(size)
    """,
    "retention.run": """
        seen = retention.run([producer, size]).stdout.seen_bytes
    """,
    "TextRetainer.drain": """
        retainer = retention.TextRetainer(retention.TextHeadTail(8192, 8192))
        with subprocess.Popen([producer, size], stdout=subprocess.PIPE, bufsize=0) as process:
            retainer.drain(process.stdout)
        seen = retainer.seen_bytes
    """,
    "os.read loop with push": """
        retainer = retention.TextRetainer(retention.TextHeadTail(8192, 8192))
        with subprocess.Popen([producer, size], stdout=subprocess.PIPE, bufsize=0) as process:
            while chunk := os.read(process.stdout.fileno(), 65536):
                retainer.push(chunk)
        seen = retainer.seen_bytes
    """,
    "the retain command": """
        words = [sys.executable, "-m", "retention", "--json", "--", producer, size]
        seen = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)["seen"]
    """,
    "capture_output, then slice": """
        output = subprocess.run([producer, size], capture_output=True, check=True).stdout
        kept = output[:8192] + output[-8192:]
        seen = len(output)
    """,
}
RESULT = """
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
print(seen, seconds, sum(part.ru_utime + part.ru_stime for part in used), max(part.ru_maxrss for part in used) * 1024)
os._exit(0)
"""


def build(folder):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        sys.exit("a C compiler is needed")
    for name, source in (("producer", PRODUCER), ("sink", SINK)):
        (folder / f"{name}.c").write_text(source)
        subprocess.run([compiler, "-O2", "-o", folder / name, folder / f"{name}.c"], check=True)


def measure(folder, consumer, size, busy):
    """One run: seconds, CPU seconds of consumer and producer, and the consumer's peak memory."""
    program = COMMON + textwrap.dedent(CONSUMERS[consumer]) + RESULT
    words = [sys.executable, "-c", program, folder / "producer", str(size), "busy" if busy else "alone"]
    env = {**os.environ, "SINK": str(folder / "sink")}
    run = subprocess.run(words, stdout=subprocess.PIPE, check=True, cwd=folder, env=env)
    seen, seconds, cpu, peak = run.stdout.split()
    assert int(seen) == size, (consumer, seen)
    return float(seconds), float(cpu), int(peak)


def compare(folder, title, consumers, size, rounds, *, busy=False):
    measured = {consumer: [] for consumer in consumers}
    for number in range(rounds):
        for consumer in consumers:
            progress(f"{title}: round {number + 1} of {rounds}, {consumer}")
            measured[consumer].append(measure(folder, consumer, size, busy))
    progress("")
    print(f"\n{title}, {size / 1e9:.3g} GB, medians of {rounds} rounds:\n")
    print("| consumer | GB/s | of the C reader | CPU s/GB | peak memory |")
    print("|---|---:|---:|---:|---:|")
    limit = measured[consumers[0]]
    for consumer, runs in measured.items():
        # Round by round, because the machine's speed changes between rounds.
        share = statistics.median(theirs[0] / ours[0] for theirs, ours in zip(limit, runs, strict=True))
        seconds, cpu = (statistics.median(run[column] for run in runs) for column in (0, 1))
        peak = max(run[2] for run in runs)
        cpu_text = "" if busy else f"{cpu / size * 1e9:.2f}"
        print(f"| {consumer} | {size / seconds / 1e9:.2f} | {share:.2f} | {cpu_text} | {peak / 1e6:.0f} MB |")


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=1, help="of the first table; the others take more")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    size = int(options.gigabytes * 1e9)
    print(f"CPython {platform.python_version()}, {platform.system()} {platform.release()} {platform.machine()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        names = list(CONSUMERS)
        compare(folder, "Alone", names[:5], size, options.rounds)
        compare(folder, "Beside a computing thread", names[:2], 3 * size, max(options.rounds // 2, 1), busy=True)
        compare(folder, "Against capturing", [names[0], names[1], names[5]], 2 * size, max(options.rounds // 2, 1))


if __name__ == "__main__":
    main()
