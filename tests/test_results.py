"""What retainers answer: immutable values, and the arithmetic of omitted counts."""

import copy
import itertools
import pickle
from collections.abc import Hashable

import numpy
import pytest

import retention
from retention import (
    ItemHead,
    ItemRetainer,
    Omitted,
    PushDecision,
    RetainedBytes,
    RetainedItems,
    RetainedText,
    TextHead,
    TextHeadTail,
    TextRetainer,
)

NONE = Omitted("none")
EXACT = Omitted("exact", 3)
AT_LEAST = Omitted("at_least", 3)
UNKNOWN = Omitted("unknown")

# One of each type, and for each of its fields another value, by which it is told apart.
RECORDS = [
    (PushDecision(True, False, False), {"kept": False, "truncated": True, "should_stop": True}),
    (EXACT, {"kind": "at_least", "count": 4}),
    (
        RetainedText("ab", "a", "b", True, EXACT, 5, 2, NONE),
        {
            "text": "abc",
            "head": "",
            "tail": "",
            "truncated": False,
            "omitted_bytes": AT_LEAST,
            "seen_bytes": 6,
            "seen_lines": None,
            "omitted_lines": UNKNOWN,
        },
    ),
    (
        RetainedBytes(b"a", b"b", True, EXACT, 5),
        {"head": b"", "tail": b"", "truncated": False, "omitted_bytes": AT_LEAST, "seen_bytes": 6},
    ),
    (
        RetainedItems(["a", "b"], ["a"], ["b"], True, EXACT, 5, 2),
        {"items": [], "head": [], "tail": [], "truncated": False, "omitted": AT_LEAST, "seen": 6, "kept": 3},
    ),
]
# Each field that may be left out: what it is then.
OPTIONAL = {Omitted: {"count": None}, RetainedText: {"seen_lines": None, "omitted_lines": UNKNOWN}}
NAMES = [type(record).__name__ for record, _ in RECORDS]
each_record = pytest.mark.parametrize("record", [record for record, _ in RECORDS], ids=NAMES)
each_record_and_others = pytest.mark.parametrize(("record", "others"), RECORDS, ids=NAMES)


def fields_of(record):
    return {name: getattr(record, name) for name in record.__match_args__}


class Shy:
    """An object that has no truth value."""

    def __bool__(self):
        raise RuntimeError("neither true nor false")


# Omitted


@pytest.mark.parametrize(
    ("arguments", "kind", "count"),
    [
        (("none",), "none", 0),
        (("none", 0), "none", 0),
        (("none", None), "none", 0),
        (("exact", 1), "exact", 1),
        (("exact", 10**30), "exact", 10**30),
        (("at_least", 1), "at_least", 1),
        (("unknown",), "unknown", None),
        (("unknown", None), "unknown", None),
    ],
)
def test_each_kind_of_omitted_has_its_count(arguments, kind, count):
    omitted = Omitted(*arguments)
    assert (omitted.kind, omitted.count) == (kind, count)


def test_any_integer_object_is_a_count():
    omitted = Omitted("exact", numpy.int64(3))
    assert (omitted, type(omitted.count)) == (EXACT, int)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("none", 1),
        ("none", -1),
        ("exact", 0),
        ("exact", -1),
        ("exact", None),
        ("at_least", 0),
        ("at_least", -5),
        ("at_least", None),
        ("unknown", 0),
        ("unknown", 3),
    ],
)
def test_a_count_that_does_not_go_with_its_kind_is_refused(kind, count):
    with pytest.raises(ValueError, match=f"^count .*{kind}"):
        Omitted(kind, count)


@pytest.mark.parametrize("kind", ["exact", "at_least"])
def test_a_count_is_required_where_something_was_counted(kind):
    with pytest.raises(ValueError, match="count is required"):
        Omitted(kind)


@pytest.mark.parametrize("kind", ["none", "exact", "at_least"])
@pytest.mark.parametrize("count", [True, False, 1.0, "1", [1]])
def test_a_count_that_is_no_integer_is_refused(kind, count):
    with pytest.raises(TypeError, match="count must be an integer"):
        Omitted(kind, count)


@pytest.mark.parametrize("kind", ["", "None", "EXACT", "some"])
def test_an_unknown_kind_is_refused(kind):
    with pytest.raises(ValueError, match="kind must be 'none', 'exact', 'at_least' or 'unknown'") as caught:
        Omitted(kind, 1)
    assert repr(kind) in str(caught.value)


@pytest.mark.parametrize("kind", [None, 1, b"exact", ["exact"]])
def test_a_kind_that_is_no_string_is_refused(kind):
    with pytest.raises(TypeError, match="kind"):
        Omitted(kind, 1)


