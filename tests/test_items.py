"""Item retention, rule by rule, and items that run code of their own while a retainer holds them."""

import gc
import types
import weakref

import pytest

from retention import (
    HeadTailLimit,
    ItemHead,
    ItemHeadTail,
    ItemRetainer,
    ItemTail,
    Omitted,
    PushDecision,
    RetainedItems,
    RetentionNotice,
)

KEPT = PushDecision(kept=True, truncated=False, should_stop=False)
OMITTED = PushDecision(kept=False, truncated=True, should_stop=False)
STOP = PushDecision(kept=False, truncated=True, should_stop=True)
EMPTY_AFTER_OMISSION = PushDecision(kept=True, truncated=True, should_stop=False)

STRATEGIES = [
    ItemHead(3),
    ItemHead(3, stop="stop_when_full"),
    ItemTail(3),
    ItemHeadTail(2, 1),
    ItemHeadTail(1, 2),
    ItemHeadTail(0, 3),
    ItemHeadTail(3, 0),
    ItemHead(0),
    ItemTail(0),
    ItemHeadTail(0, 0),
    ItemHead(10**30),
    ItemTail(10**30),
    ItemHeadTail(10**30, 10**30),
]


def retainer_of(strategy, items=()):
    retainer = ItemRetainer(strategy)
    for item in items:
        retainer.push(item)
    return retainer


def retain(strategy, items):
    return retainer_of(strategy, items).finish()


def truncated(head, tail, omitted, seen):
    return RetainedItems(head + tail, head, tail, True, Omitted("exact", omitted), seen, len(head) + len(tail))


def in_head(items):
    return RetainedItems(items, items, [], False, Omitted("none"), len(items), len(items))


def in_tail(items):
    return RetainedItems(items, [], items, False, Omitted("none"), len(items), len(items))


# What is kept


@pytest.mark.parametrize("strategy", [ItemHead(3), ItemHeadTail(2, 1), ItemHeadTail(0, 3), ItemHeadTail(3, 0)])
@pytest.mark.parametrize("items", [[], ["a"], ["a", "b", "c"]])
def test_a_stream_within_the_budget_is_all_head(strategy, items):
    assert retain(strategy, items) == in_head(items)


@pytest.mark.parametrize("items", [[], ["a"], ["a", "b", "c"]])
def test_a_tail_strategy_has_everything_in_the_tail(items):
    assert retain(ItemTail(3), items) == in_tail(items)


@pytest.mark.parametrize(
    ("strategy", "head", "tail"),
    [
        (ItemHead(3), ["a", "b", "c"], []),
        (ItemTail(3), [], ["c", "d", "e"]),
        (ItemHeadTail(2, 1), ["a", "b"], ["e"]),
        (ItemHeadTail(1, 2), ["a"], ["d", "e"]),
        (ItemHeadTail(0, 3), [], ["c", "d", "e"]),
        (ItemHeadTail(3, 0), ["a", "b", "c"], []),
    ],
)
def test_a_stream_beyond_the_budget_keeps_its_ends(strategy, head, tail):
    assert retain(strategy, "abcde") == truncated(head, tail, 2, 5)


@pytest.mark.parametrize("strategy", [ItemHead(0), ItemTail(0), ItemHeadTail(0, 0)])
def test_a_budget_of_zero_counts_and_keeps_nothing(strategy):
    retainer = ItemRetainer(strategy)
    assert [retainer.push("a"), retainer.push("b")] == [OMITTED, OMITTED]
    assert retainer.finish() == truncated([], [], 2, 2)


@pytest.mark.parametrize("size", range(1, 15))
def test_the_newest_items_are_in_order_wherever_the_ring_begins(size):
    assert retain(ItemTail(4), range(size)).items == list(range(size))[-4:]


@pytest.mark.parametrize("budget", [2**31, 2**63, 10**30])
def test_a_budget_beyond_all_memory_keeps_everything(budget):
    assert retain(ItemHead(budget), "abc") == in_head(["a", "b", "c"])
    assert retain(ItemTail(budget), "abc") == in_tail(["a", "b", "c"])
    assert retain(ItemHeadTail(budget, budget), "abc") == in_head(["a", "b", "c"])


def test_anything_can_be_an_item():
    items = [None, NotImplemented, ..., [], {}, object(), KeyError, float("nan")]
    kept = retain(ItemHeadTail(5, 5), items).items
    assert all(one is other for one, other in zip(kept, items, strict=True))


