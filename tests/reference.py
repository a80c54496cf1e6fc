"""The specification as a model of the whole stream: slow, and short enough to be seen to be right."""

import codecs
from itertools import accumulate

from retention import (
    ItemRetentionStrategy,
    Omitted,
    PushDecision,
    RetainedBytes,
    RetainedItems,
    RetainedText,
    TextRetentionStrategy,
)


def budgets(strategy: TextRetentionStrategy | ItemRetentionStrategy) -> tuple[int, int]:
    numbers = [getattr(strategy, name) for name in strategy.__match_args__ if name != "stop"]
    return {"head": (numbers[0], 0), "tail": (0, numbers[0]), "head_tail": tuple(numbers)}[strategy.kind]


def stops_early(strategy) -> bool:
    return getattr(strategy, "stop", "read_to_end") == "stop_when_full"


def omitted(strategy, count: int) -> Omitted:
    return Omitted("none") if not count else Omitted("at_least" if stops_early(strategy) else "exact", count)


def split(strategy, stream):
    """Head and tail exactly at the budget, of bytes or of items."""
    head, tail = budgets(strategy)
    if len(stream) <= head + tail:
        return (stream[:0], stream) if strategy.kind == "tail" else (stream, stream[:0])
    return stream[:head], stream[len(stream) - tail :]


def is_character(data: bytes, ends_stream: bool) -> bool:
    """A well-formed sequence, or, at the end of the stream, the beginning of one."""
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        pass
    try:
        return ends_stream and codecs.getincrementaldecoder("utf-8")().decode(data) == ""
    except UnicodeDecodeError:
        return False


def divided(stream: bytes, cut: int) -> tuple[int, int]:
    """Where the character that straddles a cut starts and stops; the cut itself where none does."""
    for start in range(max(cut - 3, 0), cut):
        for stop in range(cut + 1, min(start + 4, len(stream)) + 1):
            if is_character(stream[start:stop], stop == len(stream)):
                return start, stop
    return cut, cut


def text(strategy: TextRetentionStrategy, stream: bytes, errors: str = "replace") -> RetainedText:
    head, tail = split(strategy, stream)
    truncated = len(head) + len(tail) < len(stream)
    if truncated:
        head = stream[: divided(stream, len(head))[0]]
        tail = stream[divided(stream, len(stream) - len(tail))[1] :]
    count = len(stream) - len(head) - len(tail)
    first, last = head.decode("utf-8", errors), tail.decode("utf-8", errors)
    return RetainedText(first + last, first, last, truncated, omitted(strategy, count), len(stream))


def raw(strategy: TextRetentionStrategy, stream: bytes) -> RetainedBytes:
    head, tail = split(strategy, stream)
    count = len(stream) - len(head) - len(tail)
    return RetainedBytes(head, tail, count > 0, omitted(strategy, count), len(stream))


def items(strategy: ItemRetentionStrategy, stream: list) -> RetainedItems:
    head, tail = split(strategy, stream)
    kept = len(head) + len(tail)
    count = len(stream) - kept
    return RetainedItems(head + tail, head, tail, count > 0, omitted(strategy, count), len(stream), kept)


def decisions(strategy, sizes: list[int]) -> list[PushDecision]:
    """What each push of a stream is answered, by the chunks' sizes (an item's is 1)."""
    beyond = [seen > sum(budgets(strategy)) for seen in accumulate(sizes)]
    return [
        PushDecision(size == 0 or not more, more, stops_early(strategy) and size > 0 and more)
        for size, more in zip(sizes, beyond, strict=True)
    ]
