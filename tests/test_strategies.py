"""Strategies: validated when they are made, immutable values afterwards, and refused where they do not belong."""

import copy
import math
import operator
import pickle
import typing

import numpy
import pytest

import retention
from retention import (
    ItemHead,
    ItemHeadTail,
    ItemRetainer,
    ItemRetentionStrategy,
    ItemTail,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextRetentionStrategy,
    TextTail,
)
from retention.strategies import real_number, shown

# Each budget of each strategy: its name, and the strategy with that budget and 1 for the other.
FIELDS = [
    ("max_bytes", TextHead),
    ("max_bytes", TextTail),
    ("head_bytes", lambda budget: TextHeadTail(budget, 1)),
    ("tail_bytes", lambda budget: TextHeadTail(1, budget)),
    ("max_items", ItemHead),
    ("max_items", ItemTail),
    ("head_items", lambda budget: ItemHeadTail(budget, 1)),
    ("tail_items", lambda budget: ItemHeadTail(1, budget)),
]
# Each budget in lines, which may also be None.
LINE_FIELDS = [
    ("max_lines", lambda budget: TextHead(1, max_lines=budget)),
    ("max_lines", lambda budget: TextTail(1, max_lines=budget)),
    ("head_lines", lambda budget: TextHeadTail(1, 1, head_lines=budget)),
    ("tail_lines", lambda budget: TextHeadTail(1, 1, tail_lines=budget)),
]
each_field = pytest.mark.parametrize(("name", "make"), FIELDS + LINE_FIELDS)
each_required_field = pytest.mark.parametrize(("name", "make"), FIELDS)
each_line_field = pytest.mark.parametrize(("name", "make"), LINE_FIELDS)

ALL = [
    TextHead(3),
    TextHead(3, stop="stop_when_full"),
    TextHead(3, max_lines=2),
    TextHead(3, max_lines=2, stop="stop_when_full"),
    TextTail(3),
    TextTail(3, max_lines=2),
    TextHeadTail(3, 4),
    TextHeadTail(3, 4, head_lines=2),
    TextHeadTail(3, 4, tail_lines=2),
    TextHeadTail(3, 4, head_lines=1, tail_lines=2),
    ItemHead(3),
    ItemHead(3, stop="stop_when_full"),
    ItemTail(3),
    ItemHeadTail(3, 4),
]
each_strategy = pytest.mark.parametrize("strategy", ALL, ids=repr)


