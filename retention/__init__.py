"""Bound output before a reader with a limited budget sees it: keep a head, a tail or both, and say what is missing.

Push a stream into a retainer, in any pieces; ask it for a result at any time; make a notice of it for the reader.

>>> from retention import TextHeadTail, TextRetainer
>>> retainer = TextRetainer(TextHeadTail(6, 5))
>>> for chunk in ("first\\n", b"second\\n", "third\\n", "last\\n"):
...     decision = retainer.push(chunk)
>>> result = retainer.finish()
>>> result.head, result.tail, result.omitted_bytes
('first\\n', 'last\\n', Omitted(kind='exact', count=13))
>>> print(result.render(), end="")
first
[Omitted 13 bytes.]
last

What to keep      TextHead, TextTail, TextHeadTail: in bytes, and lines; together TextRetentionStrategy
                  ItemHead, ItemTail, ItemHeadTail: in items; together ItemRetentionStrategy
                  StopMode: what a head asks of the source when it is full
Retainers         TextRetainer: of str, bytes or any buffer; ItemRetainer: of any objects
                  retain_file: a TextRetainer that has seen a file
Their answers     PushDecision, RetainedText, RetainedBytes, RetainedItems, Omitted
A whole text      fit_text: brings it under a limit that the marker is part of
Programs          run, arun, communicate: a program's output, retained while it is read, in a CompletedRun
                  Spill, SpillResult, spill_notice: the whole of it in a file, too
                  DrainResult: what TextRetainer.drain answers
Notices           RetentionNotice, HeadTailLimit, describe_omitted, format_retention_notice

A size in bytes counts the stream, a str as its UTF-8. `truncated` means that something was omitted because of the
budget, never that the source was incomplete. No cut divides a character. A text retainer may be shared between threads.
"""

try:
    from retention.fitting import fit_text
except ModuleNotFoundError as _missing:
    raise ImportError(
        f"{__path__[0]} holds the sources of retention, not built for this Python: build them there by "
        "`pip install -e .`, or import what is installed from another folder"
    ) from _missing
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


# Not for type checkers, which would take any name for one that this finds.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Import a name that is imported at first use."""
        if name not in LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"retention.{LATER[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Those names as well."""
    return sorted({*globals(), *LATER})
