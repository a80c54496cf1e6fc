"""How fast a program's output gets through, beside a C program that reads the same pipe and throws it away.

    python benchmarks/bench_stdout.py [--size SIZE] [--rounds N]

prints the tables of the README. With any of --producers, --consumers, --beside or --quick it compares those that are
named, or all of them: in tables of throughput, in ratios of ours to each of the others, and, for those that keep the
first bytes and end the program, in the time that this takes.

The limit is the C program: 64 KiB blocks into memory that begins at a page. It and the three producers that write as
fast as they can need a C compiler; without one, commands that exist are the producers, and there is no limit.

Consumers take turns, round by round, because pipes run at two speeds on some machines and stay at one for minutes:
compare within a run, believe medians. A consumer's answer is checked, head, tail and count, before it is timed and
after; one whose answer is wrong is not timed, and said to be wrong. CPU seconds are those of producer and consumer.
Memory is that of the process that reads; of eight at once, of the largest.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path

import producers
from consumers import CONSUMERS, FIRST
from measuring import child, in_turn, progress, ratio, shown, size, table

LIMIT = "sink"
README = (
    ("Alone", "alone", 1, ("sink", "run", "drain", "push", "retain")),
    ("Beside a computing thread", "thread", 3, ("sink", "run")),
    ("Against capturing", "alone", 2, ("sink", "run", "capture")),
)
BESIDE = {"alone": "alone", "thread": "beside a computing thread", "eight": "eight at once"}
# What a quick run reads; the second needs no compiler.
QUICK = ("blocks", "seq")
# For the check before the time is taken.
SHORT = 1_000_003
# Enough for the last lines, too.
ENDS = 1 << 17


class Streams:
    """The commands whose output is read, and what the plainest reader finds in it: looked up once each."""

    def __init__(self, folder):
        self.folder, self.known = folder, {}

    def get(self, producer, nbytes):
        if nbytes >= producers.ENDLESS:
            # Nobody counts it; it begins as the short one does.
            return {**self.get(producer, SHORT), "words": producers.command(self.folder, producer, nbytes)}
        if (producer, nbytes) not in self.known:
            progress(f"reading what {producer} writes")
            words = producers.command(self.folder, producer, nbytes)
            seen, first, last = producers.seen_by(words, ENDS)
            self.known[producer, nbytes] = {"words": words, "seen": seen, "first": first.hex(), "last": last.hex()}
        return self.known[producer, nbytes]


def compare(streams, title, producer, beside, nbytes, names, rounds):
    """Let consumers take turns; returns what was measured, as it goes into the JSON file."""
    short, long = streams.get(producer, SHORT), streams.get(producer, nbytes)
    env = {**os.environ, "SINK": str(streams.folder / "sink")}
    runs, wrong = {name: [] for name in names}, {}
    for number in range(rounds):
        for name in in_turn(names, number):
            if name in wrong:
                continue
            progress(f"{title}: round {number + 1} of {rounds}, {CONSUMERS[name].title}")
            job = {"consumer": name, "beside": beside, "short": short, "long": long}
            # Slower than 2 MB/s is nothing that is compared here.
            answer = child("consumers.py", job, seconds=60 + 8 * long["seen"] / 2e6, env=env)
            if "wrong" in answer:
                wrong[name] = answer["wrong"]
            else:
                runs[name].append(answer)
    progress("")
    read = long["seen"] * (8 if beside == "eight" else 1)
    rows = [
        {
            "consumer": name,
            "title": CONSUMERS[name].title,
            "ours": CONSUMERS[name].ours,
            **({"wrong": wrong[name]} if name in wrong else figures(runs, name, read)),
        }
        for name in names
    ]
    right = [name for name in names if name not in wrong]
    ratios = [
        {"ours": ours, "theirs": theirs, "times_faster": ratio(seconds(runs[theirs]), seconds(runs[ours]))}
        for ours in right
        if CONSUMERS[ours].ours
        for theirs in right
        if not CONSUMERS[theirs].ours and theirs != LIMIT
    ]
    return {
        "title": title,
        "producer": producer,
        "beside": beside,
        "size": None if nbytes >= producers.ENDLESS else read,
        "rounds": rounds,
        "rows": rows,
        "ratios": ratios,
    }


def figures(runs, name, read):
    ours = runs[name]
    return {
        "seconds": seconds(ours),
        "gb_per_s": read / statistics.median(seconds(ours)) / 1e9,
        "of_limit": ratio(seconds(runs[LIMIT]), seconds(ours)) if runs.get(LIMIT) else None,
        "cpu_s_per_gb": statistics.median(run["cpu"] for run in ours) / read * 1e9,
        "peak": max(run["peak"] for run in ours),
    }


def seconds(runs):
    return [run["seconds"] for run in runs]


def show(measured):
    medians = "one round" if measured["rounds"] == 1 else f"medians of {measured['rounds']} rounds"
    print(f"{measured['title']}, {shown(measured['size'])}, {medians}:\n")
    table(
        ("consumer", "GB/s", "of the C reader", "CPU s/GB", "peak memory"),
        [
            (
                row["title"],
                f"{row['gb_per_s']:.2f}",
                f"{row['of_limit']:.2f}" if row["of_limit"] else "",
                f"{row['cpu_s_per_gb']:.2f}",
                f"{row['peak'] / 1e6:.0f} MB",
            )
            if "wrong" not in row
            else (row["title"], "wrong answer", "", "", "")
            for row in measured["rows"]
        ],
    )


def show_stops(measured):
    print(f"{measured['title']}, medians of {measured['rounds']} rounds:\n")
    table(
        ("consumer", "ms"),
        [
            (row["title"], "wrong answer" if "wrong" in row else f"{statistics.median(row['seconds']) * 1e3:.1f}")
            for row in measured["rows"]
        ],
    )


def show_ratios(measured):
    ours = list(dict.fromkeys(pair["ours"] for pair in measured["ratios"]))
    theirs = dict.fromkeys(pair["theirs"] for pair in measured["ratios"])
    if not ours:
        return
    times = {(pair["ours"], pair["theirs"]): pair["times_faster"] for pair in measured["ratios"]}
    print("How many times as fast ours are as each of the others:\n")
    table(
        ("against", *(CONSUMERS[name].title for name in ours)),
        [(CONSUMERS[peer].title, *(f"{times[name, peer]:.2f}" for name in ours)) for peer in theirs],
    )


def matrix(streams, options, there):
    """Each producer with each company, and after that those that stop early."""
    quick = options.quick
    nbytes = options.size or (50_000_000 if quick else 1_000_000_000)
    rounds = options.rounds or (1 if quick else 5)
    names = options.consumers or [name for name in CONSUMERS if name != LIMIT or "blocks" in there]
    chosen = options.producers or ([name for name in there if name in QUICK] if quick else there)
    reading = [name for name in names if not CONSUMERS[name].stops]
    stopping = [name for name in names if CONSUMERS[name].stops]
    for producer in chosen if reading else ():
        for beside in options.beside or BESIDE:
            title = f"{producers.TITLES[producer]}, {BESIDE[beside]}"
            share = int(nbytes * producers.SHARES[producer] / (4 if beside == "eight" else 1))
            yield compare(streams, title, producer, beside, share, reading, rounds)
    if stopping:
        title = f"{producers.TITLES[chosen[0]]} without an end, of which the first {FIRST} bytes are wanted"
        yield compare(streams, title, chosen[0], "alone", producers.ENDLESS, stopping, max(rounds, 3))


def tables_of_readme(streams, options):
    nbytes, rounds = options.size or 1_000_000_000, options.rounds or 7
    for title, beside, times, names in README:
        turns = rounds if title == "Alone" else max(rounds // 2, 1)
        yield compare(streams, title, "blocks", beside, times * nbytes, list(names), turns)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--producers", type=listed(producers.TITLES), help=f"of {', '.join(producers.TITLES)}")
    parser.add_argument("--consumers", type=listed(CONSUMERS), help=f"of {', '.join(CONSUMERS)}")
    parser.add_argument("--beside", type=listed(BESIDE), help=f"of {', '.join(BESIDE)}")
    parser.add_argument("--size", type=size, help="of what is read, such as 500MB (1GB); some tables take more or less")
    parser.add_argument("--rounds", type=int, help="turns that each consumer takes (7; of a comparison 5)")
    parser.add_argument("--quick", action="store_true", help="two producers, one round, a twentieth of the size")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured to a file too")
    options = parser.parse_args()
    compared = options.producers or options.consumers or options.beside or options.quick
    print(f"CPython {platform.python_version()}, {platform.system()} {platform.release()} {platform.machine()}\n")
    tables = []
    with tempfile.TemporaryDirectory() as name:
        streams = Streams(Path(name))
        there = producers.build(streams.folder)
        wanted = (options.producers or ()) if compared else ("blocks",)
        missing = [producer for producer in wanted if producer not in there]
        if missing:
            sys.exit(f"{', '.join(missing)}: a C compiler is needed, or the command itself")
        for measured in matrix(streams, options, there) if compared else tables_of_readme(streams, options):
            tables.append(measured)
            show_stops(measured) if measured["size"] is None else show(measured)
            if compared:
                show_ratios(measured)
            sys.stdout.flush()
    if options.json:
        options.json.write_text(json.dumps(tables, indent=1) + "\n")
    wrong = [row["wrong"] for measured in tables for row in measured["rows"] if "wrong" in row and row["ours"]]
    if wrong:
        sys.exit("\n".join(wrong))


def listed(known):
    def parse(text):
        names = list(known) if text == "all" else text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: all, {', '.join(known)}")
        return names

    return parse


if __name__ == "__main__":
    main()
