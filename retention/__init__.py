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
    from retention.aio import arun
    from retention.draining import DrainResult
    from retention.file import retain_file
    from retention.process import CompletedRun, communicate, run
    from retention.spill import Spill, SpillResult, spill_notice
    from retention.strategies import StopMode

__all__ = [
    "CompletedRun",
    "DrainResult",
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
    "Spill",
    "SpillResult",
    "StopMode",
    "TextHead",
    "TextHeadTail",
    "TextRetainer",
    "TextRetentionStrategy",
    "TextTail",
    "arun",
    "communicate",
    "describe_omitted",
    "fit_text",
    "format_retention_notice",
    "retain_file",
    "run",
    "spill_notice",
]


# What costs an import is imported at first use.
LATER = {
    "CompletedRun": "process",
    "DrainResult": "draining",
    "Spill": "spill",
    "SpillResult": "spill",
    "StopMode": "strategies",
    "arun": "aio",
    "communicate": "process",
    "retain_file": "file",
    "run": "process",
    "spill_notice": "spill",
}


def __getattr__(name: str) -> object:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"retention.{LATER[name]}"), name)
    globals()[name] = value
    return value