def test_none_is_counted_like_any_item():
    assert retain(ItemHeadTail(1, 1), [None, None, None]) == truncated([None], [None], 1, 3)


def test_items_are_kept_as_they_are():
    item = ["mutable"]
    kept = retain(ItemHead(1), [item]).items[0]
    assert kept is item


def test_items_are_not_compared_or_hashed():
    class Untouchable:
        __hash__ = None

        def __eq__(self, other):
            raise AssertionError("compared")

        def __bool__(self):
            raise AssertionError("tested")

    retainer = retainer_of(ItemHeadTail(1, 1), [Untouchable() for _ in range(5)])
    retainer.extend([Untouchable() for _ in range(5)])
    assert retainer.finish().seen == 10


# Decisions


@pytest.mark.parametrize("strategy", [ItemHead(2), ItemTail(2), ItemHeadTail(1, 1)])
def test_the_item_after_the_budget_is_not_kept(strategy):
    retainer = ItemRetainer(strategy)
    assert [retainer.push(item) for item in "abcd"] == [KEPT, KEPT, OMITTED, OMITTED]


def test_an_item_that_pushes_an_older_one_out_of_the_tail_is_not_kept():
    # It is in the tail itself, but something is omitted: `kept` does not ask what.
    retainer = retainer_of(ItemTail(1), "a")
    assert retainer.push("b") == OMITTED
    assert retainer.finish().items == ["b"]


def test_the_probe_asks_to_stop_and_is_not_kept():
    retainer = ItemRetainer(ItemHead(2, stop="stop_when_full"))
    assert [retainer.push(item) for item in "abc"] == [KEPT, KEPT, STOP]
    assert retainer.finish() == RetainedItems(["a", "b"], ["a", "b"], [], True, Omitted("at_least", 1), 3, 2)


def test_a_stream_that_ends_at_the_budget_was_not_stopped():
    retainer = retainer_of(ItemHead(2, stop="stop_when_full"), "ab")
    assert retainer.finish() == in_head(["a", "b"])


def test_pushing_on_after_the_probe_asks_to_stop_each_time():
    retainer = retainer_of(ItemHead(1, stop="stop_when_full"), "ab")
    assert [retainer.push("c"), retainer.push("d")] == [STOP, STOP]
    assert retainer.finish().omitted == Omitted("at_least", 3)


def test_a_budget_of_zero_asks_to_stop_at_the_first_item():
    assert ItemRetainer(ItemHead(0, stop="stop_when_full")).push("a") == STOP


def test_seen_and_truncated_follow_the_stream():
    retainer = ItemRetainer(ItemHeadTail(1, 1))
    facts = [(retainer.seen, retainer.truncated)]
    for item in "abc":
        retainer.push(item)
        facts.append((retainer.seen, retainer.truncated))
    assert facts == [(0, False), (1, False), (2, False), (3, True)]


# extend

ITERABLES = [list, tuple, iter, lambda items: (item for item in items), dict.fromkeys]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("make", ITERABLES)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("before", ["", "a", "abc", "abcdef"])
def test_extend_is_pushing_up_to_the_first_stop(strategy, make, size, before):
    one, other = retainer_of(strategy, before), retainer_of(strategy, before)
    decision = one.extend(make(range(size)))
    answers = []
    for item in range(size):
        answers.append(other.push(item))
        if answers[-1].should_stop:
            break
    assert one.finish() == other.finish()
    assert decision.kept == all(answer.kept for answer in answers)
    assert decision.truncated == other.truncated
    assert decision.should_stop == bool(answers and answers[-1].should_stop)


@pytest.mark.parametrize("make", [*ITERABLES, range, set, frozenset])
def test_extend_takes_any_iterable(make):
    retainer = ItemRetainer(ItemHead(10))
    source = range(3) if make is not range else 3
    assert retainer.extend(make(source)) == KEPT
    assert sorted(retainer.finish().items) == [0, 1, 2]


def test_extend_takes_subclasses_of_list_as_they_iterate():
    class Doubled(list):
        def __iter__(self):
            return (2 * item for item in super().__iter__())

    retainer = ItemRetainer(ItemHead(10))
    retainer.extend(Doubled([1, 2]))
    assert retainer.finish().items == [2, 4]


