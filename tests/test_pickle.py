"""Pickling and copying: what is held, no more; and a state that cannot be is refused."""

import copy
import pickle
import pickletools
from itertools import product

import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st
from streams import byte_streams, item_strategies, items_of, line_strategies, line_streams, text_of

from retention import (
    ItemHead,
    ItemHeadTail,
    ItemRetainer,
    ItemTail,
    Omitted,
    PushDecision,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
)

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
WAYS = {
    **{f"protocol {n}": lambda one, n=n: pickle.loads(pickle.dumps(one, n)) for n in PROTOCOLS},
    "without C": lambda one: pickle._loads(pickle._dumps(one)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)

MORE = [b"", "é\n", b"\n\r\n", b"\x82\xac", b"x" * 9, b"one\ntwo\nthree\n" * 20]


def facts(retainer):
    """Everything that a retainer says."""
    if isinstance(retainer, ItemRetainer):
        return retainer.strategy, retainer.finish(), retainer.notice("scope"), retainer.truncated, retainer.seen
    units = ["bytes"] if reference.line_budgets(retainer.strategy) == (None, None) else ["bytes", "lines"]
    return (
        retainer.strategy,
        retainer.whole_lines,
        retainer.finish(),
        retainer.finish_bytes(),
        [retainer.notice("scope", unit=unit) for unit in units],
        retainer.truncated,
        retainer.seen_bytes,
    )


def assert_go_on_equally(one, other, chunks=MORE):
    assert one is not other
    assert type(one) is type(other)
    assert facts(one) == facts(other)
    for chunk in chunks:
        assert one.push(chunk) == other.push(chunk)
        assert facts(one) == facts(other)


# Round trips

TEXT_STRATEGIES = [
    TextHead(8),
    TextHead(8, stop="stop_when_full"),
    TextHead(8, max_lines=2),
    TextHead(8, max_lines=2, stop="stop_when_full"),
    TextHead(8, max_lines=0),
    TextTail(8),
    TextTail(8, max_lines=2),
    TextHeadTail(5, 6),
    TextHeadTail(0, 6),
    TextHeadTail(5, 0),
    TextHeadTail(0, 0),
    TextHeadTail(50, 60, head_lines=1, tail_lines=2),
    TextHeadTail(10**30, 10**30),
]
HOWS = [{}, {"count_lines": True}, {"whole_lines": True}, {"errors": "backslashreplace"}]
STREAMS = {
    "empty": b"",
    "within the budget": b"ab\nc",
    "a byte": b"\xff",
    "filled to the last byte": b"12345678",
    "the probe": b"123456789",
    "beyond": b"one\ntwo\nthree\nfour\nfive\n",
    "the head closed by lines": b"1\n2\n3\n",
    "the head closed by lines, the ring filled": b"1\n" + b"x" * 100 + b"\n2\n3\n4",
    "in the middle of a character": "ab€".encode()[:-1],
    "the head cut in the middle of a character": "1234€€€".encode(),
    "the tail cut in the middle of a character": "€€€€123".encode(),
    "the last line without a newline": b"a\nb\nc",
    "a CR at the end": b"abcdefg\r",
    "the ring wrapped often": b"0123456789" * 13 + b"end",
    "much longer": b"line\n" * 100_000,
}


@ways
@pytest.mark.parametrize("strategy", TEXT_STRATEGIES, ids=repr)
def test_text_retainers_of_every_kind_and_state_come_back_and_go_on_equally(strategy, way):
    for how, stream in product(HOWS, STREAMS.values()):
        retainer = text_of(strategy, stream, **how)
        assert_go_on_equally(way(retainer), retainer)


@ways
@pytest.mark.parametrize(
    "strategy",
    [ItemHead(3), ItemHead(3, stop="stop_when_full"), ItemTail(3), ItemHeadTail(2, 3), ItemHeadTail(0, 0), ItemHead(0)],
    ids=repr,
)
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 6, 7, 1000])
def test_item_retainers_of_every_kind_and_state_come_back_and_go_on_equally(strategy, count, way):
    retainer = items_of(strategy, range(count))
    assert_go_on_equally(way(retainer), retainer, ["more", None, 3])


