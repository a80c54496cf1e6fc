"""Right uses, and the types that come of them. Read by a type checker; never run."""

# ruff: noqa: SIM115

import io
import socket
import subprocess
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, SupportsIndex, assert_never, assert_type

from retention import (
    CompletedRun,
    DrainResult,
    HeadTailLimit,
    ItemHead,
    ItemHeadTail,
    ItemRetainer,
    ItemRetentionStrategy,
    ItemTail,
    Omitted,
    PushDecision,
    RetainedBytes,
    RetainedItems,
    RetainedText,
    RetentionNotice,
    Spill,
    SpillResult,
    StopMode,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextRetentionStrategy,
    TextTail,
    arun,
    communicate,
    describe_omitted,
    fit_text,
    format_retention_notice,
    retain_file,
    run,
    spill_notice,
)


def strategies(stop: StopMode, index: SupportsIndex) -> None:
    head = TextHead(index, max_lines=2, stop=stop)
    assert_type(head.kind, Literal["head"])
    assert_type(head.stop, Literal["read_to_end", "stop_when_full"])
    assert_type(head.max_lines, int | None)
    assert_type(TextTail(3).kind, Literal["tail"])
    assert_type(TextHeadTail(3, 4, head_lines=1).kind, Literal["head_tail"])
    assert_type(ItemHead(3, stop="stop_when_full").max_items, int)
    assert_type(ItemHeadTail(1, 2).kind, Literal["head_tail"])


def the_kind_tells_which_strategy_it_is(strategy: TextRetentionStrategy) -> int:
    if strategy.kind == "head_tail":
        assert_type(strategy, TextHeadTail)
        return strategy.head_bytes + strategy.tail_bytes
    return strategy.max_bytes


def patterns_are_exhaustive(strategy: ItemRetentionStrategy) -> int:
    match strategy:
        case ItemHead(most) | ItemTail(most):
            return most
        case ItemHeadTail(head, tail):
            return head + tail
        case _:
            assert_never(strategy)


def text_chunks() -> None:
    retainer = TextRetainer(TextHead(100), errors="ignore", whole_lines=True, count_lines=True)
    assert_type(retainer.push("text"), PushDecision)
    for chunk in (b"", bytearray(), memoryview(b""), array("B")):
        retainer.push(chunk)
    assert_type(retainer.extend(["text", b"bytes", bytearray()]), PushDecision)
    assert_type(retainer.extend(open("file", "rb")), PushDecision)
    assert_type(retainer.finish(), RetainedText)
    assert_type(retainer.finish().seen_lines, int | None)
    assert_type(retainer.finish().render(marker=lambda result: f"[{result.omitted_bytes.count}]"), str)
    assert_type(retainer.finish_bytes(), RetainedBytes)
    assert_type(retainer.finish_bytes().head, bytes)
    assert_type(retainer.notice("scope", unit="lines"), RetentionNotice)
    assert_type(retainer + TextRetainer(TextHead(100)), TextRetainer)
    assert_type(retainer.push(b"").should_stop, bool)


def sources(process: subprocess.Popen[bytes], connection: socket.socket) -> None:
    retainer = TextRetainer(TextTail(100))
    assert_type(retainer.drain(0, timeout=1.5), DrainResult)
    assert_type(retainer.drain(connection).status, Literal["eof", "stopped", "timeout"])
    retainer.drain(open("file", "rb"))
    retainer.drain(open("file", "rb", buffering=0))
    retainer.drain(io.BytesIO())
    assert process.stdout is not None
    retainer.drain(process.stdout)
    assert_type(retain_file(Path("file"), TextTail(100)), TextRetainer)
    retain_file(b"file", TextTail(100), count_lines=True)


def the_type_of_items_flows_through(numbers: Iterator[int]) -> None:
    retainer = ItemRetainer[int](ItemHead(3))
    assert_type(retainer.push(1), PushDecision)
    assert_type(retainer.extend(numbers), PushDecision)
    assert_type(retainer.finish(), RetainedItems[int])
    assert_type(retainer.finish().items, list[int])
    assert_type(retainer.finish().render(line=lambda item: hex(item)), str)
    assert_type(retainer + retainer, ItemRetainer[int])
    annotated: ItemRetainer[str] = ItemRetainer(ItemTail(3))
    assert_type(annotated.finish().head, list[str])
    assert_type(retainer + annotated, ItemRetainer[int | str])


def omitted_counts(omitted: Omitted, index: SupportsIndex) -> str:
    assert_type(omitted.kind, Literal["none", "exact", "at_least", "unknown"])
    assert_type(omitted.count, int | None)
    assert_type(omitted + omitted, Omitted)
    assert_type(sum([omitted, omitted], Omitted("none")), Omitted)
    Omitted("exact", index)
    match omitted.kind:
        case "none" | "unknown":
            return ""
        case "exact" | "at_least":
            return describe_omitted(omitted, "chars")
        case _:
            assert_never(omitted.kind)


def notices(notice: RetentionNotice) -> None:
    assert_type(notice.limit, int | HeadTailLimit)
    assert_type(notice.unit, Literal["items", "bytes", "chars", "lines"])
    assert_type(format_retention_notice(notice, "advice"), str)
    assert_type(format_retention_notice(notice, lambda notice: notice.scope), str)
    assert_type(fit_text("text", 100, head_share=0.7, marker="...", whole_lines=True), str)
    assert_type(fit_text("text", 100, marker=lambda result: result.head), str)


async def programs(process: subprocess.Popen[bytes]) -> None:
    assert_type(run(["true"]), CompletedRun)
    assert_type(await arun("true", shell=True, cwd=Path(), env={"A": "b"}, stdin=subprocess.DEVNULL), CompletedRun)
    assert_type(communicate(process, stdout=TextHead(3), timeout=2), CompletedRun)
    result = run(
        ["cat", Path("file")],
        stdout=TextRetainer(TextTail(100)),
        stderr=subprocess.STDOUT,
        input=memoryview(b"x"),
        timeout=1,
        grace=0.1,
        check=True,
        spill=Spill("all.log", 100),
    )
    assert_type(result.returncode, int | None)
    assert_type(result.spill, SpillResult | None)
    assert_type(spill_notice(result), str)
    # None only where the caller asked for it: who did not need not test for it.
    assert_type(result.stdout, RetainedText | Any)
    assert_type(result.stdout.head, str | Any)


def fields_to_match(omitted: Omitted) -> None:
    assert_type(omitted.__match_args__, tuple[Literal["kind"], Literal["count"]])
