"""Notices: the clause about what was omitted, the tool's advice, and the facts that both are made of."""

import copy
import pickle

import pytest

import retention
from retention import (
    HeadTailLimit,
    ItemHead,
    ItemRetainer,
    Omitted,
    RetentionNotice,
    TextHeadTail,
    TextRetainer,
    describe_omitted,
    format_retention_notice,
)

NONE = Omitted("none")
UNITS = ["items", "bytes", "chars", "lines"]


def notice_of(omitted, unit="items"):
    return RetentionNotice("grep", "head", unit, 100, 100, omitted)


# The clause


@pytest.mark.parametrize(
    ("omitted", "clause"),
    [
        (NONE, ""),
        (Omitted("exact", 3), "Omitted 3 items."),
        (Omitted("exact", 1), "Omitted 1 item."),
        (Omitted("exact", 10**30), f"Omitted 1{'0' * 30} items."),
        (Omitted("at_least", 1), "More items were omitted."),
        (Omitted("at_least", 41), "More items were omitted."),
        (Omitted("unknown"), "More items were omitted."),
    ],
)
def test_the_clause_says_how_much_was_omitted(omitted, clause):
    assert describe_omitted(omitted, "items") == clause


@pytest.mark.parametrize(
    ("unit", "one", "two", "more"),
    [
        ("items", "Omitted 1 item.", "Omitted 2 items.", "More items were omitted."),
        ("bytes", "Omitted 1 byte.", "Omitted 2 bytes.", "More bytes were omitted."),
        ("chars", "Omitted 1 char.", "Omitted 2 chars.", "More chars were omitted."),
        ("lines", "Omitted 1 line.", "Omitted 2 lines.", "More lines were omitted."),
    ],
)
def test_the_clause_knows_the_singular_of_each_unit(unit, one, two, more):
    counts = [Omitted("exact", 1), Omitted("exact", 2), Omitted("at_least", 1)]
    assert [describe_omitted(omitted, unit) for omitted in counts] == [one, two, more]


@pytest.mark.parametrize("unit", ["item", "words", "", "BYTES", None, 3, ["items"], b"items"])
@pytest.mark.parametrize("omitted", [NONE, Omitted("exact", 3)])
def test_an_unknown_unit_is_refused_also_where_nothing_was_omitted(unit, omitted):
    with pytest.raises(ValueError, match="unit must be 'items', 'bytes', 'chars' or 'lines'") as caught:
        describe_omitted(omitted, unit)
    assert str(caught.value).endswith(f"got {unit!r}")


@pytest.mark.parametrize("omitted", [None, 3, 0, "exact", ("exact", 3)])
def test_only_an_omitted_is_described(omitted):
    with pytest.raises(TypeError, match=f"omitted must be an Omitted, got {type(omitted).__name__}"):
        describe_omitted(omitted, "items")


# The clause and the advice


def test_clause_and_advice_are_joined_by_a_space():
    notice = notice_of(Omitted("exact", 41))
    assert format_retention_notice(notice, "Narrow the pattern.") == "Omitted 41 items. Narrow the pattern."


def test_advice_may_be_a_function_of_the_notice():
    notice = notice_of(Omitted("at_least", 1), "lines")
    line = format_retention_notice(notice, lambda notice: f"{notice.scope} showed {notice.kept} {notice.unit}.")
    assert line == "More lines were omitted. grep showed 100 lines."


@pytest.mark.parametrize(
    ("omitted", "advice", "line"),
    [
        (Omitted("exact", 3), "Look closer.", "Omitted 3 items. Look closer."),
        (Omitted("exact", 3), "", "Omitted 3 items."),
        (NONE, "That is all.", "That is all."),
        (NONE, "", ""),
    ],
)
@pytest.mark.parametrize("as_function", [False, True])
def test_either_half_may_be_empty(omitted, advice, line, as_function):
    recovery = (lambda notice: advice) if as_function else advice
    assert format_retention_notice(notice_of(omitted), recovery) == line


@pytest.mark.parametrize("omitted", [NONE, Omitted("exact", 3), Omitted("at_least", 1), Omitted("unknown")])
def test_advice_is_asked_for_once_whatever_was_omitted(omitted):
    asked = []

    def recovery(notice):
        asked.append(notice)
        return "Advice."

    notice = notice_of(omitted)
    format_retention_notice(notice, recovery)
    assert len(asked) == 1
    assert asked[0] is notice


def test_what_the_function_raises_is_raised():
    def recovery(notice):
        raise LookupError("no advice")

    with pytest.raises(LookupError, match="no advice"):
        format_retention_notice(notice_of(NONE), recovery)


@pytest.mark.parametrize("advice", [None, 3, b"bytes", ["list"]])
@pytest.mark.parametrize("as_function", [False, True])
def test_advice_that_is_no_string_is_refused(advice, as_function):
    recovery = (lambda notice: advice) if as_function else advice
    with pytest.raises(TypeError, match=f"recovery must be a string .* got {type(advice).__name__}"):
        format_retention_notice(notice_of(Omitted("exact", 3)), recovery)