@pytest.mark.parametrize(("omitted", "truth"), [(NONE, False), (EXACT, True), (AT_LEAST, True), (UNKNOWN, True)])
def test_omitted_is_false_only_where_nothing_was(omitted, truth):
    assert bool(omitted) is truth


@pytest.mark.parametrize(
    ("one", "other", "total"),
    [
        (NONE, NONE, NONE),
        (NONE, EXACT, EXACT),
        (NONE, AT_LEAST, AT_LEAST),
        (NONE, UNKNOWN, UNKNOWN),
        (EXACT, Omitted("exact", 4), Omitted("exact", 7)),
        (EXACT, Omitted("at_least", 4), Omitted("at_least", 7)),
        (AT_LEAST, Omitted("at_least", 4), Omitted("at_least", 7)),
        (EXACT, UNKNOWN, UNKNOWN),
        (AT_LEAST, UNKNOWN, UNKNOWN),
        (UNKNOWN, UNKNOWN, UNKNOWN),
        (Omitted("exact", 2**64), Omitted("exact", 10**30), Omitted("exact", 2**64 + 10**30)),
    ],
)
def test_the_sum_of_two_says_what_both_left_out(one, other, total):
    assert one + other == total
    assert other + one == total


@pytest.mark.parametrize("three", [*itertools.product([NONE, EXACT, AT_LEAST, UNKNOWN], repeat=3)])
def test_adding_is_associative(three):
    a, b, c = three
    assert (a + b) + c == a + (b + c)


def test_omitted_can_be_summed():
    assert sum([EXACT, NONE, EXACT], start=NONE) == Omitted("exact", 6)


@pytest.mark.parametrize("other", [0, 3, None, "exact", (3,), PushDecision(True, False, False)])
def test_omitted_is_added_to_nothing_else(other):
    assert EXACT.__add__(other) is NotImplemented
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = EXACT + other
    with pytest.raises(TypeError, match=r"unsupported operand|can only concatenate"):
        _ = other + EXACT


def test_another_type_may_know_how_to_be_added():
    class Other:
        def __radd__(self, omitted):
            return ("added to", omitted)

    assert EXACT + Other() == ("added to", EXACT)


# All five


@each_record_and_others
def test_a_field_cannot_be_set_or_deleted(record, others):
    before = fields_of(record)
    for name, value in others.items():
        with pytest.raises(AttributeError):
            setattr(record, name, value)
        with pytest.raises(AttributeError):
            delattr(record, name)
    assert fields_of(record) == before


@each_record
def test_no_field_can_be_added(record):
    with pytest.raises(AttributeError):
        record.more = 5
    assert not hasattr(record, "__dict__")


@each_record_and_others
def test_initialising_again_changes_nothing(record, others):
    before = fields_of(record)
    record.__init__(**{**before, **others})
    assert fields_of(record) == before


def test_the_base_of_all_has_no_values_of_its_own():
    base = Omitted.__base__
    assert {type(record).__base__ for record, _ in RECORDS} == {base}
    with pytest.raises(NotImplementedError):
        hash(base())


@each_record
def test_fields_can_be_named(record):
    assert type(record)(**fields_of(record)) == record


@each_record_and_others
def test_fields_stand_in_the_order_of_the_arguments(record, others):
    assert type(record)(*fields_of(record).values()) == record
    assert tuple(others) == record.__match_args__


@each_record_and_others
def test_every_field_counts_in_comparing(record, others):
    for name, value in others.items():
        other = type(record)(**{**fields_of(record), name: value})
        assert (record == other, record != other) == (False, True)


@each_record
def test_a_record_equals_nothing_of_another_type(record):
    for other in [None, 0, "", fields_of(record), tuple(fields_of(record).values())]:
        assert (record == other, record != other) == (False, True)
        assert record.__eq__(other) is NotImplemented
    assert [one for one, _ in RECORDS if one == record] == [record]


@each_record
def test_a_record_has_no_order(record):
    with pytest.raises(TypeError):
        _ = record < copy.copy(record)


@each_record
def test_equal_records_have_one_hash_but_those_that_hold_lists(record):
    if type(record) is RetainedItems:
        assert not isinstance(record, Hashable)
        with pytest.raises(TypeError, match="unhashable type"):
            hash(record)
    else:
        assert hash(type(record)(**fields_of(record))) == hash(record)
        assert {record: "found"}[type(record)(**fields_of(record))] == "found"


