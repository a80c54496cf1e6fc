"""Whether time and memory stay flat, however long the stream, whatever the budget, and what each size of chunk costs.

    python benchmarks/bench_scale.py [--quick] [--rounds N] [--streams SIZE] [--pipes SIZE] [--budgets SIZE]
        [--chunks SIZE]

Streams of 1 MiB to 64 GiB are one chunk of 64 KiB that is pushed again and again, or what a command writes into a pipe
(of 1 GiB at most; --pipes 16GiB asks for more). Budgets are 1 KiB to 1 GiB, half of it for each end; chunks 1 byte to
16 MiB, with what plain Python does in place of a push beside them.

A budget that the processor's cache does not hold costs the speed of main memory, and the first touch of its pages.

Each point is measured in a process of its own, in turn with all the others, round by round. Time is the median of the
rounds: the processor's for pushes, the clock's for pipes, which run at two speeds on some machines. Memory is the most
that the process had resident, and how much of that came after the imports, at the largest of the rounds. Each answer,
head, tail and count, is checked on a small scale before, and as it is afterwards. The goals are printed and never
asserted.
"""

import argparse
import json
import platform
import statistics
import tempfile
from pathlib import Path

import producers
from measuring import binary, child, in_turn, number, progress, size, table

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
END = 8 * KIB
BLOCK = 64 * KIB
# Time per byte may grow by so much, and memory by so many bytes: the kernel counts pages in batches.
FLAT_TIME, FLAT_MEMORY = 1.2, MIB

TITLES = {
    "retained": "`TextRetainer.push`",
    "counted": "`TextRetainer.push`, counting lines",
    "drained": "`TextRetainer.drain`",
    "everything": "all in a `bytearray`, then slices",
    "chunks": "a deque of chunks",
    "slices": "a `bytearray`, its front deleted",
    "last": "`deque(maxlen=1).append`",
}
OURS = ("retained", "counted", "drained")


def powers(first, last, factor):
    sizes = []
    while first <= last:
        sizes.append(first)
        first *= factor
    return sizes


