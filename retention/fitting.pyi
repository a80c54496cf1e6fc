from collections.abc import Callable
from typing import SupportsIndex

from retention.results import RetainedText

def fit_text(
    text: str,
    max_bytes: SupportsIndex,
    *,
    head_share: float = 0.5,
    marker: str | Callable[[RetainedText], str] | None = None,
    whole_lines: bool = False,
) -> str: ...
