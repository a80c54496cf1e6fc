from collections.abc import Callable
from types import GenericAlias
from typing import Generic, Literal, SupportsIndex, TypeVar, final, overload

from typing_extensions import disjoint_base

_T = TypeVar("_T")

@disjoint_base
class Record:
    __match_args__: tuple[str, ...]
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class PushDecision(Record):
    __match_args__ = ("kept", "truncated", "should_stop")
    def __new__(cls, kept: bool, truncated: bool, should_stop: bool) -> PushDecision: ...
    @property
    def kept(self) -> bool: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def should_stop(self) -> bool: ...

@final
class Omitted(Record):
    __match_args__ = ("kind", "count")
    @overload
    def __new__(cls, kind: Literal["none"], count: Literal[0] | None = None) -> Omitted: ...
    @overload
    def __new__(cls, kind: Literal["exact", "at_least"], count: SupportsIndex) -> Omitted: ...
    @overload
    def __new__(cls, kind: Literal["unknown"], count: None = None) -> Omitted: ...
    @property
    def kind(self) -> Literal["none", "exact", "at_least", "unknown"]: ...
    @property
    def count(self) -> int | None: ...
    def __bool__(self) -> bool: ...
    def __add__(self, other: Omitted, /) -> Omitted: ...
    def __radd__(self, other: Omitted, /) -> Omitted: ...

@final
class RetainedText(Record):
    __match_args__ = (
        "text",
        "head",
        "tail",
        "truncated",
        "omitted_bytes",
        "seen_bytes",
        "seen_lines",
        "omitted_lines",
    )
    def __new__(
        cls,
        text: str,
        head: str,
        tail: str,
        truncated: bool,
        omitted_bytes: Omitted,
        seen_bytes: SupportsIndex,
        seen_lines: SupportsIndex | None = None,
        omitted_lines: Omitted = ...,
    ) -> RetainedText: ...
    @property
    def text(self) -> str: ...
    @property
    def head(self) -> str: ...
    @property
    def tail(self) -> str: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def omitted_bytes(self) -> Omitted: ...
    @property
    def seen_bytes(self) -> int: ...
    @property
    def seen_lines(self) -> int | None: ...
    @property
    def omitted_lines(self) -> Omitted: ...
    def render(self, marker: str | Callable[[RetainedText], str] | None = None) -> str: ...

@final
class RetainedBytes(Record):
    __match_args__ = ("head", "tail", "truncated", "omitted_bytes", "seen_bytes")
    def __new__(
        cls, head: bytes, tail: bytes, truncated: bool, omitted_bytes: Omitted, seen_bytes: SupportsIndex
    ) -> RetainedBytes: ...
    @property
    def head(self) -> bytes: ...
    @property
    def tail(self) -> bytes: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def omitted_bytes(self) -> Omitted: ...
    @property
    def seen_bytes(self) -> int: ...

@final
class RetainedItems(Record, Generic[_T]):
    __match_args__ = ("items", "head", "tail", "truncated", "omitted", "seen", "kept")
    __hash__: None  # type: ignore[assignment]
    def __new__(
        cls,
        items: list[_T],
        head: list[_T],
        tail: list[_T],
        truncated: bool,
        omitted: Omitted,
        seen: SupportsIndex,
        kept: SupportsIndex,
    ) -> RetainedItems[_T]: ...
    @classmethod
    def __class_getitem__(cls, item: object, /) -> GenericAlias: ...
    @property
    def items(self) -> list[_T]: ...
    @property
    def head(self) -> list[_T]: ...
    @property
    def tail(self) -> list[_T]: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def omitted(self) -> Omitted: ...
    @property
    def seen(self) -> int: ...
    @property
    def kept(self) -> int: ...
    def render(
        self,
        line: Callable[[_T], str] | None = None,
        marker: str | Callable[[RetainedItems[_T]], str] | None = None,
    ) -> str: ...

def shared_decision(kept: bool, truncated: bool, should_stop: bool) -> PushDecision: ...