def point(series, who, value, total, *, head=END, tail=END, chunk=BLOCK):
    """What is measured: `value` is what grows along the series, `total` the length of the stream."""
    job = {"who": who, "head": head, "tail": tail, "chunk": chunk, "count": -(-total // chunk)}
    return {"series": series, "who": who, "value": value, "job": job}


def streams(longest, quick):
    factor = 16 if quick else 4
    for total in powers(MIB, longest, factor):
        yield point("stream", "retained", total, total)
        yield point("stream", "counted", total, total)
        # It holds all of it.
        if total <= (256 * MIB if quick else GIB):
            yield point("stream", "everything", total, total)


def pipes(longest, quick, folder):
    producer = producers.build(folder)[0]
    if longest < MIB:
        return
    for total in powers(MIB, longest, 16 if quick else 4):
        progress(f"reading what writes {binary(total)}")
        short, long = (stream(folder, producer, nbytes) for nbytes in (MIB, total))
        for who in ("retained", "everything"):
            job = {"who": who, "head": END, "tail": END, "short": short, "long": long}
            if who == "retained" or total <= GIB:
                yield {"series": "pipe", "who": "drained" if who == "retained" else who, "value": total, "job": job}


def stream(folder, producer, nbytes):
    words = producers.command(folder, producer, nbytes)
    seen, first, last = producers.seen_by(words, END)
    return {"words": words, "seen": seen, "first": first.hex(), "last": last.hex()}


def budgets(largest, quick):
    for budget in powers(KIB, largest, 32):
        total = max(4 * budget, (64 if quick else 256) * MIB)
        yield point("budget", "retained", budget, total, head=budget // 2, tail=budget // 2, chunk=4 * KIB)


def chunks(largest, quick):
    for chunk in powers(1, largest, 16 if quick else 4):
        # So many that both ends are full most of the time.
        total = max(chunk * 20, 64 * END if chunk < 16 else 256 * END)
        for who in ("retained", "chunks", "slices", "last"):
            yield point("chunk", who, chunk, total, chunk=chunk)


def measure(points, rounds):
    """Let all points take turns; returns them with what was measured."""
    runs = [[] for _ in points]
    for turn in range(rounds):
        for index in in_turn([*range(len(points))], turn):
            here = points[index]
            progress(f"round {turn + 1} of {rounds}, {here['series']} {binary(here['value'])}, {TITLES[here['who']]}")
            runs[index].append(child("points.py", here["job"], seconds=1800))
    progress("")
    return [figures(here, measured) for here, measured in zip(points, runs, strict=True)]


def figures(here, runs):
    job = here["job"]
    total = job["long"]["seen"] if "long" in job else job["chunk"] * job["count"]
    found = {key: here[key] for key in ("series", "who", "value")}
    found["title"], found["ours"], found["total"] = TITLES[here["who"]], here["who"] in OURS, total
    if "pushes" in runs[0]:
        found["ns_per_push"] = statistics.median(run["seconds"] / run["pushes"] for run in runs) * 1e9
        found["ns_per_kib"] = found["ns_per_push"] / job["chunk"] * KIB
    else:
        found["ns_per_kib"] = statistics.median(run["seconds"] for run in runs) * 1e9 / total * KIB
    found["peak"] = max(run["peak"] for run in runs)
    found["grown"] = max(run["peak"] - run["before"] for run in runs)
    return found


HEADINGS = {
    "stream": "Streams of chunks of 64 KiB, head and tail of 8 KiB",
    "pipe": "Streams through a pipe, head and tail of 8 KiB",
    "budget": "Budgets, half of it for each end, chunks of 4 KiB",
    "chunk": "Chunks, head and tail of 8 KiB: ns per push",
}


def show(series, points):
    print(f"{HEADINGS[series]}:\n")
    if series == "chunk":
        show_chunks(points)
        return
    table(
        (series if series != "pipe" else "stream", "who", "ns/KiB", "GB/s", "peak memory", "of that after the imports"),
        [
            (
                binary(here["value"]),
                here["title"],
                number(here["ns_per_kib"]),
                number(KIB / here["ns_per_kib"]),
                f"{here['peak'] / MIB:.1f} MiB",
                f"{here['grown'] / MIB:.1f} MiB",
            )
            for here in points
        ],
    )


def show_chunks(points):
    names = list(dict.fromkeys(here["who"] for here in points))
    found = {(here["who"], here["value"]): here["ns_per_push"] for here in points}
    table(
        ("chunk", *(TITLES[name] for name in names)),
        [
            (binary(value), *(number(found[name, value]) for name in names))
            for value in dict.fromkeys(here["value"] for here in points)
        ],
    )


def length(point):
    return point["value"]


def goals(points):
    """Whether the longest stream costs no more than a shorter one: what is said of each of ours."""
    found = []
    for series in ("stream", "pipe"):
        for who in OURS:
            ours = [here for here in points if (here["series"], here["who"]) == (series, who)]
            if len(ours) < 2:
                continue
            *_, longest = ours
            memory = longest["grown"] - ours[0]["grown"]
            goal = {
                "title": f"{TITLES[who]}, {'through a pipe, ' * (series == 'pipe')}{binary(longest['value'])}",
                "memory": memory,
                "memory_against": ours[0]["value"],
                "memory_met": memory <= FLAT_MEMORY,
            }
            # The time through a pipe is that of the pipe.
            if series == "stream":
                # Where starting and growing no longer show.
                base = max(
                    (here for here in ours if here["value"] <= longest["value"] // 16), key=length, default=ours[0]
                )
                time = longest["ns_per_kib"] / base["ns_per_kib"]
                goal |= {"time": time, "time_against": base["value"], "time_met": time <= FLAT_TIME}
            found.append(goal)
    return found


def show_goals(found):
    print(f"Flat: time per byte at most {FLAT_TIME} times, memory at most {FLAT_MEMORY / MIB:.0f} MiB more:\n")
    table(
        ("stream", "time per byte", "", "memory", ""),
        [
            (
                goal["title"],
                f"{goal['time']:.2f} of that of {binary(goal['time_against'])}" if "time" in goal else "",
                ("not met", "met")[goal["time_met"]] if "time" in goal else "",
                f"{goal['memory'] / MIB:+.2f} MiB against {binary(goal['memory_against'])}",
                ("not met", "met")[goal["memory_met"]],
            )
            for goal in found
        ],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer points, one round, shorter streams")
    parser.add_argument("--rounds", type=int, help="turns that each point takes (3)")
    parser.add_argument("--streams", type=size, metavar="SIZE", help="the longest stream that is pushed (64GiB)")
    parser.add_argument("--pipes", type=size, metavar="SIZE", help="the longest through a pipe (1GiB; 0 for none)")
    parser.add_argument(
        "--budgets", type=size, metavar="SIZE", help="the largest budget (1GiB); memory takes twice that"
    )
    parser.add_argument("--chunks", type=size, metavar="SIZE", help="the largest chunk (16MiB)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured to a file too")
    options = parser.parse_args()
    quick = options.quick

    def given(name, quickly, fully):
        value = getattr(options, name)
        return value if value is not None else quickly if quick else fully

    print(f"CPython {platform.python_version()}, {platform.system()} {platform.release()} {platform.machine()}\n")
    with tempfile.TemporaryDirectory() as folder:
        points = [
            *streams(given("streams", 64 * GIB, 64 * GIB), quick),
            *pipes(given("pipes", 256 * MIB, GIB), quick, Path(folder)),
            *budgets(given("budgets", 32 * MIB, GIB), quick),
            *chunks(given("chunks", 16 * MIB, 16 * MIB), quick),
        ]
        measured = measure(points, given("rounds", 1, 3))
    for series in HEADINGS:
        of_series = [here for here in measured if here["series"] == series]
        if of_series:
            show(series, of_series)
    found = goals(measured)
    show_goals(found)
    if options.json:
        options.json.write_text(json.dumps({"points": measured, "goals": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
