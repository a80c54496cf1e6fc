"""All benchmarks, in one go: figures as JSON, tables in Markdown, charts.

    python -m benchmarks [--quick] [--out DIR] [--charts DIR] [--only NAME,...] [--processes N]

What runs, and how long it took, is shown on standard error; the tables come on standard output when all is done. In DIR
are then results.json (figures, machine, versions, commit), tables.md, the charts, and what each benchmark printed.

Each bench_*.py answers one question. Those that time functions are run by pytest, several times, because where code and
objects lie in memory is drawn anew for each process: a ratio is the median of the processes' ratios. The others are
scripts. Goals are told and never asserted: the exit status is 1 only if a benchmark fails, as it does where an answer
is wrong. Needed: pip install -e '.[bench]'; for bench_many also '.[dask]'.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
CHECKOUT = HERE.parent
# With what they are run: quickly, and fully. Whatever else is named bench_*.py belongs to pytest.
SCRIPTS = {
    "bench_stdout": (["--quick"], ["--beside", "all", "--size", "300MB", "--rounds", "3"]),
    "bench_scale": (["--quick"], []),
    "bench_many": (["--gigabytes", "0.3", "--rounds", "1"], []),
}
# Their tables are all that there is.
WITHOUT_JSON = ("bench_many",)
NEEDS = {"bench_many": "dask"}
# More than any of them takes; one that hangs is ended.
LONGEST = 3 * 3600


def benchmarks():
    return sorted((path.stem for path in HERE.glob("bench_*.py")), key=lambda name: (name in SCRIPTS, name))


def run_all(names, options, out):
    """Run the benchmarks; returns the ratios, what the scripts measured, what they printed, and which failed."""
    pairs, measured, printed, failed = {}, {}, {}, []
    for place, name in enumerate(names, 1):
        if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
            say(f"[{place}/{len(names)}] {name}: left out, {NEEDS[name]} is not installed")
            continue
        times = 1 if name in SCRIPTS or options.quick else options.processes
        runs = []
        for number in range(times):
            what = f"[{place}/{len(names)}] {name}" + (f", process {number + 1} of {times}" if times > 1 else "")
            text, found, status = run(what, name, options.quick, out)
            if status != 0 and name not in failed:
                failed.append(name)
            if found is not None:
                runs.append(found)
        if name in SCRIPTS:
            printed[name] = text
            measured[name] = runs[0] if runs else None
        else:
            pairs[name] = medians(runs)
    return pairs, measured, printed, failed


def run(what, name, quick, out):
    """One process: what it printed, which goes to a file too, what it measured, and its status."""
    say(f"{what}: running")
    start = time.monotonic()
    file, log = out / f"{name}.json", out / f"{name}.txt"
    file.unlink(missing_ok=True)
    with open(log, "w") as output:
        # What pytest says of its files is none of our progress.
        errors = None if name in SCRIPTS else output
        words = command(name, file, quick)
        try:
            status = subprocess.run(
                words, cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, timeout=LONGEST
            ).returncode
        except subprocess.TimeoutExpired:
            status = "timeout"
    text = log.read_text()
    took = f"{time.monotonic() - start:.1f} s"
    if status == 0:
        say(f"{what}: {took}")
    else:
        say(f"{what}: failed, status {status}, after {took}; its last lines:")
        say("\n".join(text.splitlines()[-30:]))
    return text, json.loads(file.read_text()) if file.exists() else None, status


def command(name, file, quick):
    script = HERE / f"{name}.py"
    if name in SCRIPTS:
        words = [sys.executable, script, *SCRIPTS[name][not quick]]
        return words if name in WITHOUT_JSON else [*words, "--json", file]
    words = [sys.executable, "-m", "pytest", script, "--benchmark-only", "-q", "-p", "no:cacheprovider"]
    return [*words, f"--benchmark-json={file}", *(["--quick"] if quick else [])]


def medians(runs):
    """One row for each pair: the medians of its processes, and of its repetitions within one."""
    rows = defaultdict(list)
    for info in (benchmark["extra_info"] for run in runs for benchmark in run["benchmarks"]):
        if "title" in info:
            rows[info["title"], info["against"], info.get("goal"), info.get("lacks", "")].append(info)
    found = []
    for (title, against, goal, lacks), infos in rows.items():
        faster = sorted(info["theirs_ns"] / info["ours_ns"] for info in infos)
        row = {"title": title, "against": against, "lacks": lacks, "goal": goal}
        for key in ("ours_ns", "theirs_ns"):
            row[key] = statistics.median(info[key] for info in infos)
        row["times_faster"], row["spread"] = statistics.median(faster), [faster[0], faster[-1]]
        row["met"] = met(goal, row["times_faster"])
        found.append(row)
    return found


def met(goal, times_faster):
    """Whether a goal is reached: "at most 1.1" of their time, or "15 times faster"; None where there is none."""
    if goal is None:
        return None
    if goal.startswith("at most "):
        return 1 / times_faster <= float(goal.removeprefix("at most "))
    return times_faster >= float(goal.removesuffix(" times faster"))


def say(text):
    print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="within two minutes: to see what is broken, not for figures"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", default=CHECKOUT / "build/benchmarks", help="default: build/benchmarks"
    )
    parser.add_argument("--charts", type=Path, metavar="DIR", help="where to write the charts instead")
    parser.add_argument("--only", metavar="NAME,...", help=f"of {', '.join(benchmarks())}")
    parser.add_argument(
        "--processes", type=int, metavar="N", default=5, help="how often pytest's are run (5; with --quick once)"
    )
    options = parser.parse_args()
    names = options.only.split(",") if options.only else benchmarks()
    if unknown := set(names) - set(benchmarks()):
        parser.error(f"--only: no such benchmark: {', '.join(sorted(unknown))}")
    try:
        from benchmarks import charts, machine, report
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is needed: pip install -e '.[bench]'")
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    results = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": options.quick,
        "machine": machine.machine(),
        "versions": machine.versions(),
        "commit": machine.commit(),
    }
    pairs, measured, printed, failed = run_all(names, options, out)
    results.update(pairs=pairs, stdout=measured.get("bench_stdout"), scale=measured.get("bench_scale"), failed=failed)
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    text = report.markdown(results, printed)
    (out / "tables.md").write_text(text)
    print(text)
    files = [out / "results.json", out / "tables.md", *charts.draw(results, options.charts or out)]
    say(f"{time.monotonic() - start:.0f} s. Written: {', '.join(os.path.relpath(file) for file in files)}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
