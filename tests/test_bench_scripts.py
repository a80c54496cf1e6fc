"""The scripts of benchmarks/ on a small scale: that they run, check what they time, and tell of all that was asked."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from watch import SOON

CHECKOUT = Path(__file__).parent.parent
BENCHMARKS = CHECKOUT / "benchmarks"

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.skipif(os.name != "posix", reason="they run programs"),
    pytest.mark.skipif(not (BENCHMARKS / "__main__.py").exists(), reason="the benchmarks are not at hand"),
    pytest.mark.skipif(not shutil.which("seq"), reason="without `seq` there may be nothing that writes"),
]


def run(*words, **options):
    # Progress is for terminals alone; and nothing is to be warned of.
    done = subprocess.run(
        [sys.executable, *words], cwd=CHECKOUT, capture_output=True, text=True, timeout=3 * SOON, **options
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def tables(text):
    """The rows of each table of Markdown, without its header."""
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]
    return [[row.strip("| ").split(" | ") for row in lines[2:]] for lines in blocks]


def test_help_needs_nothing_installed():
    text = run("-S", "-m", "benchmarks", "--help")
    for name in ("bench_stdout", "bench_scale", "--quick", "--charts"):
        assert name in text


def test_consumers_take_turns(tmp_path):
    names = ["run", "push", "capture", "tail", "head", "run_stop"]
    words = ["--producers", "seq", "--consumers", ",".join(names), "--beside", "alone,eight", "--size", "4MB"]
    text = run(BENCHMARKS / "bench_stdout.py", *words, "--rounds", "1", "--json", tmp_path / "out.json")
    *reading, stopping = json.loads((tmp_path / "out.json").read_text())
    assert [(table["producer"], table["beside"]) for table in reading] == [("seq", "alone"), ("seq", "eight")]
    for table in reading:
        assert [row["consumer"] for row in table["rows"]] == ["run", "push", "capture", "tail"]
        for row in table["rows"]:
            assert len(row["seconds"]) == table["rounds"] == 1
            assert min(row["gb_per_s"], row["cpu_s_per_gb"], row["peak"]) > 0
            # The limit was not asked for.
            assert row["of_limit"] is None
        pairs = [(pair["ours"], pair["theirs"]) for pair in table["ratios"]]
        assert pairs == [("run", "capture"), ("run", "tail"), ("push", "capture"), ("push", "tail")]
    assert [row["consumer"] for row in stopping["rows"]] == ["head", "run_stop"]
    shown = tables(text)
    assert [len(rows) for rows in shown] == [4, 2, 4, 2, 2, 1]
    assert [len(rows[0]) for rows in shown] == [5, 3, 5, 3, 2, 2]
    assert "wrong answer" not in text


@pytest.mark.parametrize("part", ["seen", "first", "last"])
def test_wrong_answer_is_not_timed(part):
    numbers = "".join(f"{number}\n" for number in range(1, 50_001)).encode()
    right = {"words": ["seq", "50000"], "seen": len(numbers), "first": numbers[:20_000].hex(), "last": numbers.hex()}
    other = {"seen": 5, "first": numbers[1:20_000].hex(), "last": numbers[:-1].hex()}
    job = {"consumer": "push", "beside": "alone", "short": right, "long": right}
    assert json.loads(run(BENCHMARKS / "consumers.py", input=json.dumps(job))).keys() == {"seconds", "cpu", "peak"}
    for when in ("short", "long"):
        changed = job | {when: right | {part: other[part]}}
        assert json.loads(run(BENCHMARKS / "consumers.py", input=json.dumps(changed))).keys() == {"wrong"}


def test_points_of_scale(tmp_path):
    words = ["--quick", "--streams", "16MiB", "--pipes", "1MiB", "--budgets", "1KiB", "--chunks", "16B"]
    text = run(BENCHMARKS / "bench_scale.py", *words, "--json", tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_text())
    everyone = ["retained", "counted", "everything"]
    peers = ["retained", "chunks", "slices", "last"]
    assert [(point["series"], point["value"], point["who"]) for point in found["points"]] == [
        *(("stream", length, who) for length in (1 << 20, 16 << 20) for who in everyone),
        *(("pipe", 1 << 20, who) for who in ("drained", "everything")),
        ("budget", 1024, "retained"),
        *(("chunk", chunk, who) for chunk in (1, 16) for who in peers),
    ]
    for point in found["points"]:
        assert min(point["ns_per_kib"], point["peak"]) > 0
        if point["who"] == "everything":
            assert point["grown"] > 0.9 * point["value"] - (1 << 20)
    assert len(found["goals"]) == 2
    assert [len(rows) for rows in tables(text)] == [6, 2, 1, 2, 2]