def test_extend_takes_one_list_after_another():
    retainer = ItemRetainer(ItemHeadTail(2, 3))
    decisions = [retainer.extend(list(batch)) for batch in ("a", "bcd", "", "e", "fghijk", "l")]
    assert decisions == [KEPT, KEPT, KEPT, KEPT, OMITTED, OMITTED]
    assert retainer.finish() == truncated(["a", "b"], ["j", "k", "l"], 7, 12)


@pytest.mark.parametrize("nothing", [[], (), iter(()), range(0)])
def test_extend_by_nothing_loses_nothing(nothing):
    assert ItemRetainer(ItemHead(1)).extend(nothing) == KEPT
    assert retainer_of(ItemHead(1), "ab").extend(nothing) == EMPTY_AFTER_OMISSION
    assert retainer_of(ItemHead(1, stop="stop_when_full"), "ab").extend(nothing) == EMPTY_AFTER_OMISSION


def test_extend_does_not_advance_a_generator_past_the_probe():
    source = iter("abcde")
    assert ItemRetainer(ItemHead(2, stop="stop_when_full")).extend(source) == STOP
    assert next(source) == "d"


@pytest.mark.parametrize("make", [list, tuple, iter])
def test_extend_sees_a_list_no_further_than_the_probe(make):
    retainer = ItemRetainer(ItemHead(2, stop="stop_when_full"))
    assert retainer.extend(make("abcde")) == STOP
    assert retainer.finish() == RetainedItems(["a", "b"], ["a", "b"], [], True, Omitted("at_least", 1), 3, 2)


@pytest.mark.parametrize("make", [list, tuple])
def test_extend_leaves_its_list_alone(make):
    source = make("abcde")
    ItemRetainer(ItemHeadTail(1, 2)).extend(source)
    assert source == make("abcde")


def test_extend_keeps_what_came_before_an_iterable_that_raises():
    def items():
        yield "a"
        yield "b"
        raise OSError("the source broke")

    retainer = ItemRetainer(ItemHeadTail(1, 1))
    with pytest.raises(OSError, match="the source broke"):
        retainer.extend(items())
    assert retainer.finish() == in_head(["a", "b"])


@pytest.mark.parametrize("source", [None, 5, object()])
def test_extend_refuses_what_is_not_iterable(source):
    retainer = ItemRetainer(ItemHead(3))
    with pytest.raises(TypeError, match="not iterable"):
        retainer.extend(source)
    assert retainer.seen == 0


def test_extend_by_an_iterator_that_pushes_keeps_the_order_of_the_pushes():
    retainer = ItemRetainer(ItemHeadTail(3, 2))

    def items():
        for item in "abcd":
            retainer.push(item.upper())
            yield item

    assert retainer.extend(items()) == OMITTED
    assert retainer.finish() == truncated(["A", "a", "B"], ["D", "d"], 3, 8)


def test_extend_by_an_iterator_that_ends_beyond_the_budget_answers_for_its_own_items():
    retainer = ItemRetainer(ItemHead(2))

    def items():
        yield "a"
        retainer.extend(["b", "c"])

    assert retainer.extend(items()) == EMPTY_AFTER_OMISSION


# Results


@pytest.mark.parametrize("strategy", [ItemHead(3), ItemTail(3), ItemHeadTail(2, 1), ItemHead(9), ItemTail(9)])
def test_the_lists_of_a_result_share_nothing(strategy):
    retainer = retainer_of(strategy, "abcde")
    expected = retainer.finish()
    for name in ("items", "head", "tail"):
        result = retainer.finish()
        getattr(result, name).append("more")
        others = {"items", "head", "tail"} - {name}
        assert {other: getattr(result, other) for other in others} == {
            other: getattr(expected, other) for other in others
        }
    assert retainer.finish() == expected


def test_a_result_does_not_change_as_pushing_goes_on():
    retainer = retainer_of(ItemHeadTail(1, 2), "abcd")
    result = retainer.finish()
    retainer.extend(list("efgh"))
    assert result == truncated(["a"], ["c", "d"], 1, 4)


def test_finish_again_answers_the_same_and_pushing_may_follow():
    retainer = retainer_of(ItemHeadTail(1, 1), "ab")
    assert retainer.finish() == retainer.finish() == in_head(["a", "b"])
    retainer.push("c")
    assert retainer.finish() == truncated(["a"], ["c"], 1, 3)


def test_a_result_has_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(retain(ItemHead(1), "a"))


def test_items_that_were_omitted_are_not_referenced():
    class Item:
        pass

    retainer = ItemRetainer(ItemHeadTail(1, 1))
    references = []
    for _ in range(5):
        item = Item()
        references.append(weakref.ref(item))
        retainer.push(item)
    del item
    assert [reference() is not None for reference in references] == [True, False, False, False, True]


