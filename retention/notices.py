"""The sentence about what was left out: the library's clause, and the tool's own advice."""

from __future__ import annotations

from retention._frozen import Frozen
from retention.results import Omitted
from retention.strategies import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, TypeAlias

    _Unit: TypeAlias = Literal["items", "bytes", "chars", "lines"]

UNITS = ("items", "bytes", "chars", "lines")


class HeadTailLimit(Frozen):
    """The limit of a strategy that keeps both ends, in the unit of the notice that it is in.

    head, tail: a budget for each; None, in lines, for an end that has none.
    """

    __slots__ = __match_args__ = ("head", "tail")
    head: int | None
    tail: int | None

    def __init__(self, head: int | None, tail: int | None) -> None:
        self._set(head=head, tail=tail)


class RetentionNotice(Frozen):
    """The facts of one retention, for `format_retention_notice`: the tool that knows the way out adds the words.

    scope: what was bounded, in the tool's words: "grep", "bash stdout".
    strategy: the kind of the strategy: "head", "tail" or "head_tail".
    unit: the unit of the three numbers: "items", "bytes", "chars" or "lines".
    limit: the budget; a `HeadTailLimit` where there are two.
    kept: how much of the stream was kept, in its own units (not the size of a text in which malformed bytes were
        replaced).
    omitted: an `Omitted`: how much was left out.

    Raises:
        ValueError: the unit is none of the four.
    """

    __slots__ = __match_args__ = ("scope", "strategy", "unit", "limit", "kept", "omitted")
    scope: str
    strategy: Literal["head", "tail", "head_tail"]
    unit: _Unit
    limit: int | HeadTailLimit
    kept: int
    omitted: Omitted

    def __init__(
        self,
        scope: str,
        strategy: Literal["head", "tail", "head_tail"],
        unit: _Unit,
        limit: int | HeadTailLimit,
        kept: int,
        omitted: Omitted,
    ) -> None:
        checked_unit(unit)
        self._set(scope=scope, strategy=strategy, unit=unit, limit=limit, kept=kept, omitted=omitted)


def checked_unit(unit: _Unit) -> _Unit:
    if unit not in UNITS:
        raise ValueError(f"unit must be 'items', 'bytes', 'chars' or 'lines', got {shown(unit)}")
    return unit


def describe_omitted(omitted: Omitted, unit: _Unit) -> str:
    """Return the clause that says how much was omitted, in a unit; the empty string where nothing was.

    Only an exact count is given as a number: a lower bound would be taken for the total.

    >>> describe_omitted(Omitted("exact", 3), "items")
    'Omitted 3 items.'
    >>> describe_omitted(Omitted("exact", 1), "lines")
    'Omitted 1 line.'
    >>> describe_omitted(Omitted("at_least", 1), "items")
    'More items were omitted.'

    Raises:
        TypeError: `omitted` is no `Omitted`.
        ValueError: the unit is none of "items", "bytes", "chars", "lines".
    """
    checked_unit(unit)
    if not isinstance(omitted, Omitted):
        raise TypeError(f"omitted must be an Omitted, got {type(omitted).__name__}")
    if not omitted:
        return ""
    if omitted.kind == "exact":
        return f"Omitted {omitted.count} {unit if omitted.count != 1 else unit[:-1]}."
    return f"More {unit} were omitted."


def format_retention_notice(notice: RetentionNotice, recovery: str | Callable[[RetentionNotice], str]) -> str:
    """Return one line for the reader: what was omitted, and what the tool advises, joined by a space.

    `recovery` is the advice, or a function of the notice that returns it. It is asked for also where nothing was
    omitted: whether there is anything to say then is the tool's decision. Either half may be empty.

    >>> notice = RetentionNotice("grep", "head", "items", 100, 100, Omitted("exact", 41))
    >>> format_retention_notice(notice, lambda notice: f"Showing the first {notice.kept}; narrow the pattern.")
    'Omitted 41 items. Showing the first 100; narrow the pattern.'

    Raises:
        TypeError: `notice` is no `RetentionNotice`, or the advice is no string.
    """
    if not isinstance(notice, RetentionNotice):
        raise TypeError(f"notice must be a RetentionNotice, got {type(notice).__name__}")
    advice = recovery(notice) if callable(recovery) else recovery
    if not isinstance(advice, str):
        raise TypeError(f"recovery must be a string or a function that returns one, got {type(advice).__name__}")
    return " ".join([half for half in (describe_omitted(notice.omitted, notice.unit), advice) if half])
