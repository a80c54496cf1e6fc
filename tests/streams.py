"""What the tests push: strategies from plain data, and Hypothesis strategies for streams, budgets and chunks."""

from array import array

import numpy
from hypothesis import strategies as st

from retention import ItemHead, ItemHeadTail, ItemRetainer, ItemTail, TextHead, TextHeadTail, TextRetainer, TextTail

STOP_MODES = ["read_to_end", "stop_when_full"]

# Pieces that a cut or a decoder may trip over, beside plain bytes.
PIECES = [
    b"a", b"\n", b"\r\n", b"\0", b"\x1b[0m", b"\xef\xbb\xbf", b"\xef\xbf\xbd",
    "é".encode(), "ß".encode(), "€".encode(), "汉".encode(), "한".encode(), "😀".encode(), "\U0010ffff".encode(),
    b"\xc2", b"\xe2\x82", b"\xe0\xa0", b"\xed\x9f", b"\xf0\x9f\x98", b"\xf0\x90", b"\xf4\x8f\xbf", b"\xf4\x8f",
    b"\x80", b"\xbf\xbf\xbf\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80",
    b"\xed\xbf\xbf", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff",
]  # fmt: skip

byte_streams = st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=24).map(b"".join)

# Rich in newlines: empty lines, long ones, CR LF and its halves, and characters that a cut may divide.
LINE_PIECES = [b"\n", b"\n", b"\n\n", b"\r\n", b"\r\n", b"\r", b"a", b"bc", "é".encode(), "€".encode(), "😀\n".encode()]
line_streams = st.lists(st.sampled_from(LINE_PIECES) | st.just(b"a long line of 20 b."), max_size=24).map(b"".join)

# Mostly near the streams' lengths, where the cuts are.
budgets = st.integers(0, 12) | st.integers(0, 70) | st.sampled_from([2**31, 2**63, 10**30])

text_strategies = st.one_of(
    st.builds(TextHead, budgets, stop=st.sampled_from(STOP_MODES)),
    st.builds(TextTail, budgets),
    st.builds(TextHeadTail, budgets, budgets),
)
line_budgets = st.none() | st.integers(0, 6) | st.sampled_from([2**63, 10**30])
line_strategies = st.one_of(
    st.builds(TextHead, budgets, max_lines=line_budgets, stop=st.sampled_from(STOP_MODES)),
    st.builds(TextTail, budgets, max_lines=line_budgets),
    st.builds(TextHeadTail, budgets, budgets, head_lines=line_budgets, tail_lines=line_budgets),
)
item_strategies = st.one_of(
    st.builds(ItemHead, budgets, stop=st.sampled_from(STOP_MODES)),
    st.builds(ItemTail, budgets),
    st.builds(ItemHeadTail, budgets, budgets),
)

BUFFERS = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "bytes subclass": type("Bytes", (bytes,), {}),
    "writable view": lambda data: memoryview(bytearray(data)),
    "array": lambda data: array("B", data),
    "numpy": lambda data: numpy.frombuffer(data, dtype=numpy.int8),
}


@st.composite
def chunkings(draw, stream: bytes) -> list[tuple[object, bytes]]:
    """The stream in chunks of any sizes and types, each with the bytes that it stands for."""
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    parts = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    return [(draw(chunks_of(part)), part) for part in parts]


@st.composite
def chunks_of(draw, data: bytes) -> object:
    kind = draw(st.sampled_from([*BUFFERS, "str"]))
    if kind == "str":
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data
    return BUFFERS[kind](data)


def text_strategy(fields: dict):
    return strategy_of({"head": TextHead, "tail": TextTail, "head_tail": TextHeadTail}, fields)


def item_strategy(fields: dict):
    return strategy_of({"head": ItemHead, "tail": ItemTail, "head_tail": ItemHeadTail}, fields)


def strategy_of(kinds: dict, fields: dict):
    fields = dict(fields)
    return kinds[fields.pop("kind")](**fields)


def text_of(strategy, *chunks, **how):
    """A retainer that the chunks were pushed into."""
    retainer = TextRetainer(strategy, **how)
    for chunk in chunks:
        retainer.push(chunk)
    return retainer


def items_of(strategy, items=()):
    """A retainer that the items were pushed into."""
    retainer = ItemRetainer(strategy)
    for item in items:
        retainer.push(item)
    return retainer