# Notices


@pytest.mark.parametrize(
    ("strategy", "limit", "kept", "omitted"),
    [
        (ItemHead(2), 2, 2, Omitted("exact", 3)),
        (ItemHead(2, stop="stop_when_full"), 2, 2, Omitted("at_least", 3)),
        (ItemTail(2), 2, 2, Omitted("exact", 3)),
        (ItemHeadTail(2, 1), HeadTailLimit(2, 1), 3, Omitted("exact", 2)),
        (ItemHeadTail(5, 5), HeadTailLimit(5, 5), 5, Omitted("none")),
        (ItemTail(10**30), 10**30, 5, Omitted("none")),
    ],
)
def test_a_notice_states_the_facts_in_items(strategy, limit, kept, omitted):
    notice = retainer_of(strategy, "abcde").notice("grep")
    assert notice == RetentionNotice("grep", strategy.kind, "items", limit, kept, omitted)


# Items that run code when they are let go


class Last:
    """An item that does something when it is let go."""

    def __init__(self, action):
        self.action = action

    def __del__(self):
        self.action()


def test_an_item_that_pushes_when_it_is_displaced_comes_after_what_displaced_it():
    retainer = ItemRetainer(ItemTail(2))
    retainer.push(Last(lambda: retainer.push("last words")))
    retainer.push("a")
    assert retainer.push("b") == OMITTED
    assert retainer.finish() == truncated([], ["b", "last words"], 2, 4)


def test_items_that_push_when_they_are_displaced_displace_each_other():
    retainer = ItemRetainer(ItemHeadTail(1, 3))
    retainer.push("head")
    for number in range(3):
        retainer.push(Last(lambda number=number: retainer.push(number)))
    # x displaces the first, whose number displaces the second, and so on: x, 0, 1, 2 before its push is back.
    for item in "xyz":
        retainer.push(item)
    assert retainer.finish() == truncated(["head"], [2, "y", "z"], 6, 10)


@pytest.mark.parametrize("make", [list, tuple, iter])
def test_an_item_that_pushes_when_it_is_displaced_by_extend(make):
    retainer = ItemRetainer(ItemTail(2))
    retainer.push(Last(lambda: retainer.push("last words")))
    retainer.push("a")
    retainer.extend(make(["b"]))
    assert retainer.finish() == truncated([], ["b", "last words"], 2, 4)


@pytest.mark.parametrize("subclass", [False, True])
def test_an_item_that_empties_the_list_that_displaces_it(subclass):
    source = (type("List", (list,), {}) if subclass else list)(["b", "c", "d"])
    retainer = ItemRetainer(ItemTail(2))
    retainer.push(Last(source.clear))
    retainer.push("a")
    retainer.extend(source)
    result = retainer.finish()
    # A list is read before the first item makes way; another iterable ends where it was emptied.
    assert result == (truncated([], ["a", "b"], 1, 3) if subclass else truncated([], ["c", "d"], 3, 5))


def test_an_item_that_grows_the_list_that_displaces_it():
    source = ["b", "c"]
    retainer = ItemRetainer(ItemTail(2))
    retainer.push(Last(lambda: source.extend(range(10_000))))
    retainer.push("a")
    retainer.extend(source)
    assert retainer.finish() == truncated([], ["b", "c"], 2, 4)


def test_an_item_that_asks_for_results_when_it_is_displaced():
    results = []
    retainer = ItemRetainer(ItemTail(2))
    retainer.push(Last(lambda: results.append(retainer.finish())))
    retainer.push("a")
    retainer.push("b")
    assert results == [truncated([], ["a", "b"], 1, 3)]


def test_items_that_ask_for_results_when_a_list_displaces_all_of_them():
    def look(retainer):
        # What is kept of a result must not keep the others.
        return [item for item in retainer.finish().items if type(item) is str]

    seen = []
    retainer = ItemRetainer(ItemTail(3))
    for _ in range(5):
        retainer.push(Last(lambda: seen.append((retainer.seen, look(retainer)))))
    retainer.extend(list("abcdef"))
    # Two have been displaced by the others before.
    assert seen[2:] == [(11, ["d", "e", "f"])] * 3


