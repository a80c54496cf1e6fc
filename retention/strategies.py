"""What to keep: a head, a tail or both, each within a budget. Immutable, hashable, validated when made."""

from __future__ import annotations

import operator

from retention._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, SupportsIndex, TypeAlias

    StopMode: TypeAlias = Literal["read_to_end", "stop_when_full"]


class TextHead(Frozen):
    """Keep the first `max_bytes` bytes of a stream, and of those at most `max_lines` lines.

    `stop="stop_when_full"` asks the caller, by `PushDecision.should_stop`, to end the source at the first byte beyond
    the budget; the omitted count is then a lower bound. With `"read_to_end"` it is exact.

    Raises:
        TypeError: a budget is not an integer (`bool` is not taken for one).
        ValueError: a budget is negative, or `stop` is neither of the two.
    """

    __slots__ = ("max_bytes", "max_lines", "stop")
    __match_args__ = ("max_bytes",)
    kind: Literal["head"] = "head"
    max_bytes: int
    max_lines: int | None
    stop: StopMode

    def __init__(
        self, max_bytes: SupportsIndex, *, max_lines: SupportsIndex | None = None, stop: StopMode = "read_to_end"
    ) -> None:
        self._set(
            max_bytes=budget("max_bytes", max_bytes),
            max_lines=line_budget("max_lines", max_lines),
            stop=stop_mode(stop),
        )

    def _byte_ends(self) -> tuple[int, int]:
        return self.max_bytes, 0

    def _line_ends(self) -> tuple[int | None, int | None]:
        return self.max_lines, None


class TextTail(Frozen):
    """Keep the last `max_bytes` bytes of a stream, and of those at most `max_lines` lines.

    A budget in lines does not lower the bound on memory: `TextTail(10**9, max_lines=10)` may hold 1 GB of one line.

    Raises:
        TypeError: a budget is not an integer (`bool` is not taken for one).
        ValueError: a budget is negative.
    """

    __slots__ = ("max_bytes", "max_lines")
    __match_args__ = ("max_bytes",)
    kind: Literal["tail"] = "tail"
    max_bytes: int
    max_lines: int | None

    def __init__(self, max_bytes: SupportsIndex, *, max_lines: SupportsIndex | None = None) -> None:
        self._set(max_bytes=budget("max_bytes", max_bytes), max_lines=line_budget("max_lines", max_lines))

    def _byte_ends(self) -> tuple[int, int]:
        return 0, self.max_bytes

    def _line_ends(self) -> tuple[int | None, int | None]:
        return None, self.max_lines


class TextHeadTail(Frozen):
    """Keep the first `head_bytes` and the last `tail_bytes` bytes of a stream, and omit what lies between.

    Of those at most `head_lines` and `tail_lines` lines. The head is the longest prefix within its two budgets, the
    tail the longest suffix within its own; where they meet, nothing is omitted.

    Raises:
        TypeError: a budget is not an integer (`bool` is not taken for one).
        ValueError: a budget is negative.
    """

    __slots__ = ("head_bytes", "tail_bytes", "head_lines", "tail_lines")
    __match_args__ = ("head_bytes", "tail_bytes")
    kind: Literal["head_tail"] = "head_tail"
    head_bytes: int
    tail_bytes: int
    head_lines: int | None
    tail_lines: int | None

    def __init__(
        self,
        head_bytes: SupportsIndex,
        tail_bytes: SupportsIndex,
        *,
        head_lines: SupportsIndex | None = None,
        tail_lines: SupportsIndex | None = None,
    ) -> None:
        self._set(
            head_bytes=budget("head_bytes", head_bytes),
            tail_bytes=budget("tail_bytes", tail_bytes),
            head_lines=line_budget("head_lines", head_lines),
            tail_lines=line_budget("tail_lines", tail_lines),
        )

    def _byte_ends(self) -> tuple[int, int]:
        return self.head_bytes, self.tail_bytes

    def _line_ends(self) -> tuple[int | None, int | None]:
        return self.head_lines, self.tail_lines