@pytest.mark.parametrize("notice", [None, "Omitted 3 items.", Omitted("exact", 3), {"unit": "items"}])
def test_only_a_notice_is_formatted(notice):
    with pytest.raises(TypeError, match=f"notice must be a RetentionNotice, got {type(notice).__name__}"):
        format_retention_notice(notice, "")


def test_the_notice_of_a_text_retainer_is_formatted():
    retainer = TextRetainer(TextHeadTail(2, 2))
    retainer.push("abcde")
    line = format_retention_notice(
        retainer.notice("bash stdout"),
        lambda notice: f"First {notice.limit.head} and last {notice.limit.tail} {notice.unit} of {notice.scope}.",
    )
    assert line == "Omitted 1 byte. First 2 and last 2 bytes of bash stdout."


def test_the_notice_of_an_item_retainer_is_formatted():
    retainer = ItemRetainer(ItemHead(2, stop="stop_when_full"))
    retainer.extend(list("abcde"))
    line = format_retention_notice(retainer.notice("glob"), lambda notice: f"Showing the first {notice.kept}.")
    assert line == "More items were omitted. Showing the first 2."


# The facts

LIMIT = HeadTailLimit(3, 4)
NOTICE = RetentionNotice("bash stdout", "head_tail", "bytes", LIMIT, 7, Omitted("exact", 5))
FACTS = {
    "scope": "bash stderr",
    "strategy": "tail",
    "unit": "lines",
    "limit": 7,
    "kept": 6,
    "omitted": Omitted("unknown"),
}
each_value = pytest.mark.parametrize("value", [NOTICE, LIMIT], ids=["notice", "limit"])


def fields_of(value):
    return {name: getattr(value, name) for name in value.__match_args__}


@pytest.mark.parametrize("unit", UNITS)
def test_a_notice_has_one_of_four_units(unit):
    assert notice_of(NONE, unit).unit == unit


@pytest.mark.parametrize("unit", ["item", "words", None, 3, ["items"]])
def test_a_notice_of_another_unit_is_refused(unit):
    with pytest.raises(ValueError, match="unit must be 'items', 'bytes', 'chars' or 'lines'"):
        notice_of(NONE, unit)


def test_the_fields_of_a_notice_are_those_that_were_given():
    assert list(fields_of(NOTICE).values()) == ["bash stdout", "head_tail", "bytes", LIMIT, 7, Omitted("exact", 5)]
    assert list(fields_of(NOTICE)) == list(FACTS)
    assert (LIMIT.head, LIMIT.tail) == (3, 4)


@each_value
def test_fields_can_be_named(value):
    assert type(value)(**fields_of(value)) == value


@each_value
def test_every_field_is_required(value):
    fields = fields_of(value)
    for name in fields:
        with pytest.raises(TypeError):
            type(value)(**{other: fields[other] for other in fields if other != name})


@each_value
def test_a_field_cannot_be_set_or_deleted(value):
    before = fields_of(value)
    for name in (*before, "more"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(value, name, 5)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(value, name)
    assert fields_of(value) == before
    assert not hasattr(value, "__dict__")


@pytest.mark.parametrize("name", FACTS)
def test_every_field_counts_in_comparing(name):
    other = RetentionNotice(**{**fields_of(NOTICE), name: FACTS[name]})
    assert (other == NOTICE, other != NOTICE) == (False, True)


def test_limits_are_compared_by_both_ends():
    assert HeadTailLimit(3, 4) == LIMIT
    assert HeadTailLimit(4, 3) != LIMIT
    assert LIMIT != (3, 4)
    assert LIMIT != 7


@each_value
def test_equal_values_have_one_hash(value):
    assert hash(type(value)(**fields_of(value))) == hash(value)


def test_the_repr_of_a_limit_is_the_call_that_makes_it():
    assert repr(LIMIT) == "HeadTailLimit(head=3, tail=4)"


def test_the_repr_of_a_notice_is_the_call_that_makes_it():
    text = (
        "RetentionNotice(scope='bash stdout', strategy='head_tail', unit='bytes', "
        "limit=HeadTailLimit(head=3, tail=4), kept=7, omitted=Omitted(kind='exact', count=5))"
    )
    assert repr(NOTICE) == text
    assert eval(text, vars(retention).copy()) == NOTICE


@each_value
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_value_can_be_pickled(value, protocol):
    assert pickle.loads(pickle.dumps(value, protocol)) == value


@each_value
def test_a_copy_is_the_value_itself(value):
    assert copy.copy(value) is value
    assert copy.deepcopy([value])[0] is value


def described(notice):
    match notice:
        case RetentionNotice(scope, "head_tail", limit=HeadTailLimit(head, tail)):
            return (scope, head, tail)
        case RetentionNotice(unit="items", omitted=Omitted("exact", count)):
            return count


@pytest.mark.parametrize(
    ("notice", "facts"),
    [(NOTICE, ("bash stdout", 3, 4)), (notice_of(Omitted("exact", 5)), 5), (notice_of(NONE), None)],
    ids=["by position", "by name", "no match"],
)
def test_notices_match_patterns_by_position_and_by_name(notice, facts):
    assert described(notice) == facts