def test_a_retainer_that_is_let_go_lets_its_items_go():
    gone = []
    retainer = ItemRetainer(ItemHeadTail(1, 1))
    for number in range(3):
        retainer.push(Last(lambda number=number: gone.append(number)))
    assert gone == [1]
    del retainer
    assert sorted(gone) == [0, 1, 2]


# The garbage collector


@pytest.mark.parametrize("strategy", [ItemHead(2), ItemTail(2), ItemHeadTail(1, 1)])
def test_a_cycle_through_an_item_is_collected(strategy):
    class Item:
        pass

    item, retainer = Item(), ItemRetainer(strategy)
    item.retainer = retainer
    reference = weakref.ref(item)
    retainer.push(item)
    retainer.push(item)
    del item, retainer
    gc.collect()
    assert reference() is None


def test_a_cycle_through_a_result_is_collected():
    class Item:
        pass

    item = Item()
    item.result = retain(ItemHead(1), [item])
    reference = weakref.ref(item)
    del item
    gc.collect()
    assert reference() is None


def test_a_retainer_in_a_cycle_still_works_for_a_finalizer_of_the_cycle():
    seen = []

    class Item:
        def __del__(self):
            self.retainer.push("more")
            seen.append(self.retainer.finish().seen)

    item = Item()
    item.retainer = retainer_of(ItemTail(2), [item])
    del item
    gc.collect()
    assert seen == [2]


class Garbage:
    """A cycle that does something when it is collected, which may be whenever something is allocated."""

    def __init__(self, action):
        self.action, self.itself = action, self

    def __del__(self):
        self.action()


@pytest.fixture
def collect_after():
    """Makes the garbage collector run at a certain number of allocations from here."""
    gc.collect()
    gc.disable()
    before = gc.get_threshold()
    used = []

    def collect_after(allocations):
        # Lists that were freed are used again without an allocation: use them up.
        used.extend([] for _ in range(200))
        gc.set_threshold(gc.get_count()[0] + allocations)
        gc.enable()

    yield collect_after
    gc.set_threshold(*before)
    gc.enable()
    gc.collect()


@pytest.mark.parametrize("allocations", range(8))
@pytest.mark.parametrize(
    ("strategy", "before", "after"),
    [
        (ItemTail(4), truncated([], [2, 3, 4, 5], 2, 6), truncated([], [4, 5, "x", "y"], 4, 8)),
        (ItemHeadTail(2, 3), truncated([0, 1], [3, 4, 5], 1, 6), truncated([0, 1], [5, "x", "y"], 3, 8)),
        (ItemHeadTail(4, 4), in_head([0, 1, 2, 3, 4, 5]), in_head([0, 1, 2, 3, 4, 5, "x", "y"])),
    ],
)
def test_a_result_is_of_one_moment_also_where_collected_garbage_pushes(
    collect_after, strategy, before, after, allocations
):
    retainer = retainer_of(strategy, range(6))

    def action():
        retainer.push("x")
        retainer.push("y")

    Garbage(action)
    collect_after(allocations)
    result = retainer.finish()
    gc.disable()
    assert result in (before, after)


@pytest.mark.parametrize("allocations", range(8))
@pytest.mark.parametrize("make", [list, tuple])
def test_extend_by_a_list_counts_what_collected_garbage_pushes_in_between(collect_after, make, allocations):
    retainer = retainer_of(ItemHeadTail(2, 3), "ab")
    source = make(range(10))
    Garbage(lambda: retainer.push("x"))
    collect_after(allocations)
    retainer.extend(source)
    gc.disable()
    gc.collect()
    result = retainer.finish()
    assert (result.seen, result.kept, result.head) == (13, 5, ["a", "b"])
    # Wherever it came in, the order of the others stands.
    assert [item for item in result.tail if item != "x"] == [7, 8, 9][-(3 - result.tail.count("x")) :]


@pytest.mark.parametrize("allocations", range(8))
@pytest.mark.parametrize("strategy", [ItemTail(3), ItemHeadTail(2, 3)])
def test_extend_by_a_list_takes_what_collected_garbage_appends_to_it_or_nothing_of_that(
    collect_after, strategy, allocations
):
    source = list(range(10))
    longer = list(range(20))
    Garbage(lambda: source.extend(range(10, 20)))
    retainer = ItemRetainer(strategy)
    collect_after(allocations)
    retainer.extend(source)
    gc.disable()
    gc.collect()
    assert source == longer
    assert retainer.finish() in [retainer_of(strategy, items).finish() for items in (source[:10], longer)]