@given(line_strategies, st.sampled_from(HOWS), line_streams | byte_streams, st.sampled_from(list(WAYS.values())))
def test_any_text_retainer_comes_back_and_goes_on_equally(strategy, how, stream, way):
    retainer = text_of(strategy, stream, **how)
    assert_go_on_equally(way(retainer), retainer, ["é\n", b"\n\r\n", b"x" * 9])


@settings(max_examples=200)
@given(item_strategies, st.lists(st.integers(), max_size=40), st.sampled_from(list(WAYS.values())))
def test_any_item_retainer_comes_back_and_goes_on_equally(strategy, items, way):
    retainer = items_of(strategy, items)
    assert_go_on_equally(way(retainer), retainer, range(5))


@settings(max_examples=200)
@given(line_strategies, st.sampled_from(HOWS), line_streams, st.integers(0, 40))
def test_a_pickle_in_the_middle_of_a_stream_changes_nothing(strategy, how, stream, cut):
    retainer = pickle.loads(pickle.dumps(text_of(strategy, stream[:cut], **how)))
    assert_go_on_equally(retainer, text_of(strategy, stream[:cut], **how), [stream[cut:]])


@settings(max_examples=200)
@given(line_strategies, st.sampled_from(HOWS), line_streams, line_streams)
def test_what_was_unpickled_can_be_merged_and_pickled_again(strategy, how, first, second):
    one, later = (pickle.loads(pickle.dumps(text_of(strategy, stream, **how))) for stream in (first, second))
    both = pickle.loads(pickle.dumps(one + later))
    assert_go_on_equally(both, text_of(strategy, first, second, **how), ["é\n"])


@ways
def test_a_copy_goes_its_own_way(way):
    one = text_of(TextHeadTail(3, 3), b"abcdef")
    other = way(one)
    other.push(b"other")
    assert one.finish().text == "abcdef"
    one.push(b"one")
    assert (one.finish().tail, other.finish().tail) == ("one", "her")
    one = items_of(ItemHeadTail(1, 1), "ab")
    other = way(one)
    other.push("other")
    assert one.finish().items == ["a", "b"]


def test_a_copy_shares_the_items_and_a_deep_copy_has_its_own():
    retainer = items_of(ItemHeadTail(1, 1), [["head"], ["lost"], ["tail"]])
    items = retainer.finish().items
    assert all(a is b for a, b in zip(copy.copy(retainer).finish().items, items, strict=True))
    deep = copy.deepcopy(retainer).finish().items
    assert deep == items
    assert not any(a is b for a, b in zip(deep, items, strict=True))


@ways
def test_a_retainer_among_its_own_items_is_itself_again(way):
    retainer = ItemRetainer(ItemHead(2))
    retainer.push(retainer)
    other = way(retainer)
    (item,) = other.finish().items
    assert item is (retainer if way is copy.copy else other)


def test_items_that_cannot_be_pickled_raise_what_they_raise_and_change_nothing():
    retainer = items_of(ItemHead(2), [lambda: None])
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(retainer)
    assert retainer.push("more").kept


@ways
@pytest.mark.parametrize(
    "result",
    [
        text_of(TextHeadTail(3, 3), b"a\xffbcdefgh").finish(),
        text_of(TextHead(3, max_lines=1, stop="stop_when_full"), b"a\nb\nc").finish(),
        text_of(TextTail(3), b"").finish(),
        text_of(TextHeadTail(3, 3), b"a\xffbcdefgh").finish_bytes(),
        items_of(ItemHeadTail(1, 1), "abc").finish(),
        text_of(TextHeadTail(3, 3), b"abcdefgh").notice("scope"),
        text_of(TextHeadTail(3, 3, head_lines=1), b"a\nb\nc").notice("scope", unit="lines"),
        TextHeadTail(3, 4, tail_lines=5),
        PushDecision(kept=False, truncated=True, should_stop=True),
        Omitted("at_least", 3),
        Omitted("unknown"),
    ],
    ids=repr,
)
def test_results_come_back_equal(result, way):
    other = way(result)
    assert (other, type(other), repr(other)) == (result, type(result), repr(result))