SHOWN = "Omitted(kind='exact', count=3)"


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (PushDecision(True, False, False), "PushDecision(kept=True, truncated=False, should_stop=False)"),
        (NONE, "Omitted(kind='none', count=0)"),
        (EXACT, SHOWN),
        (UNKNOWN, "Omitted(kind='unknown', count=None)"),
        (
            RetainedText("ab", "a", "b", True, EXACT, 5),
            (
                f"RetainedText(text='ab', head='a', tail='b', truncated=True, omitted_bytes={SHOWN}, seen_bytes=5, "
                "seen_lines=None, omitted_lines=Omitted(kind='unknown', count=None))"
            ),
        ),
        (
            RetainedText("ab", "a", "b", True, EXACT, 5, 2, NONE),
            (
                f"RetainedText(text='ab', head='a', tail='b', truncated=True, omitted_bytes={SHOWN}, seen_bytes=5, "
                "seen_lines=2, omitted_lines=Omitted(kind='none', count=0))"
            ),
        ),
        (
            RetainedBytes(b"a", b"b", True, EXACT, 5),
            f"RetainedBytes(head=b'a', tail=b'b', truncated=True, omitted_bytes={SHOWN}, seen_bytes=5)",
        ),
        (
            RetainedItems(["a", 1], ["a"], [1], True, EXACT, 5, 2),
            f"RetainedItems(items=['a', 1], head=['a'], tail=[1], truncated=True, omitted={SHOWN}, seen=5, kept=2)",
        ),
    ],
)
def test_the_repr_is_the_call_that_makes_the_record(record, text):
    assert repr(record) == text
    assert eval(text, vars(retention).copy()) == record


@each_record
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_record_can_be_pickled(record, protocol):
    restored = pickle.loads(pickle.dumps(record, protocol))
    assert type(restored) is type(record)
    assert restored == record


@each_record
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_equal(record, copied):
    assert copied(record) == record


def test_a_deep_copy_of_items_shares_no_list():
    result = RetainedItems([["a"]], [["a"]], [], False, NONE, 1, 1)
    copied = copy.deepcopy(result)
    copied.items[0].append("more")
    copied.items.append("more")
    assert result == RetainedItems([["a"]], [["a"]], [], False, NONE, 1, 1)


@each_record
def test_a_record_type_is_final(record):
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Derived", (type(record),), {})


@each_record
def test_every_field_is_required_but_those_with_a_default(record):
    fields = fields_of(record)
    for name in fields:
        if name not in OPTIONAL.get(type(record), ()):
            with pytest.raises(TypeError):
                type(record)(**{other: fields[other] for other in fields if other != name})


@pytest.mark.parametrize("name", OPTIONAL[RetainedText])
def test_lines_that_are_left_out_were_not_counted(name):
    fields = fields_of(RetainedText("ab", "a", "b", True, EXACT, 5, 2, NONE))
    del fields[name]
    assert getattr(RetainedText(**fields), name) == OPTIONAL[RetainedText][name]


def test_a_text_whose_lines_were_not_counted_says_so():
    assert RetainedText("ab", "a", "b", True, EXACT, 5) == RetainedText("ab", "a", "b", True, EXACT, 5, None, UNKNOWN)


@each_record
def test_no_field_beyond_them_is_taken(record):
    with pytest.raises(TypeError):
        type(record)(**fields_of(record), more=5)
    with pytest.raises(TypeError):
        type(record)(*fields_of(record).values(), 5)


@pytest.mark.parametrize(
    ("number", "name", "values"),
    [
        (2, "text", [None, b"ab", 5]),
        (2, "head", [None, b"a", 5]),
        (2, "tail", [None, b"b", 5]),
        (2, "omitted_bytes", [None, 3, "exact", PushDecision(True, False, False)]),
        (2, "seen_bytes", [None, 5.0, "5", True]),
        (2, "seen_lines", [5.0, "5", True, NONE]),
        (2, "omitted_lines", [None, 3, "unknown", PushDecision(True, False, False)]),
        (3, "head", [None, "a", bytearray(b"a")]),
        (3, "tail", [None, "b", bytearray(b"b")]),
        (3, "omitted_bytes", [None, 3]),
        (3, "seen_bytes", [None, 5.0, "5", True]),
        (4, "items", [None, (), "ab"]),
        (4, "head", [None, (), "a"]),
        (4, "tail", [None, (), "b"]),
        (4, "omitted", [None, 3]),
        (4, "seen", [None, 5.0, "5", True]),
        (4, "kept", [None, 2.0, "2", False]),
    ],
)
def test_a_field_of_the_wrong_type_is_refused(number, name, values):
    record = RECORDS[number][0]
    for value in values:
        with pytest.raises(TypeError):
            type(record)(**{**fields_of(record), name: value})


