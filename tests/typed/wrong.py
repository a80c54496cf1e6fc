"""Wrong uses. Each line with an ignored error must have just this error; the others must have none. Never run."""

# ruff: noqa: B018, SIM115

import subprocess
import sys
from collections.abc import Hashable

import retention
from retention import (
    CompletedRun,
    ItemHead,
    ItemRetainer,
    Omitted,
    RetainedText,
    RetentionNotice,
    Spill,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
    describe_omitted,
    fit_text,
    format_retention_notice,
    retain_file,
    run,
)


def names() -> None:
    from retention import TextMiddle  # type: ignore[attr-defined]

    print(TextMiddle)
    retention.TextMiddle  # type: ignore[attr-defined]


def strategies(head: TextHead) -> None:
    TextHead("100")  # type: ignore[arg-type]
    TextHead(1.5)  # type: ignore[arg-type]
    TextHead(100, 5)  # type: ignore[call-arg]
    TextHead(100, stop="when_full")  # type: ignore[arg-type]
    TextTail(100, stop="stop_when_full")  # type: ignore[call-arg]
    TextHeadTail(100)  # type: ignore[call-arg]
    TextRetainer(ItemHead(3))  # type: ignore[arg-type]
    ItemRetainer[int](head)  # type: ignore[arg-type]
    if head.kind == "tail":  # type: ignore[comparison-overlap]
        print()


def text_chunks(retainer: TextRetainer, result: RetainedText) -> None:
    retainer.push(3)  # type: ignore[arg-type]
    retainer.push(None)  # type: ignore[arg-type]
    retainer.push(["text"])  # type: ignore[arg-type]
    retainer.push(chunk="text")  # type: ignore[call-arg]
    retainer.extend(b"bytes")  # type: ignore[arg-type]
    retainer.extend([1, 2])  # type: ignore[list-item]
    retainer.drain(open("file"))  # type: ignore[arg-type]
    retainer.drain(sys.stdin)  # type: ignore[arg-type]
    retainer.drain("file")  # type: ignore[arg-type]
    retainer.drain(0, 1.5)  # type: ignore[call-arg]
    retainer.notice("scope", unit="items")  # type: ignore[arg-type]
    retainer.merge(ItemRetainer[str](ItemHead(3)))  # type: ignore[arg-type]
    retainer + "text"  # type: ignore[operator]
    retainer.seen_bytes = 0  # type: ignore[misc]
    result.head = ""  # type: ignore[misc]
    result.omitted  # type: ignore[attr-defined]
    result.render(marker=len)  # type: ignore[arg-type]
    retain_file(3, TextTail(100))  # type: ignore[arg-type]


def items(retainer: ItemRetainer[int], texts: ItemRetainer[str]) -> None:
    retainer.push("text")  # type: ignore[arg-type]
    retainer.extend(["text"])  # type: ignore[list-item]
    retainer.merge(texts)  # type: ignore[arg-type]
    retainer.finish().items.append("text")  # type: ignore[arg-type]
    retainer.finish().render(line=str.upper)  # type: ignore[arg-type]
    key: Hashable = retainer.finish()  # type: ignore[assignment]
    print(key)
    ItemRetainer(ItemHead(3), int)  # type: ignore[call-arg]


def omitted_counts(omitted: Omitted, notice: RetentionNotice) -> None:
    Omitted("exact")  # type: ignore[call-overload]
    Omitted("some", 3)  # type: ignore[call-overload]
    Omitted("unknown", 3)  # type: ignore[call-overload]
    omitted.count + 1  # type: ignore[operator]
    describe_omitted(omitted, "pages")  # type: ignore[arg-type]
    format_retention_notice(notice, len)  # type: ignore[arg-type]
    fit_text(b"text", 100)  # type: ignore[arg-type]
    fit_text("text", 100, 0.5)  # type: ignore[call-arg]


async def programs(result: CompletedRun) -> None:
    run(["true"], capture_output=True)  # type: ignore[call-arg]
    run(["true"], text=True)  # type: ignore[call-arg]
    run(["true"], cdw="directory")  # type: ignore[call-arg]
    run(["true"], cwd=3)  # type: ignore[arg-type]
    run(["true"], timeout="60")  # type: ignore[arg-type]
    run(["true"], stdout=ItemHead(3))  # type: ignore[arg-type]
    run(["true"], input=3)  # type: ignore[arg-type]
    run(3)  # type: ignore[arg-type]
    await retention.arun(["true"], text=True)  # type: ignore[call-arg]
    retention.communicate(subprocess.Popen(["true"], text=True))  # type: ignore[arg-type]
    result.stdout.first  # type: ignore[union-attr]
    result.returncode + 1  # type: ignore[operator]
    Spill(None)  # type: ignore[arg-type]