# Compact


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize(
    ("strategy", "held"),
    [
        (TextHead(1000), 1000),
        (TextTail(1000), 1000),
        (TextHeadTail(1000, 500), 1500),
        (TextHeadTail(1000, 500, head_lines=10, tail_lines=20), 566),
        (TextHead(0), 0),
        (TextHead(10**12, max_lines=100), 600),
    ],
    ids=repr,
)
def test_a_pickle_has_what_is_held_and_a_small_constant(strategy, held, protocol):
    for lines in (10_000, 1_000_000):
        pickled = pickle.dumps(text_of(strategy, b"12345\n" * lines), protocol)
        assert held <= len(pickled) <= held + 300


@pytest.mark.parametrize("strategy", [TextHead(10**12), TextTail(10**12), TextHeadTail(10**30, 10**30)], ids=repr)
def test_a_pickle_of_a_short_stream_has_nothing_of_a_large_budget(strategy):
    assert len(pickle.dumps(text_of(strategy, b"x" * 100))) <= 100 + 300
    assert len(pickle.dumps(TextRetainer(strategy))) <= 300


def test_a_pickle_of_items_has_the_kept_ones_alone():
    pickled = pickle.dumps(items_of(ItemHeadTail(10, 10), [f"item {number:09}" for number in range(100_000)]))
    assert len(pickled) <= 20 * 20 + 300
    assert b"item 000000009" in pickled
    assert b"item 000000010" not in pickled
    assert b"item 000099990" in pickled


def test_equal_streams_have_equal_pickles_however_they_were_pushed():
    strategy = TextHeadTail(8, 8, tail_lines=3)
    one = text_of(strategy, *["é\n"] * 20)
    other = text_of(strategy, "é\n".encode() * 7) + text_of(strategy, "é\n".encode() * 13)
    assert pickletools.optimize(pickle.dumps(one)) == pickletools.optimize(pickle.dumps(other))


# Versions


@pytest.mark.parametrize("retainer", [text_of(TextHead(3), b"abcdef"), items_of(ItemHead(3), "abcdef")], ids=repr)
@pytest.mark.parametrize("version", [0, 2, -1, 10**30])
def test_a_state_of_another_version_is_refused_by_that_name(retainer, version):
    make, args, state = retainer.__reduce__()
    for other in ((version, *state[1:]), (version, "and fields", "that nobody knows yet"), (version,)):
        with pytest.raises(ValueError, match="version"):
            make(*args).__setstate__(other)


def test_a_pickle_of_a_later_version_is_refused_when_it_is_loaded():
    class Later:
        def __init__(self, retainer):
            self.retainer = retainer

        def __reduce__(self):
            make, args, state = self.retainer.__reduce__()
            return make, args, (2, *state[1:], "something new")

    for retainer in (text_of(TextHead(3), b"abcdef"), items_of(ItemHead(3), "abcdef")):
        with pytest.raises(ValueError, match="version"):
            pickle.loads(pickle.dumps(Later(retainer)))


# Damage


def behaves_like_a_valid_one(retainer):
    """Everything that can be asked of a retainer answers, and agrees with itself."""
    assert facts(copy.copy(retainer)) == facts(retainer)
    for chunk in ["", "é\n", b"\n\r\n", b"x" * 9, b"one\ntwo\nthree\n" * 20]:
        if isinstance(retainer, ItemRetainer):
            result = retainer.finish()
            assert result.kept + result.omitted.count == result.seen == retainer.seen
        else:
            result, raw = retainer.finish(), retainer.finish_bytes()
            assert len(raw.head) + len(raw.tail) + raw.omitted_bytes.count == raw.seen_bytes == retainer.seen_bytes
            assert result.seen_bytes >= result.omitted_bytes.count >= raw.omitted_bytes.count
            assert result.seen_lines is None or result.seen_lines >= result.omitted_lines.count
        assert result.truncated == retainer.truncated
        assert retainer.notice("scope").omitted == (
            result.omitted if isinstance(retainer, ItemRetainer) else result.omitted_bytes
        )
        assert retainer.push(chunk).truncated == retainer.truncated
    retainer.merge(retainer)
    retainer.finish()