class ItemHead(Frozen):
    """Keep the first `max_items` items.

    `stop="stop_when_full"` asks the caller, by `PushDecision.should_stop`, to end the source at the item after the
    budget, the probe, which is not kept; the omitted count is then a lower bound. With `"read_to_end"` it is exact.

    Raises:
        TypeError: the budget is not an integer (`bool` is not taken for one).
        ValueError: the budget is negative, or `stop` is neither of the two.
    """

    __slots__ = ("max_items", "stop")
    __match_args__ = ("max_items",)
    kind: Literal["head"] = "head"
    max_items: int
    stop: StopMode

    def __init__(self, max_items: SupportsIndex, *, stop: StopMode = "read_to_end") -> None:
        self._set(max_items=budget("max_items", max_items), stop=stop_mode(stop))

    def _ends(self) -> tuple[int, int]:
        return self.max_items, 0


class ItemTail(Frozen):
    """Keep the last `max_items` items.

    Raises:
        TypeError: the budget is not an integer (`bool` is not taken for one).
        ValueError: the budget is negative.
    """

    __slots__ = __match_args__ = ("max_items",)
    kind: Literal["tail"] = "tail"
    max_items: int

    def __init__(self, max_items: SupportsIndex) -> None:
        self._set(max_items=budget("max_items", max_items))

    def _ends(self) -> tuple[int, int]:
        return 0, self.max_items


class ItemHeadTail(Frozen):
    """Keep the first `head_items` and the last `tail_items` items, and omit what lies between.

    Raises:
        TypeError: a budget is not an integer (`bool` is not taken for one).
        ValueError: a budget is negative.
    """

    __slots__ = __match_args__ = ("head_items", "tail_items")
    kind: Literal["head_tail"] = "head_tail"
    head_items: int
    tail_items: int

    def __init__(self, head_items: SupportsIndex, tail_items: SupportsIndex) -> None:
        self._set(head_items=budget("head_items", head_items), tail_items=budget("tail_items", tail_items))

    def _ends(self) -> tuple[int, int]:
        return self.head_items, self.tail_items


TextRetentionStrategy = TextHead | TextTail | TextHeadTail
ItemRetentionStrategy = ItemHead | ItemTail | ItemHeadTail


def budget(name: str, value: SupportsIndex) -> int:
    """A budget as an int, however large; the error for what is none names the argument and shows the value."""
    if not isinstance(value, bool):
        try:
            number = operator.index(value)
        except TypeError:
            pass
        else:
            if number >= 0:
                return number
            raise ValueError(f"{name} must be a non-negative integer, got {shown(value)}")
    raise TypeError(f"{name} must be a non-negative integer, got {shown(value)}")


def line_budget(name: str, value: SupportsIndex | None) -> int | None:
    return None if value is None else budget(name, value)


def stop_mode(stop: StopMode) -> StopMode:
    if stop == "read_to_end" or stop == "stop_when_full":
        return stop
    raise ValueError(f"stop must be 'read_to_end' or 'stop_when_full', got {shown(stop)}")


def real_number(value: object) -> float:
    """A number as a float, infinite if it is too large for one. TypeError for anything else."""
    if isinstance(value, (str, bytes, bytearray)):
        # float() would parse it.
        raise TypeError
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")  # type: ignore[operator]


def shown(value: object) -> str:
    """The value's repr for an error message, shortened; one that cannot be made must not hide the error."""
    try:
        text = repr(value)
    except Exception:
        # An int of more than 4300 digits has no repr (CPython's guard against quadratic time), nor have all objects.
        if isinstance(value, int):
            return f"an integer of {value.bit_length()} bits"
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


# Not for type checkers, which would take any name for one that this finds.
if not TYPE_CHECKING:

    def __getattr__(name):
        # An alias that needs `typing`, 5 ms of import, is made when somebody asks for it.
        if name == "StopMode":
            from typing import Literal

            alias = Literal["read_to_end", "stop_when_full"]
            globals()[name] = alias
            return alias
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
