"""The specification as a model of the whole stream: slow, and short enough to be seen to be right."""

import re
from functools import reduce
from itertools import accumulate, pairwise
from math import floor
from operator import add

from retention import (
    ItemRetentionStrategy,
    Omitted,
    PushDecision,
    RetainedBytes,
    RetainedItems,
    RetainedText,
    TextRetentionStrategy,
    describe_omitted,
)


def budgets(strategy: TextRetentionStrategy | ItemRetentionStrategy) -> tuple[int, int]:
    numbers = [getattr(strategy, name) for name in strategy.__match_args__]
    return {"head": (numbers[0], 0), "tail": (0, numbers[0]), "head_tail": tuple(numbers)}[strategy.kind]


def line_budgets(strategy) -> tuple[int | None, int | None]:
    limit = getattr(strategy, "max_lines", None)
    head, tail = getattr(strategy, "head_lines", None), getattr(strategy, "tail_lines", None)
    return {"head": (limit, None), "tail": (None, limit), "head_tail": (head, tail)}[strategy.kind]


def stops_early(strategy) -> bool:
    return getattr(strategy, "stop", "read_to_end") == "stop_when_full"


def omitted(strategy, count: int) -> Omitted:
    return Omitted("none") if not count else Omitted("at_least" if stops_early(strategy) else "exact", count)


def lines(stream: bytes) -> list[bytes]:
    return [line for line in re.split(rb"(?<=\n)", stream) if line]


def ends(strategy, stream) -> tuple[int, int]:
    """Where the longest prefix and the longest suffix within the budgets stop and start, in bytes or items."""
    head, tail = budgets(strategy)
    head_lines, tail_lines = line_budgets(strategy)
    stop, start = min(head, len(stream)), max(len(stream) - tail, 0)
    if head_lines is not None:
        stop = len(b"".join(lines(stream[:stop])[:head_lines]))
    if tail_lines is not None:
        start += len(b"".join(lines(stream[start:])[: -tail_lines or None]))
    return stop, start


def exact_cuts(strategy, stream) -> tuple[int, int]:
    """The head is the stream up to the first, the tail from the second on; equal where nothing is omitted."""
    stop, start = ends(strategy, stream)
    if start <= stop:
        stop = start = 0 if strategy.kind == "tail" else len(stream)
    return stop, start


# One of these completes whatever can be completed to a character, the ranges of Table 3-7's second bytes included.
# (An incremental decoder is no help: CPython's waits for the end of ED A0, which no third byte makes well-formed.)
COMPLETIONS = [bytes([second]) + b"\x80" * more for second in (0x80, 0x90, 0xA0) for more in range(3)]


def is_character(data: bytes, ends_stream: bool) -> bool:
    """A well-formed sequence, or, at the end of the stream, the beginning of one."""
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return ends_stream and any(is_character(data + completion, False) for completion in COMPLETIONS)


def divided(stream: bytes, cut: int) -> tuple[int, int]:
    """Where the character that straddles a cut starts and stops; the cut itself where none does."""
    for start in range(max(cut - 3, 0), cut):
        for stop in range(cut + 1, min(start + 4, len(stream)) + 1):
            if is_character(stream[start:stop], stop == len(stream)):
                return start, stop
    return cut, cut


def whole_line_cuts(stream: bytes, stop: int, start: int) -> tuple[int, int]:
    """Cuts moved to the borders of lines, unless that empties the part; then off a CR LF, even if that does."""
    stop = stream.rfind(b"\n", 0, stop) + 1 or stop
    if start < len(stream) and stream[start - 1 : start] != b"\n":
        line = stream.find(b"\n", start) + 1
        start = line if 0 < line < len(stream) else start
    stop -= stop > 0 and stream[stop - 1 : stop + 1] == b"\r\n"
    start += start > 0 and stream[start - 1 : start + 1] == b"\r\n"
    return stop, start


def omitted_lines(stream: bytes, stop: int, start: int) -> int:
    starts = [0, *accumulate(map(len, lines(stream)))]
    return sum(stop <= begin and end <= start for begin, end in pairwise(starts))


def text(strategy: TextRetentionStrategy, stream: bytes, errors="replace", whole_lines=False, count_lines=False):
    stop, start = exact_cuts(strategy, stream)
    truncated = stop < start
    if truncated:
        stop, start = divided(stream, stop)[0], divided(stream, start)[1]
        if whole_lines:
            stop, start = whole_line_cuts(stream, stop, start)
    head, tail = stream[:stop].decode("utf-8", errors), stream[start:].decode("utf-8", errors)
    result = (head + tail, head, tail, truncated, omitted(strategy, start - stop), len(stream))
    if not (whole_lines or count_lines or line_budgets(strategy) != (None, None)):
        return RetainedText(*result)
    return RetainedText(*result, len(lines(stream)), omitted(strategy, omitted_lines(stream, stop, start)))


def raw(strategy: TextRetentionStrategy, stream: bytes) -> RetainedBytes:
    stop, start = exact_cuts(strategy, stream)
    return RetainedBytes(stream[:stop], stream[start:], stop < start, omitted(strategy, start - stop), len(stream))


def items(strategy: ItemRetentionStrategy, stream: list) -> RetainedItems:
    stop, start = exact_cuts(strategy, stream)
    head, tail = stream[:stop], stream[start:]
    count, kept = start - stop, len(head) + len(tail)
    return RetainedItems(head + tail, head, tail, count > 0, omitted(strategy, count), len(stream), kept)


def decisions(strategy, chunks: list) -> list[PushDecision]:
    """What each push is answered; for items, the chunks are lists of one."""
    answers = []
    for count, chunk in enumerate(chunks, 1):
        stop, start = ends(strategy, reduce(add, chunks[:count]))
        truncated = stop < start
        stop_now = stops_early(strategy) and truncated and len(chunk) > 0
        answers.append(PushDecision(not truncated or not chunk, truncated, stop_now))
    return answers


def encoded(text: str) -> bytes:
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def omission_line(result: RetainedText) -> str:
    before = "\n" if result.head and not result.head.endswith("\n") else ""
    after = "\n" if result.tail and not result.tail.startswith("\n") else ""
    return f"{before}[{describe_omitted(result.omitted_bytes, 'bytes')}]{after}"


def fit(text: str, max_bytes: int, head_share=0.5, marker=omission_line, whole_lines=False) -> str:
    """The text if it fits; else with the marker of the smallest reserve that it fits into, found by trying them all."""
    stream = encoded(text)

    def kept(head: int, tail: int) -> RetainedText:
        stop, start = divided(stream, head)[0], divided(stream, len(stream) - tail)[1]
        if whole_lines:
            stop, start = whole_line_cuts(stream, stop, start)
        one, other = stream[:stop].decode(), stream[start:].decode()
        return RetainedText(one + other, one, other, True, Omitted("exact", start - stop), len(stream))

    if len(stream) <= max_bytes:
        return stream.decode()
    for reserve in range(max_bytes + 1):
        head = floor((max_bytes - reserve) * head_share)
        result = kept(head, max_bytes - reserve - head)
        words = encoded(marker(result) if callable(marker) else marker)
        if len(words) <= reserve:
            return result.head + words.decode() + result.tail
    return kept(0, max_bytes).text if head_share == 0 else kept(max_bytes, 0).text
