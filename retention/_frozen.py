"""The base of strategies and notices: immutable values, written out because `dataclasses` takes 22 ms to import."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Never, Self


class Frozen:
    """Fields in `__slots__`, set once by `_set`; positional patterns take those of `__match_args__`."""

    __slots__: tuple[str, ...] = ()

    def _set(self, **fields: object) -> None:
        # Not by items(): without memory for its first pair, that of CPython 3.11 crashes.
        for name in fields:
            if hasattr(self, name):
                setattr(self, name, fields[name])  # A second call of __init__: refused as any setting is.
            object.__setattr__(self, name, fields[name])

    def _values(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        fields = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__slots__])
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[object, ...]:
        return rebuild, (type(self), dict(zip(self.__slots__, self._values(), strict=True)))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


def rebuild(cls: type[Frozen], fields: dict[str, object]) -> Frozen:
    """Unpickle through the constructor, which validates."""
    return cls(**fields)