def refused(make, args, state, error=ValueError):
    fresh = make(*args)
    with pytest.raises(error) as raised:
        fresh.__setstate__(state)
    assert len(str(raised.value)) > 20
    assert not fresh.truncated
    assert (fresh.seen if make is ItemRetainer else fresh.seen_bytes) == 0
    return str(raised.value)


WRONG = [
    None,
    True,
    0,
    -1,
    3.0,
    2**63,
    2**64,
    10**30,
    "text",
    "\ud800",
    b"bytes",
    bytearray(b"bytes"),
    (),
    [],
    ["a"],
    {},
    object(),
    TextHead(3),
    type("Int", (int,), {})(5),
    type("Str", (str,), {})("replace"),
    type("Bytes", (bytes,), {})(b"abcdef"),
    type("List", (list,), {})("abc"),
]
RETAINERS = [
    text_of(TextHeadTail(3, 3), b"abcdefghijklmnopqrst"),
    text_of(TextHeadTail(3, 3), b"a\nb\nc\nd\ne\nf\ng\nh\ni\nj", count_lines=True),
    text_of(TextHeadTail(9, 9, head_lines=1, tail_lines=1), b"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n"),
    text_of(TextHead(3), b"ab"),
    text_of(TextTail(3), b"abcdefghij"),
    items_of(ItemHeadTail(2, 3), "abcdefghij"),
]


@pytest.mark.parametrize("retainer", RETAINERS, ids=repr)
@pytest.mark.parametrize("state", [*WRONG[:-1], (None,), ("1",), (True,), (1.0,)], ids=repr)
def test_what_is_no_state_is_refused(retainer, state):
    make, args, _ = retainer.__reduce__()
    assert "state" in refused(make, args, state)


@pytest.mark.parametrize("retainer", RETAINERS, ids=repr)
def test_a_state_with_a_field_more_or_less_is_refused(retainer):
    make, args, state = retainer.__reduce__()
    for other in [state[:length] for length in range(len(state))] + [(*state, 0), (*state, *state[1:])]:
        refused(make, args, other)


@pytest.mark.parametrize("retainer", RETAINERS, ids=repr)
def test_every_field_of_another_kind_is_refused(retainer):
    make, args, state = retainer.__reduce__()
    for at, wrong in product(range(len(state)), WRONG):
        if type(wrong) is not type(state[at]):
            refused(make, args, (*state[:at], wrong, *state[at + 1 :]))


@pytest.mark.parametrize("retainer", RETAINERS, ids=repr)
def test_held_parts_of_one_too_few_or_too_many_are_refused(retainer):
    make, args, state = retainer.__reduce__()
    for at in (len(state) - 2, len(state) - 1):
        one = b"x" if isinstance(state[at], bytes) else ["x"]
        for part in [state[at] + one, *([state[at][:-1]] if state[at] else [])]:
            refused(make, args, (*state[:at], part, *state[at + 1 :]))


@pytest.mark.parametrize("retainer", RETAINERS, ids=repr)
def test_a_length_below_what_is_held_or_beyond_all_counting_is_refused(retainer):
    make, args, state = retainer.__reduce__()
    at = 4 if isinstance(retainer, TextRetainer) else 1
    held = len(state[-2]) + len(state[-1])
    for seen in (-1, -(2**64), 0, 1, held - 1, 2**64, 2**64 + state[at], 10**30):
        refused(make, args, (*state[:at], seen, *state[at + 1 :]))


