"""What stands in the gap of a rendered result."""

from __future__ import annotations

from retention.notices import describe_omitted
from retention.results import Omitted, RetainedItems, RetainedText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, TypeVar

    _R = TypeVar("_R", RetainedText, RetainedItems[Any])


def marker_for(result: _R, marker: str | Callable[[_R], str]) -> str:
    """The marker of a result, given outright or as a function of it."""
    words = marker(result) if callable(marker) else marker
    if not isinstance(words, str):
        raise TypeError(f"marker must be a string or a function that returns one, got {type(words).__name__}")
    # A plain str: what a subclass makes of adding is its own affair.
    return "".join((words,))


def clause(omitted: Omitted, unit: Literal["items", "bytes", "lines"]) -> str:
    return f"[{describe_omitted(omitted, unit)}]"


def on_its_own_line(head: str, words: str, tail: str) -> str:
    """Words for the gap between two texts, on a line of their own: no newline where one stands, nor at an outer end."""
    before = "\n" if head and not head.endswith("\n") else ""
    after = "\n" if tail and not tail.startswith("\n") else ""
    return f"{before}{words}{after}"


def marker_line(result: RetainedText) -> str:
    """What a text lacks, on a line of its own: in lines where one is known to be wholly missing, else in bytes."""
    in_lines = bool(result.omitted_lines.count)
    words = clause(result.omitted_lines, "lines") if in_lines else clause(result.omitted_bytes, "bytes")
    return on_its_own_line(result.head, words, result.tail)


def items_marker(result: RetainedItems[Any]) -> str:
    return clause(result.omitted, "items")
