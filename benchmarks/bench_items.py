"""What retaining items costs, beside the least that plain Python does in its place.

    python -m pytest benchmarks/bench_items.py --benchmark-only -q [--quick]

How things are timed and shown, and what to believe, is said in bench_push.py. In the matrix a stream of 20,000 strings
is retained whole: a retainer is made, fed and finished, on both sides, and times are per item.
"""

from dataclasses import dataclass

import pytest

from retention import ItemHead, ItemHeadTail, ItemRetainer, ItemTail

from .cases import answer, fed, matrix, whole
from .peers import items as peers
from .peers.programs import PROGRAMS

ITEMS = [f"src/package{number % 40}/module{number}.py" for number in range(20_000)]


@pytest.mark.parametrize(("what", "head_items", "at_most"), [("kept", 10_000, 1.1), ("beyond a head of 100", 100, 1.0)])
def test_push_item(pair, what, head_items, at_most):
    chunks = [b"%063d\n" % number for number in range(1000)]
    already = [] if what == "kept" else chunks[:head_items]

    def push():
        return fed(ItemRetainer(ItemHead(head_items)), "push", already).push

    assert push()(chunks[-1]).kept == (what == "kept")
    assert fed(ItemRetainer(ItemHead(head_items)), "push", chunks).finish().items == chunks[:head_items]
    pair(
        f"`ItemRetainer.push`, {what}",
        "`list.append`, from an empty list",
        ("push(chunk)", lambda: {"push": push(), "chunk": chunks[-1]}),
        ("append(chunk)", lambda: {"append": [].append, "chunk": chunks[-1]}),
        at_most=at_most,
        times=1000,
    )


def test_extend_items(pair):
    items = list(range(10**6))
    strategy = ItemHead(100)
    retainer = ItemRetainer(strategy)
    retainer.extend(items)
    assert (retainer.finish().items, retainer.seen) == (items[:100], len(items))
    pair(
        "`ItemRetainer(ItemHead(100)).extend` by a list of a million",
        "its `[:100]`",
        ("Retainer(strategy).extend(items)", {"Retainer": ItemRetainer, "strategy": strategy, "items": items}),
        ("items[:100]", {"items": items}),
        at_most=10,
    )


# A function that only hands the list on is as cheap as one that asks it for its iterator.
SOURCES = {"a list": lambda items: items, "an iterator": iter, "a generator": lambda items: (item for item in items)}
STRATEGIES = {
    "head": lambda n: (ItemHead(n), n, 0),
    "head_stop": lambda n: (ItemHead(n, stop="stop_when_full"), n, 0),
    "tail": lambda n: (ItemTail(n), 0, n),
    "head_tail": lambda n: (ItemHeadTail(n // 2, n // 2), n // 2, n // 2),
}


@dataclass(frozen=True)
class Case:
    kind: str
    budget: int
    source: str = "a list"

    def __str__(self):
        half = f"{self.budget // 2:,}"
        stopping = f"head of {self.budget:,}, stopping"
        ends = {"head_stop": stopping, "head_tail": f"head and tail of {half}"}
        return f"{ends.get(self.kind, f'{self.kind} of {self.budget:,}')}, from {self.source}"

    @property
    def id(self):
        return f"{self.kind}-{self.budget}-{self.source}".replace(" ", "_")


QUICK = [Case(kind, 100) for kind in STRATEGIES]
CASES = [Case(kind, budget, source) for kind in STRATEGIES for budget in (100, 10_000) for source in SOURCES]


def rows():
    for case in CASES:
        for peer in peers.PEERS:
            # A loop that pushes iterates the same whatever the source.
            ways = peer.ways if case.source == "a list" else {"extend"}.intersection(peer.ways)
            if case.kind in peer.kinds:
                yield from ((way, case, peer) for way in ways)
        if case.source == "a list":
            yield from (("push", case, program) for program in PROGRAMS if case.kind in program.item_kinds)


@pytest.mark.parametrize(("way", "case", "peer"), matrix(rows(), QUICK))
def test_stream(pair, way, case, peer):
    strategy, *budgets = STRATEGIES[case.kind](case.budget)
    source = SOURCES[case.source]
    result = fed(ItemRetainer(strategy), way, source(ITEMS)).finish()
    assert (result.head, result.tail) == (ITEMS[: budgets[0]], ITEMS[len(ITEMS) - budgets[1] :])
    if peer in PROGRAMS:
        theirs = answer(peer, "items", case.kind, *budgets, ITEMS)
        assert (theirs["items"], theirs["omitted"]) == (result.items, result.omitted.count)
        other, lacks = theirs["stream_ns"], peer.item_lacks
    else:
        theirs = fed(peer(*budgets), way, source(ITEMS))
        assert theirs.ends() == (result.head, result.tail)
        other = whole(way, peer, budgets, "ends", ITEMS, source)
        lacks = peer.lacks
    pair(
        f"`{way}`, {case}",
        peer.name,
        whole(way, ItemRetainer, (strategy,), "finish", ITEMS, source),
        other,
        unrolled=1,
        per=len(ITEMS),
        lacks=lacks,
    )
