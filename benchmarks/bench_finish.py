"""What finishing costs, beside decoding what is kept and beside what one would use instead.

    python -m pytest benchmarks/bench_finish.py --benchmark-only -q [--quick]

How things are timed and shown, and what to believe, is said in bench_push.py. A stream has been pushed before; what is
timed is the text alone, of the same bytes on both sides. A peer has U+FFFD in it where its cut divides a character.
"""

import pytest

from retention import TextHeadTail, TextRetainer, TextTail

from .cases import KIB, LINES, SIZES, STRATEGIES, Case, answer, fed, matrix, missing
from .peers import EVERY_KIND, texts
from .peers.programs import PROGRAMS

TEXTS = {"ASCII": "The quick brown fox. " * 4 * KIB, "CJK": "敏捷的棕色狐狸跳过懒狗。" * 6 * KIB}


@pytest.mark.parametrize("script", TEXTS)
@pytest.mark.parametrize("strategy", [TextTail(16 * KIB), TextHeadTail(8 * KIB, 8 * KIB)], ids=["tail", "head_tail"])
def test_finish(pair, strategy, script):
    text = TEXTS[script]
    retainer = fed(TextRetainer(strategy), "push", [text[start : start + 100] for start in range(0, len(text), 100)])
    result = retainer.finish()
    kept = result.text.encode()
    assert 16 * KIB - 4 <= len(kept) <= 16 * KIB
    assert result.truncated
    assert result.text == kept.decode()
    what = "a tail of 16 KiB" if strategy.kind == "tail" else "head and tail of 8 KiB"
    pair(
        f"`finish()`, {what}, {script}",
        "`bytes.decode` of what is kept",
        ("finish()", {"finish": retainer.finish}),
        ("decode()", {"decode": kept.decode}),
        at_most=1.3,
    )


SIZE_CASES = [Case(size=size) for size in SIZES]
CONTENT_CASES = [Case(kind, content=content) for kind in EVERY_KIND for content in LINES]


def rows():
    for case in dict.fromkeys(SIZE_CASES + CONTENT_CASES):
        peers = (peer for peer in texts.PEERS if case.kind in peer.kinds and not peer.takes_str)
        yield from (("push", case, peer) for peer in peers if "push" in peer.ways)
        yield from (("push", case, program) for program in PROGRAMS if case.kind in program.text_kinds)


@pytest.mark.parametrize(("way", "case", "peer"), matrix(rows(), [*SIZE_CASES[::2], *map(Case, EVERY_KIND)]))
def test_finish_stream(pair, way, case, peer):
    strategy, *budgets = STRATEGIES[case.kind]
    chunks = case.chunks()
    ours = fed(TextRetainer(strategy), way, chunks)
    result, kept = ours.finish(), ours.finish_bytes()
    if peer in PROGRAMS:
        theirs = answer(peer, "text", case.kind, *budgets, chunks)
        assert (theirs["text"], theirs["omitted"]) == (result.text, result.omitted_bytes.count)
        other = theirs["finish_ns"]
    else:
        missing(peer)
        if peer.one_size:
            budgets.append(len(chunks[0]))
        theirs = fed(peer(*budgets), way, chunks)
        assert theirs.ends() == (kept.head, kept.tail)
        other = "text()", {"text": theirs.text}
    pair(f"`finish()`, {case}", peer.name, ("finish()", {"finish": ours.finish}), other, lacks=peer.lacks)