def test_a_length_that_says_other_than_what_is_held_is_refused():
    make, args, state = text_of(TextHead(10), b"abc").__reduce__()
    for seen in (2, 4, 10, 11, 1000):
        refused(make, args, (*state[:4], seen, *state[5:]))


def test_a_length_is_taken_up_to_that_which_no_push_could_wrap():
    for retainer in (text_of(TextTail(3), b"abcdefghij"), items_of(ItemHeadTail(2, 3), "abcdefghij")):
        make, args, state = retainer.__reduce__()
        held = [field if field != 10 or type(field) is not int else 3 << 62 for field in state]
        whole = make(*args)
        whole.__setstate__(tuple(held))
        assert whole.__reduce__()[2] == tuple(held)
        refused(make, args, tuple((3 << 62) + 1 if field == 3 << 62 else field for field in held))


@pytest.mark.parametrize("newlines", [-1, 0, 1, 2])
def test_newlines_fewer_than_those_of_the_head_are_refused(newlines):
    # Whether the rest ends with one is known, and nothing else of it.
    for end in (b"j", b"j\n"):
        make, args, state = text_of(TextHead(3), b"a\nb\nc\nd\ne\nf\ng\nh\ni\n" + end, count_lines=True).__reduce__()
        assert (state[-2], state[-1]) == (b"a\nb\nc\n", b"")
        refused(make, args, (*state[:5], newlines, *state[6:]))
        refused(make, args, (*state[:5], 3 + state[6] - 1, *state[6:]))


@pytest.mark.parametrize("newlines", [-1, 0, 1, 5, 2**63, 10**30])
def test_newlines_fewer_than_those_held_or_more_than_there_is_room_for_are_refused(newlines):
    # 20 bytes: 6 of the head, 6 of the tail, and 8 between; 6 newlines are held.
    make, args, state = text_of(TextHeadTail(3, 3), b"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", count_lines=True).__reduce__()
    assert state[4:6] == (20, 10)
    refused(make, args, (*state[:5], newlines, *state[6:]))


@pytest.mark.parametrize("newlines", [15, 16, 20, 21])
def test_newlines_for_which_the_bytes_between_have_no_room_are_refused(newlines):
    make, args, state = text_of(TextHeadTail(3, 3), b"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", count_lines=True).__reduce__()
    refused(make, args, (*state[:5], newlines, *state[6:]))


def test_an_end_of_line_that_the_tail_contradicts_is_refused():
    for stream in (b"a\nb\n", b"a\nb", b"", b"a\nb\n" * 100, b"a\nb" * 100):
        make, args, state = text_of(TextTail(3), stream, count_lines=True).__reduce__()
        refused(make, args, (*state[:6], not state[6], *state[7:]))


def test_an_end_of_line_for_which_no_newline_is_left_is_refused():
    # Nothing of the end is held; ten bytes of which none is a newline cannot end with one, nor ten newlines without.
    make, args, state = text_of(TextHead(0), b"x" * 10, count_lines=True).__reduce__()
    refused(make, args, (*state[:6], True, *state[7:]))
    make, args, state = text_of(TextHead(0), b"\n" * 10, count_lines=True).__reduce__()
    refused(make, args, (*state[:6], False, *state[7:]))


def test_lines_in_a_state_that_counts_none_are_refused():
    make, args, state = text_of(TextHead(3), b"a\nb\n").__reduce__()
    refused(make, args, (*state[:5], 2, *state[6:]))
    refused(make, args, (*state[:6], False, *state[7:]))


def test_a_head_that_goes_on_after_the_lines_that_closed_it_is_refused():
    # 3 bytes more are held, to see whether the cut divides a character.
    make, args, state = text_of(TextHead(100, max_lines=1), b"a\nb\nc\nd\ne\n").__reduce__()
    assert state[7:] == (b"a\nb\nc", b"")
    for head in (b"a\nb\nc\n", b"a\nb\nc\nd\ne\n", b"a\nb\n"):
        refused(make, args, (*state[:7], head, b""))


