"""Any text, limit, share and marker for `fit_text`, against the model, which tries every reserve.

    python tests/fuzz/fuzz_fit_text.py -max_total_time=60 FOUND tests/fuzz/corpus/fit_text

As fuzz_retainer.py.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import reference
from fuzz.inputs import Input, fuzz

from retention import fit_text

SHARES = [0.5, 0, 1, 0.25, 1 / 3, 0.9, 1e-9, 1 - 1e-9]
# A function's answer may become longer with what is omitted, never shorter: else there is no one smallest reserve.
# (The default, None, does, where it needs no newline beside an empty head or tail, and is exact all the same.)
MARKERS = [
    None,
    "",
    "~",
    "\n…\n",
    "\udfff😀",
    lambda result: f"<{result.omitted_bytes.count}>",
    lambda result: "€" * len(str(result.omitted_bytes.count)),
]
REPEATS = [1, 1, 2, 5]


def run(data):
    source = Input(data)
    limit, share = source.byte(), source.choice(SHARES)
    marker, whole_lines = source.choice(MARKERS), source.flag()
    text = ""
    while source:
        text += source.text(source.take(source.byte() % 64) * source.choice(REPEATS))
    # The model takes the product of the text's length and the limit.
    text = text[:600]
    fitted = fit_text(text, limit, head_share=share, marker=marker, whole_lines=whole_lines)
    model_marker = reference.omission_line if marker is None else marker
    expected = reference.fit(text, limit, share, model_marker, whole_lines)
    assert fitted == expected, (text, limit, share, marker, whole_lines, expected)
    assert len(fitted.encode()) <= limit


if __name__ == "__main__":
    fuzz(run)