class Index:
    """An integer object that is no int."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value

    def __repr__(self):
        return f"<{self.value}>"


class Int(int):
    """A subclass that adds nothing."""


class Shy:
    """An object that has no repr."""

    def __repr__(self):
        raise RuntimeError("no repr")


# Budgets


@each_field
@pytest.mark.parametrize("budget", [0, 1, 2**31, 2**63, 10**30], ids=str)
def test_a_budget_is_kept_however_large(name, make, budget):
    assert getattr(make(budget), name) == budget


@each_field
@pytest.mark.parametrize("budget", [Index(5), numpy.int64(5), numpy.uint8(5), Int(5)], ids=repr)
def test_any_integer_object_is_a_budget(name, make, budget):
    kept = getattr(make(budget), name)
    assert (kept, type(kept)) == (5, int)


@each_field
@pytest.mark.parametrize(
    ("budget", "shown"),
    [(-1, "-1"), (-(2**63), "-9223372036854775808"), (Index(-1), "<-1>"), (numpy.int8(-1), repr(numpy.int8(-1)))],
    ids=str,
)
def test_a_negative_budget_is_refused(name, make, budget, shown):
    with pytest.raises(ValueError, match="non-negative") as caught:
        make(budget)
    assert str(caught.value) == f"{name} must be a non-negative integer, got {shown}"


@each_field
@pytest.mark.parametrize(
    ("budget", "shown"),
    [
        (True, "True"),
        (False, "False"),
        (1.0, "1.0"),
        (float("inf"), "inf"),
        ("5", "'5'"),
        (b"5", "b'5'"),
        ([5], "[5]"),
        (5j, "5j"),
        (numpy.float64(5), repr(numpy.float64(5))),
        (Index, repr(Index)),
        (Index("5"), "<5>"),  # whose __index__ is a TypeError itself
    ],
    ids=str,
)
def test_what_is_no_integer_is_no_budget(name, make, budget, shown):
    with pytest.raises(TypeError, match="non-negative") as caught:
        make(budget)
    assert str(caught.value) == f"{name} must be a non-negative integer, got {shown}"


@each_required_field
def test_none_is_no_budget_where_one_is_required(name, make):
    with pytest.raises(TypeError) as caught:
        make(None)
    assert str(caught.value) == f"{name} must be a non-negative integer, got None"


@each_line_field
def test_none_is_no_budget_in_lines(name, make):
    assert getattr(make(None), name) is None


def test_there_is_no_budget_in_lines_unless_one_is_given():
    assert TextHead(3) == TextHead(3, max_lines=None)
    assert TextTail(3) == TextTail(3, max_lines=None)
    assert TextHeadTail(3, 4) == TextHeadTail(3, 4, head_lines=None, tail_lines=None)


@each_line_field
def test_no_line_and_no_limit_are_told_apart(name, make):
    assert make(0) != make(None)


def test_one_budget_in_lines_leaves_the_other_end_without():
    head, tail = TextHeadTail(3, 4, head_lines=2), TextHeadTail(3, 4, tail_lines=2)
    assert (head.head_lines, head.tail_lines) == (2, None)
    assert (tail.head_lines, tail.tail_lines) == (None, 2)


@pytest.mark.parametrize(
    ("cls", "arguments"),
    [(TextHead, (3, 2)), (TextTail, (3, 2)), (TextHeadTail, (3, 4, 2)), (TextHeadTail, (3, 4, 1, 2))],
)
def test_a_budget_in_lines_is_a_keyword(cls, arguments):
    with pytest.raises(TypeError):
        cls(*arguments)


@pytest.mark.parametrize("cls", [ItemHead, ItemTail])
def test_items_have_no_budget_in_lines(cls):
    with pytest.raises(TypeError):
        cls(1, max_lines=1)


@each_field
def test_an_enormous_negative_budget_is_refused_although_it_has_no_repr(name, make):
    # CPython refuses to write an int of more than 4300 digits in decimal.
    budget = -(10**5000)
    with pytest.raises(ValueError, match="integer string conversion"):
        repr(budget)
    with pytest.raises(ValueError, match="non-negative") as caught:
        make(budget)
    assert str(caught.value) == f"{name} must be a non-negative integer, got an integer of 16610 bits"


def test_an_enormous_budget_is_taken_although_it_has_no_repr():
    assert TextHead(10**5000).max_bytes == 10**5000


@each_field
def test_a_budget_without_a_repr_is_shown_by_its_type(name, make):
    with pytest.raises(TypeError) as caught:
        make(Shy())
    assert str(caught.value) == f"{name} must be a non-negative integer, got an object of type Shy"


@pytest.mark.parametrize(("length", "words"), [(60, f"'{'x' * 58}'"), (61, f"'{'x' * 56}...")])
def test_a_repr_is_shown_whole_up_to_60_characters(length, words):
    value = "x" * (length - 2)
    assert len(repr(value)) == length
    assert shown(value) == words


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_that_no_float_can_hold_is_infinite(sign):
    assert real_number(sign * 10**400) == sign * math.inf


@each_field
def test_a_budget_of_a_long_repr_is_shown_shortened(name, make):
    with pytest.raises(TypeError) as caught:
        make("x" * 10_000)
    assert str(caught.value) == f"{name} must be a non-negative integer, got '{'x' * 56}..."


@each_field
def test_what_an_integer_object_raises_is_raised(name, make):
    class Broken:
        def __index__(self):
            raise OSError("no number today")

    with pytest.raises(OSError, match="no number today"):
        make(Broken())


@pytest.mark.parametrize("cls", [TextHead, TextTail, TextHeadTail, ItemHead, ItemTail, ItemHeadTail])
def test_a_budget_is_required(cls):
    with pytest.raises(TypeError):
        cls()


def test_budgets_can_be_named():
    assert TextHead(max_bytes=1) == TextHead(1)
    assert TextTail(max_bytes=1) == TextTail(1)
    assert TextHeadTail(tail_bytes=2, head_bytes=1) == TextHeadTail(1, 2)
    assert ItemHead(max_items=1) == ItemHead(1)
    assert ItemTail(max_items=1) == ItemTail(1)
    assert ItemHeadTail(tail_items=2, head_items=1) == ItemHeadTail(1, 2)


# Stop modes


@pytest.mark.parametrize("cls", [TextHead, ItemHead])
def test_a_head_reads_to_the_end_unless_it_is_told_otherwise(cls):
    assert cls(1).stop == "read_to_end"
    assert cls(1, stop="read_to_end") == cls(1)
    assert cls(1, stop="stop_when_full").stop == "stop_when_full"


@pytest.mark.parametrize("cls", [TextHead, ItemHead])
@pytest.mark.parametrize(
    ("stop", "shown"),
    [
        ("never", "'never'"),
        ("", "''"),
        ("STOP_WHEN_FULL", "'STOP_WHEN_FULL'"),
        (None, "None"),
        (True, "True"),
        (["read_to_end"], "['read_to_end']"),
        (b"read_to_end", "b'read_to_end'"),
        (Shy(), "an object of type Shy"),
        ("x" * 1000, f"'{'x' * 56}..."),
    ],
    ids=range(9),
)
def test_an_unknown_stop_mode_is_refused(cls, stop, shown):
    with pytest.raises(ValueError, match="stop must be") as caught:
        cls(1, stop=stop)
    assert str(caught.value) == f"stop must be 'read_to_end' or 'stop_when_full', got {shown}"


@pytest.mark.parametrize("cls", [TextHead, ItemHead])
def test_stop_is_a_keyword(cls):
    with pytest.raises(TypeError):
        cls(1, "stop_when_full")


@pytest.mark.parametrize("cls", [TextTail, ItemTail])
def test_only_a_head_can_stop_early(cls):
    with pytest.raises(TypeError):
        cls(1, stop="stop_when_full")


# Values


@pytest.mark.parametrize(
    ("cls", "kind"),
    [
        (TextHead, "head"),
        (ItemHead, "head"),
        (TextTail, "tail"),
        (ItemTail, "tail"),
        (TextHeadTail, "head_tail"),
        (ItemHeadTail, "head_tail"),
    ],
)
def test_each_strategy_has_its_kind(cls, kind):
    strategy = cls(1, 1) if kind == "head_tail" else cls(1)
    assert (cls.kind, strategy.kind) == (kind, kind)


@each_strategy
def test_a_strategy_cannot_be_initialised_again(strategy):
    before = copy.deepcopy(strategy)
    with pytest.raises(AttributeError, match="immutable"):
        strategy.__init__(*[5] * len([name for name in strategy.__match_args__ if name != "stop"]))
    assert strategy == before


@each_strategy
def test_a_field_cannot_be_set_or_deleted(strategy):
    before = copy.deepcopy(strategy)
    for name in (*strategy.__slots__, "kind", "more"):
        with pytest.raises(AttributeError, match=f"immutable.*{name}"):
            setattr(strategy, name, 5)
        with pytest.raises(AttributeError, match=f"immutable.*{name}"):
            delattr(strategy, name)
    assert strategy == before


@each_strategy
def test_a_strategy_has_no_dict(strategy):
    assert not hasattr(strategy, "__dict__")


@each_strategy
def test_a_strategy_equals_only_its_like(strategy):
    assert [other for other in ALL if other == strategy] == [strategy]
    assert [other for other in ALL if other != strategy] == [other for other in ALL if other is not strategy]


@each_strategy
@pytest.mark.parametrize("other", [None, 3, "head", (3,), object()])
def test_a_strategy_equals_nothing_else(strategy, other):
    assert (strategy == other, strategy != other) == (False, True)


def test_a_strategy_leaves_comparing_to_those_who_know_better():
    assert TextHead(3).__eq__(3) is NotImplemented


def test_strategies_have_no_order():
    with pytest.raises(TypeError):
        operator.lt(TextHead(1), TextHead(2))


@each_strategy
def test_equal_strategies_have_one_hash(strategy):
    assert hash(pickle.loads(pickle.dumps(strategy))) == hash(strategy)


def test_strategies_can_be_told_apart_in_a_set():
    assert len({*ALL, *[copy.copy(strategy) for strategy in ALL]}) == len(ALL)


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        (TextHead(3), "TextHead(max_bytes=3, max_lines=None, stop='read_to_end')"),
        (TextHead(3, stop="stop_when_full"), "TextHead(max_bytes=3, max_lines=None, stop='stop_when_full')"),
        (TextHead(3, max_lines=2), "TextHead(max_bytes=3, max_lines=2, stop='read_to_end')"),
        (TextTail(3), "TextTail(max_bytes=3, max_lines=None)"),
        (TextTail(3, max_lines=0), "TextTail(max_bytes=3, max_lines=0)"),
        (TextHeadTail(3, 4), "TextHeadTail(head_bytes=3, tail_bytes=4, head_lines=None, tail_lines=None)"),
        (
            TextHeadTail(3, 4, head_lines=1, tail_lines=2),
            "TextHeadTail(head_bytes=3, tail_bytes=4, head_lines=1, tail_lines=2)",
        ),
        (ItemHead(3), "ItemHead(max_items=3, stop='read_to_end')"),
        (ItemTail(3), "ItemTail(max_items=3)"),
        (ItemHeadTail(3, 4), "ItemHeadTail(head_items=3, tail_items=4)"),
    ],
)
def test_the_repr_is_the_call_that_makes_the_strategy(strategy, text):
    assert repr(strategy) == text
    assert eval(text, vars(retention).copy()) == strategy


@each_strategy
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_strategy_can_be_pickled(strategy, protocol):
    assert pickle.loads(pickle.dumps(strategy, protocol)) == strategy


@each_strategy
def test_the_repr_of_any_strategy_makes_it_again(strategy):
    assert eval(repr(strategy), vars(retention).copy()) == strategy


@each_strategy
def test_unpickling_goes_through_the_checks_of_the_constructor(strategy):
    function, (cls, fields) = strategy.__reduce__()
    assert function(cls, fields) == strategy
    with pytest.raises(ValueError, match="non-negative"):
        function(cls, {**fields, cls.__match_args__[0]: -1})


@each_strategy
def test_a_copy_is_the_strategy_itself(strategy):
    assert copy.copy(strategy) is strategy
    assert copy.deepcopy([strategy])[0] is strategy


def described(strategy):
    match strategy:
        case TextHead(size, stop="stop_when_full") | ItemHead(size, stop="stop_when_full"):
            return ("probe", size)
        case TextHead(size, max_lines=int(lines)) | TextTail(size, max_lines=int(lines)):
            return ("lines", size, lines)
        case TextHeadTail(head, tail, head_lines=int(head_lines), tail_lines=int(tail_lines)):
            return ("lines", head, tail, head_lines, tail_lines)
        case TextHead(max_bytes=size) | ItemHead(max_items=size):
            return ("head", size)
        case TextTail(size) | ItemTail(size):
            return ("tail", size)
        case TextHeadTail(head, tail_bytes=tail):
            return ("both", head, tail)
        case ItemHeadTail(head, tail):
            return ("both", head, tail)


@pytest.mark.parametrize(
    ("strategy", "facts"),
    [
        (TextHead(3), ("head", 3)),
        (TextHead(3, stop="stop_when_full"), ("probe", 3)),
        (TextHead(3, max_lines=2), ("lines", 3, 2)),
        (TextTail(3), ("tail", 3)),
        (TextTail(3, max_lines=2), ("lines", 3, 2)),
        (TextHeadTail(3, 4), ("both", 3, 4)),
        (TextHeadTail(3, 4, head_lines=1, tail_lines=2), ("lines", 3, 4, 1, 2)),
        (ItemHead(3), ("head", 3)),
        (ItemHead(3, stop="stop_when_full"), ("probe", 3)),
        (ItemTail(3), ("tail", 3)),
        (ItemHeadTail(3, 4), ("both", 3, 4)),
        (None, None),
    ],
)
def test_strategies_match_patterns_by_position_and_by_name(strategy, facts):
    assert described(strategy) == facts


def matched_by_position(strategy):
    match strategy:
        case TextHead(_, _) | TextTail(_, _) | ItemHead(_, _) | TextHeadTail(_, _, _):
            return True
    return False


@pytest.mark.parametrize(
    "strategy", [TextHead(3, max_lines=2), TextTail(3, max_lines=2), ItemHead(3), TextHeadTail(3, 4, head_lines=1)]
)
def test_what_must_be_named_is_not_matched_by_position(strategy):
    with pytest.raises(TypeError, match="positional sub-pattern"):
        matched_by_position(strategy)


# Types at run time


def test_the_unions_are_of_the_strategies():
    assert typing.get_args(TextRetentionStrategy) == (TextHead, TextTail, TextHeadTail)
    assert typing.get_args(ItemRetentionStrategy) == (ItemHead, ItemTail, ItemHeadTail)
    assert isinstance(TextTail(1), TextRetentionStrategy)
    assert not isinstance(TextTail(1), ItemRetentionStrategy)


def test_the_stop_modes_are_a_literal():
    assert retention.StopMode == typing.Literal["read_to_end", "stop_when_full"]
    assert retention.StopMode is retention.strategies.StopMode


def test_a_name_that_a_module_lacks_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'TextMiddle'"):
        _ = retention.TextMiddle
    with pytest.raises(AttributeError, match="has no attribute 'TextMiddle'"):
        _ = retention.strategies.TextMiddle


# Strategies and retainers


@pytest.mark.parametrize("strategy", [ItemHead(3), ItemTail(3), ItemHeadTail(3, 3), None, "head", TextHead], ids=repr)
def test_a_text_retainer_names_the_strategies_that_it_takes(strategy):
    with pytest.raises(TypeError) as caught:
        TextRetainer(strategy)
    message = "strategy must be a TextHead, TextTail or TextHeadTail, got "
    assert str(caught.value) == message + repr(strategy)


@pytest.mark.parametrize("strategy", [TextHead(3), TextTail(3), TextHeadTail(3, 3), None, "head", ItemHead], ids=repr)
def test_an_item_retainer_names_the_strategies_that_it_takes(strategy):
    with pytest.raises(TypeError) as caught:
        ItemRetainer(strategy)
    message = "strategy must be an ItemHead, ItemTail or ItemHeadTail, got "
    shown = repr(strategy) if len(repr(strategy)) <= 60 else f"{repr(strategy)[:57]}..."
    assert str(caught.value) == message + shown


@pytest.mark.parametrize("cls", [TextRetainer, ItemRetainer])
def test_a_wrong_strategy_without_a_repr_is_shown_by_its_type(cls):
    with pytest.raises(TypeError, match=r"got an object of type Shy$"):
        cls(Shy())


@pytest.mark.parametrize("cls", [TextRetainer, ItemRetainer])
def test_a_retainer_needs_a_strategy(cls):
    with pytest.raises(TypeError):
        cls()


def test_a_strategy_can_be_shared_by_retainers():
    strategy = TextTail(2)
    one, other = TextRetainer(strategy), TextRetainer(strategy)
    one.push("abc")
    assert (one.finish().text, other.finish().text) == ("bc", "")
    assert one.strategy is other.strategy is strategy