def test_an_error_handler_that_is_not_registered_is_a_lookup_error_as_in_the_constructor():
    make, args, state = text_of(TextHead(3), b"abc").__reduce__()
    for errors in ("", "nonsense", "\ud800", "a\0b", "x" * 10_000):
        assert "errors must name" in refused(make, args, (1, errors, *state[2:]), LookupError)


def test_a_refused_state_leaves_the_settings_as_they_were():
    _, _, state = text_of(TextHead(3), b"abcdef", errors="ignore", whole_lines=True).__reduce__()
    fresh = TextRetainer(TextHead(3))
    with pytest.raises(ValueError, match="damaged"):
        fresh.__setstate__((*state[:7], b"a", b""))
    assert not fresh.whole_lines
    fresh.push(b"\xff")
    assert fresh.finish() == text_of(TextHead(3), b"\xff").finish()


def test_a_used_retainer_takes_no_state():
    for retainer in (text_of(TextHead(3), b"a"), items_of(ItemHead(3), "a")):
        _, _, state = retainer.__reduce__()
        before = facts(retainer)
        with pytest.raises(ValueError, match="fresh"):
            retainer.__setstate__(state)
        assert facts(retainer) == before


def test_a_state_belongs_to_its_strategy():
    _, _, state = text_of(TextHead(3), b"abcdefghij").__reduce__()
    for strategy in (TextHead(4), TextTail(3), TextHeadTail(3, 1), TextHeadTail(0, 3)):
        refused(TextRetainer, (strategy,), state)
    _, _, state = items_of(ItemHead(3), range(10)).__reduce__()
    for strategy in (ItemHead(4), ItemTail(3), ItemHeadTail(3, 1)):
        refused(ItemRetainer, (strategy,), state)


def test_a_taken_state_is_not_referenced():
    for retainer in (text_of(TextHead(3), b"ab"), items_of(ItemHead(3), "ab")):
        make, args, state = retainer.__reduce__()
        other = make(*args)
        other.__setstate__(state)
        other.push("c")
        if isinstance(retainer, ItemRetainer):
            state[-2].append("changed")
        assert "".join(getattr(other.finish(), "items", None) or other.finish().text) == "abc"
        assert facts(retainer)[-1] == 2


numbers = st.integers(-2, 40) | st.sampled_from([2**31, 2**61, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30])
small_bytes = st.lists(st.sampled_from([b"a", b"\n", b"\r", "é".encode(), b"\xe2"]), max_size=14).map(b"".join)
texts = st.tuples(
    st.just(1), st.sampled_from(["replace", "ignore"]), st.booleans(), st.booleans(),
    numbers, numbers, st.booleans(), small_bytes, small_bytes,
)  # fmt: skip


def either_refused_or_valid(make, args, state):
    retainer = make(*args)
    try:
        retainer.__setstate__(state)
    except (ValueError, TypeError, LookupError):
        return
    try:
        behaves_like_a_valid_one(retainer)
    except OverflowError:
        assert state[1 if make is ItemRetainer else 4] > 2**61


@given(line_strategies, st.sampled_from(HOWS), line_streams | byte_streams, st.data())
def test_a_mutated_text_state_is_refused_or_is_one_of_a_valid_retainer(strategy, how, stream, data):
    make, args, state = text_of(strategy, stream, **how).__reduce__()
    state = list(state)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(state) - 1))
        old = state[at]
        kinds = [numbers, st.booleans(), small_bytes, st.sampled_from(WRONG)]
        if type(old) is int:
            kinds = [st.integers(-4, 4).map(lambda by, old=old: old + by), numbers, *kinds]
        elif type(old) is bytes:
            kinds = [
                st.integers(0, len(old)).map(lambda cut, old=old: old[:cut]),
                st.integers(0, len(old)).map(lambda cut, old=old: old[cut:]),
                st.permutations(old).map(bytes),
                small_bytes.map(lambda more, old=old: old + more),
                *kinds,
            ]
        state[at] = data.draw(st.one_of(kinds))
    either_refused_or_valid(make, args, tuple(state))


