"""How fast many files of log lines are retained, with their lines counted, by one process and by several.

    python benchmarks/bench_many.py [--gigabytes N] [--rounds N] [--folder PATH]

prints the table of the README. It makes the files, in a folder that is removed again, then reads them by one process,
by `concurrent.futures` on all cores, by Dask's distributed scheduler with a worker for each core, and, on the same
workers, by what `dask.bag` offers alone: `read_text`, and `count` and `take` of the lines. Each answer is checked: the
number of lines, and the first and the last of them. The files are read once before, so that they come from memory if
there is enough. Dask is needed: `pip install '.[dask]'`.
"""

import argparse
import operator
import os
import platform
import statistics
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial, reduce
from pathlib import Path

import dask
import dask.bag
from distributed import Client, LocalCluster

from retention import TextHeadTail, retain_file

FILE_SIZE = 128 << 20
ENDS = 10
STRATEGY = TextHeadTail(8192, 8192, head_lines=ENDS, tail_lines=ENDS)
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()

retain = partial(retain_file, strategy=STRATEGY, count_lines=True)


def make_files(folder, size):
    """Files of log lines, of which none is like the other within a file; returns their paths and what is in them."""
    lines = []
    length = 0
    while length < FILE_SIZE:
        number = len(lines)
        request = f"request={number * 2654435761 % 2**32:08x} path=/api/v1/items/{number % 977}"
        lines.append(f"2025-01-01T00:00:{number % 60:02}.{number % 1000:03}Z INFO worker-{number % 16} {request} ok\n")
        length += len(lines[-1])
    body = "".join(lines[1:]).encode()
    paths = []
    count = total = 0
    while total < size:
        name = f"{len(paths):05}.log"
        (folder / name).write_bytes(first_line(name).encode() + body)
        paths.append(str(folder / name))
        total += os.path.getsize(paths[-1])
        count += len(lines)
        progress(f"making files: {total / 1e9:.1f} GB")
    head = [first_line("00000.log"), *lines[1:ENDS]]
    return paths, total, count, ("".join(head), "".join(lines[-ENDS:]))


def first_line(name):
    return f"the first line of {name}\n"


def one_process(paths):
    return answer(reduce(operator.add, map(retain, paths)))


def futures(paths):
    with ProcessPoolExecutor(CORES) as pool:
        return answer(reduce(operator.add, pool.map(retain, paths)))


def on_dask(paths):
    return answer(dask.bag.from_sequence(paths).map(retain).fold(operator.add).compute())


def bag_alone(paths):
    lines = dask.bag.read_text(paths)
    # Of the ends, a bag can take the first; the last are those of its last partition, which is read once more.
    head = lines.take(ENDS, npartitions=-1, compute=False)
    tail = dask.bag.read_text(paths[-1]).reduction(last_lines, last_of_all)
    count, head, tail = dask.compute(lines.count(), head, tail)
    return count, ("".join(head), "".join(tail))


def last_lines(lines):
    return list(lines)[-ENDS:]


def last_of_all(parts):
    return [line for part in parts for line in part][-ENDS:]


def answer(retainer):
    result = retainer.finish()
    return result.seen_lines, (result.head, result.tail)


def read_once(paths):
    block = bytearray(1 << 20)
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(block):
                pass


def compare(paths, size, expected, rounds):
    measured = {
        "one process": (one_process, []),
        f"`concurrent.futures`, {CORES} processes": (futures, []),
        f"Dask, {CORES} workers": (on_dask, []),
        f"`dask.bag` alone, {CORES} workers": (bag_alone, []),
    }
    for number in range(rounds):
        for name, (function, seconds) in measured.items():
            progress(f"round {number + 1} of {rounds}: {name}")
            start = time.perf_counter()
            found = function(paths)
            seconds.append(time.perf_counter() - start)
            assert found == expected, (name, found, expected)
    progress("")
    print(f"\n{size / 1e9:.2f} GB in {len(paths)} files, {expected[0]:,} lines; medians of {rounds} rounds:\n")
    print("| who | seconds | GB/s | speed-up over one process | over `dask.bag` alone |")
    print("|---|---:|---:|---:|---:|")
    medians = {name: statistics.median(seconds) for name, (_, seconds) in measured.items()}
    one, *_, bag = medians.values()
    for name, median in medians.items():
        print(f"| {name} | {median:.2f} | {size / median / 1e9:.2f} | {one / median:.2f} | {bag / median:.1f} |")


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where to make the files; by default where temporary files go")
    options = parser.parse_args()
    words = f"CPython {platform.python_version()}, {platform.system()} {platform.release()} {platform.machine()}"
    print(f"{words}, {CORES} cores, Dask {dask.__version__}")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        paths, size, lines, ends = make_files(Path(folder), options.gigabytes * 1e9)
        progress("reading all files once")
        read_once(paths)
        # A cluster stands before it is used; its start is no part of the figures. A pool of processes starts in them.
        with (
            warnings.catch_warnings(action="ignore"),
            LocalCluster(
                n_workers=CORES, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
            ) as cluster,
            Client(cluster),
        ):
            compare(paths, size, (lines, ends), options.rounds)


if __name__ == "__main__":
    main()