@pytest.mark.parametrize("name", ["kept", "truncated", "should_stop"])
def test_a_field_of_a_decision_needs_a_truth_value(name):
    with pytest.raises(RuntimeError, match="neither true nor false"):
        PushDecision(**{"kept": True, "truncated": False, "should_stop": False, name: Shy()})


def test_numbers_may_be_of_any_integer_type_and_size():
    result = RetainedText("", "", "", False, NONE, numpy.uint8(5))
    assert type(result.seen_bytes) is int
    assert RetainedText("", "", "", True, EXACT, 2**64).seen_bytes == 2**64
    result = RetainedText("", "", "", True, EXACT, 0, numpy.uint8(5))
    assert type(result.seen_lines) is int
    assert RetainedText("", "", "", True, EXACT, 2**64, 2**64).seen_lines == 2**64


@pytest.mark.parametrize("name", ["kept", "truncated", "should_stop"])
def test_facts_are_bools(name):
    for number in (0, 1):
        decision = PushDecision(**{"kept": False, "truncated": False, "should_stop": False, name: number})
        assert getattr(decision, name) is bool(number)


# Patterns


def described(result):
    match result:
        case PushDecision(should_stop=True):
            return "stop"
        case PushDecision(True, truncated):
            return ("kept", truncated)
        case Omitted("exact", count):
            return ("exact", count)
        case Omitted(kind=kind):
            return kind
        case RetainedText(text, _, _, False):
            return text
        case RetainedText(seen_lines=int(lines), omitted_lines=Omitted("exact", count)):
            return ("lines", count, lines)
        case RetainedText(_, _, _, _, _, _, None, Omitted("at_least")):
            return "early"
        case RetainedText(head=head, tail=tail, omitted_bytes=Omitted("exact", count)):
            return (head, count, tail)
        case RetainedBytes(head, tail, True, _, seen):
            return (head, tail, seen)
        case RetainedItems([first, *_], truncated=True, omitted=Omitted(count=count)):
            return (first, count)


@pytest.mark.parametrize(
    ("result", "facts"),
    [
        (PushDecision(False, True, True), "stop"),
        (PushDecision(True, True, False), ("kept", True)),
        (PushDecision(False, True, False), None),
        (EXACT, ("exact", 3)),
        (AT_LEAST, "at_least"),
        (UNKNOWN, "unknown"),
        (RetainedText("ab", "ab", "", False, NONE, 2), "ab"),
        (RetainedText("ab", "a", "b", True, EXACT, 5), ("a", 3, "b")),
        (RetainedText("ab", "a", "b", True, EXACT, 5, 2, NONE), ("a", 3, "b")),
        (RetainedText("ab", "a", "b", True, EXACT, 5, 9, EXACT), ("lines", 3, 9)),
        (RetainedText("ab", "a", "b", True, EXACT, 5, None, AT_LEAST), "early"),
        (RetainedBytes(b"a", b"b", True, EXACT, 5), (b"a", b"b", 5)),
        (RetainedItems(["a"], ["a"], [], True, EXACT, 4, 1), ("a", 3)),
    ],
)
def test_results_match_patterns_by_position_and_by_name(result, facts):
    assert described(result) == facts


# Decisions are shared

PUSHES = [b"", b"ab", b"c", b""]


def test_retainers_share_their_decisions():
    one, other = TextRetainer(TextHead(2)), TextRetainer(TextHeadTail(1, 1))
    for chunk in PUSHES:
        assert one.push(chunk) is other.push(chunk)
    items = ItemRetainer(ItemHead(1))
    assert items.push("a") is TextRetainer(TextHead(1)).push(b"a")
    assert items.push("b") is TextRetainer(TextHead(0)).push(b"b")


def test_extending_answers_with_the_shared_decisions():
    one, other = TextRetainer(TextHead(2)), TextRetainer(TextHead(2))
    for chunk in PUSHES:
        assert one.extend([chunk]) is other.push(chunk)


@pytest.mark.parametrize("stop", ["read_to_end", "stop_when_full"])
def test_copies_of_a_decision_are_the_shared_one(stop):
    retainer = TextRetainer(TextHead(2, stop=stop))
    for chunk in PUSHES:
        decision = retainer.push(chunk)
        assert copy.copy(decision) is decision
        assert copy.deepcopy([decision])[0] is decision


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_unpickled_decision_is_the_shared_one(protocol):
    retainer = TextRetainer(TextHead(2, stop="stop_when_full"))
    for chunk in PUSHES:
        decision = retainer.push(chunk)
        assert pickle.loads(pickle.dumps(decision, protocol)) is decision


def test_a_decision_made_by_hand_is_equal_to_the_shared_one():
    assert TextRetainer(TextHead(2)).push(b"") == PushDecision(True, False, False)