@given(line_strategies, texts)
@example(TextHead(2, max_lines=1), (1, "replace", False, False, 40, 1, False, b"\nab", b""))
def test_a_made_up_text_state_is_refused_or_is_one_of_a_valid_retainer(strategy, state):
    either_refused_or_valid(TextRetainer, (strategy,), state)


@given(line_strategies, texts, st.integers(0, 3), st.integers(0, 20))
def test_a_made_up_state_of_the_right_lengths_is_refused_or_is_one_of_a_valid_retainer(strategy, state, ends, between):
    # Lengths that pass, so that what is inside them is looked at.
    head, tail = reference.budgets(strategy)
    first = (state[7] * 20)[: min(head + 3, 60) if head else 0]
    last = (state[8] * 20)[: min(tail + 3, 60) if tail else 0]
    known = (first + last).count(b"\n")
    seen = len(first) + len(last) + between
    newlines = known + ends if state[3] else 0
    either_refused_or_valid(TextRetainer, (strategy,), (*state[:4], seen, newlines, state[6], first, last))


@settings(max_examples=300)
@given(item_strategies, st.lists(st.integers(), max_size=30), st.data())
def test_a_mutated_item_state_is_refused_or_is_one_of_a_valid_retainer(strategy, items, data):
    make, args, state = items_of(strategy, items).__reduce__()
    state = list(state)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(state) - 1))
        state[at] = data.draw(numbers | st.lists(st.integers(), max_size=15) | st.sampled_from(WRONG))
    either_refused_or_valid(make, args, tuple(state))


@pytest.mark.parametrize("retainer", RETAINERS, ids=repr)
def test_a_pickle_with_a_damaged_bit_raises_or_is_one_of_a_valid_retainer(retainer):
    # What a damaged pickle does is the pickle module's matter, but no crash may come of it.
    pickled = pickle.dumps(retainer)
    # Behind the names of classes, so that nothing else is imported and called.
    start = pickled.index(b"K\x01", pickled.index(b"rebuild"))
    for at, bit in product(range(start, len(pickled) - 1), range(8)):
        damaged = bytearray(pickled)
        damaged[at] ^= 1 << bit
        if damaged[at : at + 1] == pickle.LONG_BINPUT:
            # The unpickler itself would make room for as many objects as the next four bytes say: up to 64 GiB.
            continue
        try:
            other = pickle.loads(damaged)
        except Exception:
            continue
        if type(other) is type(retainer):
            either_refused_or_valid(*other.__reduce__())


def test_state_methods_take_one_argument():
    for retainer in (TextRetainer(TextHead(3)), ItemRetainer(ItemHead(3))):
        with pytest.raises(TypeError):
            retainer.__setstate__()
        with pytest.raises(TypeError):
            retainer.__setstate__((1,), (2,))


def test_more_than_can_be_merged_can_be_copied_where_it_was_pushed():
    whole, power = TextRetainer(TextHead(1)), text_of(TextHead(1), b"x")
    for number in range(63):
        whole.merge(power)
        if number < 62:
            power.merge(power)
    whole.push(b"y")
    assert whole.seen_bytes == 2**63
    assert copy.copy(whole).finish() == whole.finish()
    assert pickle.loads(pickle.dumps(whole)).finish() == whole.finish()


@pytest.mark.parametrize("retainer", [TextRetainer(TextTail(2)), ItemRetainer(ItemTail(2))])
def test_a_count_that_a_push_could_wrap_is_refused(retainer):
    retainer.extend(["a", "b", "c"])
    function, arguments, state = retainer.__reduce__()
    held = [field if field != 3 or type(field) is not int else 2**64 - 1 for field in state]
    assert held != list(state)
    with pytest.raises(ValueError, match="damaged"):
        function(*arguments).__setstate__(tuple(held))
