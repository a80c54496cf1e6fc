"""Bound output before a reader with a limited budget sees it: keep a head, a tail or both, and say what is missing."""

from retention.fitting import fit_text
from retention.items import ItemRetainer
from retention.notices import HeadTailLimit, RetentionNotice, describe_omitted, format_retention_notice
from retention.results import Omitted, PushDecision, RetainedBytes, RetainedItems, RetainedText
from retention.strategies import (
    ItemHead,
    ItemHeadTail,
    ItemRetentionStrategy,
    ItemTail,
    TextHead,
    TextHeadTail,
    TextRetentionStrategy,
    TextTail,
)
from retention.text import TextRetainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from retention.strategies import StopMode

__all__ = [
    "HeadTailLimit",
    "ItemHead",
    "ItemHeadTail",
    "ItemRetainer",
    "ItemRetentionStrategy",
    "ItemTail",
    "Omitted",
    "PushDecision",
    "RetainedBytes",
    "RetainedItems",
    "RetainedText",
    "RetentionNotice",
    "StopMode",
    "TextHead",
    "TextHeadTail",
    "TextRetainer",
    "TextRetentionStrategy",
    "TextTail",
    "describe_omitted",
    "fit_text",
    "format_retention_notice",
]


def __getattr__(name: str) -> object:
    # What costs an import is imported at first use.
    if name == "StopMode":
        from retention import strategies

        return strategies.StopMode
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