@pytest.mark.parametrize("allocations", range(6))
@pytest.mark.parametrize("strategy", [ItemHead(10**6), ItemTail(10**6)])
@pytest.mark.parametrize("way", ["push", "merge"])
def test_a_result_is_copied_from_lists_that_are_still_there(collect_after, way, strategy, allocations):
    # Collected garbage makes the lists grow into other memory, or puts others in their place, while they are copied.
    items = [object() for _ in range(1000)]
    retainer = retainer_of(strategy, items)
    more = retainer_of(strategy, [object() for _ in range(9000)])

    def action():
        if way == "push":
            for item in more.finish().items:
                retainer.push(item)
        else:
            retainer.merge(more)

    Garbage(action)
    collect_after(allocations)
    result = retainer.finish()
    gc.disable()
    assert result.items in (items, items + more.finish().items)


@pytest.mark.parametrize("allocations", range(8))
@pytest.mark.parametrize("make", [list, tuple])
def test_extend_by_a_list_finds_the_head_filled_by_what_collected_garbage_pushes(collect_after, make, allocations):
    retainer = ItemRetainer(ItemHead(5))
    source = make(range(5))
    Garbage(lambda: retainer.extend("xxxx"))
    collect_after(allocations)
    retainer.extend(source)
    gc.disable()
    result = retainer.finish()
    assert result.kept == 5
    assert result.items in ([*range(5)], ["x", "x", "x", "x", 0])


def hidden_lists(retainer):
    """The lists in which a retainer holds its items, as the garbage collector shows them to anybody."""
    lists = [found for found in gc.get_referents(retainer) if type(found) is list]
    assert lists
    return lists


def empty(lists):
    for one in lists:
        one.clear()


def shorten(lists):
    for one in lists:
        del one[1:]


def lengthen(lists):
    for one in lists:
        one.extend(range(100))


@pytest.mark.parametrize("strategy", [ItemHead(4), ItemTail(4), ItemHeadTail(2, 3)])
@pytest.mark.parametrize("size", [0, 1, 4, 5, 7, 12])
@pytest.mark.parametrize("spoil", [empty, shorten, lengthen])
def test_spoiling_the_hidden_lists_spoils_no_memory(strategy, size, spoil):
    # What is kept is nonsense then, which is the spoiler's own affair; to read or write past a list is ours.
    retainer = retainer_of(strategy, range(size))
    spoil(hidden_lists(retainer))
    retainer.finish()
    retainer.notice("spoiled")
    for item in range(9):
        retainer.push(item)
    spoil(hidden_lists(retainer))
    retainer.extend(list(range(9)))
    retainer.extend(iter(range(9)))
    result = retainer.finish()
    assert result.items == result.head + result.tail
    assert all(type(item) is int for item in result.items)


# The object


def test_the_type_is_generic_at_run_time():
    alias = ItemRetainer[int]
    assert isinstance(alias, types.GenericAlias)
    assert (alias.__origin__, alias.__args__) == (ItemRetainer, (int,))
    assert type(alias(ItemHead(3))) is ItemRetainer


def test_the_type_of_results_is_generic_at_run_time():
    assert RetainedItems[int] == types.GenericAlias(RetainedItems, int)


def test_initialising_again_changes_nothing():
    retainer = retainer_of(ItemHeadTail(1, 1), "abc")
    retainer.__init__(ItemHead(100))
    assert retainer.strategy == ItemHeadTail(1, 1)
    assert retainer.finish() == truncated(["a"], ["c"], 1, 3)


def test_the_repr_shows_the_strategy_and_what_was_seen():
    assert repr(retainer_of(ItemTail(2), "abc")) == "<ItemRetainer of ItemTail(max_items=2): 3 items seen>"


def test_a_retainer_that_holds_itself_has_a_repr():
    retainer = ItemRetainer(ItemHead(2))
    retainer.push(retainer)
    assert repr(retainer).endswith(": 1 items seen>")


@pytest.mark.parametrize("name", ["strategy", "seen", "truncated"])
def test_what_a_retainer_tells_cannot_be_set(name):
    with pytest.raises(AttributeError):
        setattr(ItemRetainer(ItemHead(3)), name, 5)


def test_push_takes_one_positional_argument():
    retainer = ItemRetainer(ItemHead(3))
    for arguments, keywords in [((), {}), (("a", "b"), {}), ((), {"item": "a"})]:
        with pytest.raises(TypeError):
            retainer.push(*arguments, **keywords)
    assert retainer.seen == 0
