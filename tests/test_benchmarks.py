"""What the benchmarks compare with gives the same answers; and what is measured is written down."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import reference

from benchmarks.peers import items, lines, texts
from benchmarks.peers.programs import PROGRAMS, MissingError
from retention import ItemHead, ItemHeadTail, ItemTail, TextHead, TextHeadTail, TextTail

TEXT = "one\n€2\nthree 😀\n\n汉\nseven\n" * 3 + "broken off"
STREAM = TEXT.encode()
SIZES = [1, 2, 3, 5, 7, 13, 40, len(STREAM)]
BUDGETS = [1, 2, 5, 9, 30]
KINDS = {
    "head": lambda one, head, _: one(head),
    "head_stop": lambda one, head, _: one(head, stop="stop_when_full"),
    "tail": lambda one, _, tail: one(tail),
    "head_tail": lambda one, head, tail: one(head, tail),
}
TEXT_STRATEGIES = {"head": TextHead, "head_stop": TextHead, "tail": TextTail, "head_tail": TextHeadTail}
ITEM_STRATEGIES = {"head": ItemHead, "head_stop": ItemHead, "tail": ItemTail, "head_tail": ItemHeadTail}


def ways(peers):
    return [
        pytest.param(peer, kind, way, id=f"{peer.__name__}-{kind}-{way}")
        for peer in peers
        for kind in peer.kinds
        for way in peer.ways
    ]


def budgets(kind):
    sides = {"head": (1, 0), "head_stop": (1, 0), "tail": (0, 1), "head_tail": (1, 1)}[kind]
    return [tuple(side * budget for side in sides) for budget in BUDGETS]


def fed(peer, way, chunks):
    if way == "extend":
        peer.extend(iter(chunks))
    else:
        for chunk in chunks:
            peer.push(chunk)
    return peer


@pytest.mark.parametrize(("peer", "kind", "way"), ways(texts.PEERS))
def test_text_peer(peer, kind, way):
    if peer.missing:
        pytest.skip(peer.missing)
    # Characters are bytes to what counts characters.
    encoded = TEXT.encode("ascii", "replace") if peer.takes_str else STREAM
    stream = encoded.decode() if peer.takes_str else STREAM
    for size in SIZES:
        if peer.one_size and len(stream) % size:
            continue
        chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
        for head, tail in budgets(kind):
            theirs = fed(peer(head, tail, *[size] * peer.one_size), way, chunks)
            expected = reference.raw(KINDS[kind](TEXT_STRATEGIES[kind], head, tail), encoded)
            assert theirs.ends() == (expected.head, expected.tail)
            assert theirs.text() == str(expected.head, "utf-8", "replace") + str(expected.tail, "utf-8", "replace")


@pytest.mark.parametrize(("peer", "kind", "way"), ways(lines.PEERS))
@pytest.mark.parametrize("ended", [True, False])
def test_line_peer(peer, kind, way, ended):
    stream = STREAM + b"\n" * ended
    splits = [[stream[start : start + size] for start in range(0, len(stream), size)] for size in SIZES]
    for chunks in [reference.lines(stream)] if peer.one_line else splits:
        for head, tail in budgets(kind):
            limits = {"max_lines": head or tail} if kind != "head_tail" else {"head_lines": head, "tail_lines": tail}
            names = ("max_bytes",) if kind != "head_tail" else ("head_bytes", "tail_bytes")
            stop = {"stop": "stop_when_full"} if kind == "head_stop" else {}
            strategy = TEXT_STRATEGIES[kind](**dict.fromkeys(names, 10**6), **limits, **stop)
            expected = reference.raw(strategy, stream)
            theirs = fed(peer(head, tail), way, chunks)
            if expected.truncated:
                assert theirs.ends() == (expected.head, expected.tail)
            else:
                assert b"".join(theirs.ends()) == stream
            if not peer.one_line:
                assert theirs.seen_lines == len(reference.lines(stream))


@pytest.mark.parametrize(("peer", "kind", "way"), ways(items.PEERS))
def test_item_peer(peer, kind, way):
    stream = list(range(40))
    for head, tail in budgets(kind):
        expected = reference.items(KINDS[kind](ITEM_STRATEGIES[kind], head, tail), stream)
        theirs = fed(peer(head, tail), way, stream)
        if expected.truncated:
            assert theirs.ends() == (expected.head, expected.tail)
        else:
            assert [item for end in theirs.ends() for item in end] == stream


def asked(program, *work):
    """Its answer, if nothing must be installed for it: tests use no network."""
    try:
        return program.run(*work, seconds=0, install=False)
    except MissingError as error:
        pytest.skip(str(error))


def kinds(field):
    return [pytest.param(peer, kind, id=f"{peer.name}-{kind}") for peer in PROGRAMS for kind in getattr(peer, field)]


@pytest.mark.parametrize(("program", "kind"), kinds("text_kinds"))
@pytest.mark.parametrize("stream", [STREAM, TEXT], ids=["bytes", "str"])
@pytest.mark.parametrize("size", [3, 13])
def test_text_program(program, kind, stream, size):
    chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
    for head, tail in budgets(kind)[2:4]:
        expected = reference.text(KINDS[kind](TEXT_STRATEGIES[kind], head, tail), STREAM)
        answer = asked(program, "text", kind, head, tail, chunks)
        assert (answer["text"], answer["omitted"]) == (expected.text, expected.omitted_bytes.count)
        assert answer["rounds"] == 1
        assert min(answer[name] for name in ("stream_ns", "push_ns", "finish_ns")) > 0


@pytest.mark.parametrize(("program", "kind"), kinds("item_kinds"))
def test_item_program(program, kind):
    stream = [str(number) for number in range(40)]
    for head, tail in budgets(kind)[2:4]:
        expected = reference.items(KINDS[kind](ITEM_STRATEGIES[kind], head, tail), stream)
        answer = asked(program, "items", kind, head, tail, stream)
        assert (answer["items"], answer["omitted"]) == (expected.items, expected.omitted.count)


def test_benchmark_file(tmp_path):
    """What `extra_info` has, as the docstring of the fixture `pair` says it."""
    file = tmp_path / "benchmarks.json"
    words = ["benchmarks/bench_finish.py", "-k", "ASCII or (16_B and bytearray)", "--quick", "--benchmark-only", "-q"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words, f"--benchmark-json={file}", "-p", "no:cacheprovider"],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    rows = [row["extra_info"] for row in json.loads(file.read_bytes())["benchmarks"]]
    assert [row["goal"] for row in rows] == ["at most 1.3", "at most 1.3", None]
    for row in rows:
        ours, theirs, goal = row["ours_ns"], row["theirs_ns"], row["goal"]
        assert row["ratio"] == pytest.approx(ours / theirs if goal else theirs / ours)
        assert row["met"] == (row["ratio"] <= 1.3 if goal else None)
        assert f"| {row['title']} |" in run.stdout
        assert row["against"] in run.stdout
