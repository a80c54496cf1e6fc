"""Merging: a stream in parts, retained apart, is the stream retained whole."""

import os
import subprocess
import sys
import textwrap
import threading
import weakref
from contextlib import suppress
from functools import partial

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import (
    byte_streams,
    chunkings,
    item_strategies,
    items_of,
    line_strategies,
    line_streams,
    text_of,
    text_strategies,
)

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

MOST = 2**63 - 1
# More than any of these takes, also on a slow and busy machine.
SOON = 60

KEPT = PushDecision(kept=True, truncated=False, should_stop=False)
OMITTED = PushDecision(kept=False, truncated=True, should_stop=False)
STOP = PushDecision(kept=False, truncated=True, should_stop=True)
EMPTY_AFTER_OMISSION = PushDecision(kept=True, truncated=True, should_stop=False)

hows = st.fixed_dictionaries(
    {
        "errors": st.sampled_from(["replace", "ignore", "backslashreplace"]),
        "whole_lines": st.booleans(),
        "count_lines": st.booleans(),
    }
)
streams = line_streams | byte_streams
item_streams = st.lists(st.integers(), max_size=40)


def merged(one, *others):
    for other in others:
        one.merge(other)
    return one


def parts(data, stream):
    """The stream in any number of parts, empty ones among them."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6), label="cuts"))
    return [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


def joined(data, retainers):
    """All of them in one, neighbours merged in any order, by either operation."""
    while len(retainers) > 1:
        at = data.draw(st.integers(0, len(retainers) - 2), label="merge at")
        one, later = retainers[at : at + 2]
        if data.draw(st.booleans(), label="by +"):
            one = one + later
        else:
            assert one.merge(later) is None
        retainers[at : at + 2] = [one]
    return retainers[0]


def facts(retainer):
    """Everything that a text retainer says."""
    units = ["bytes"] if reference.line_budgets(retainer.strategy) == (None, None) else ["bytes", "lines"]
    return (
        retainer.finish(),
        retainer.finish_bytes(),
        [retainer.notice("scope", unit=unit) for unit in units],
        retainer.truncated,
        retainer.seen_bytes,
    )


def item_facts(retainer):
    return retainer.finish(), retainer.notice("scope"), retainer.truncated, retainer.seen


def assert_go_on_equally(one, other, chunks):
    assert facts(one) == facts(other)
    for chunk in chunks:
        assert one.push(chunk) == other.push(chunk)
        assert facts(one) == facts(other)


# The laws


@given(line_strategies, hows, streams, streams.flatmap(chunkings), st.data())
def test_a_stream_in_parts_merged_in_any_bracketing_is_the_stream_pushed_whole(strategy, how, stream, more, data):
    whole = text_of(strategy, stream, **how)
    retainers = [text_of(strategy, part, **how) for part in parts(data, stream)]
    assert_go_on_equally(joined(data, retainers), whole, [b"", *[chunk for chunk, _ in more]])


@settings(max_examples=200)
@given(text_strategies, byte_streams, byte_streams.flatmap(chunkings), st.data())
def test_without_lines_merged_parts_are_the_stream_pushed_whole(strategy, stream, more, data):
    whole = text_of(strategy, stream)
    retainers = [text_of(strategy, part) for part in parts(data, stream)]
    assert_go_on_equally(joined(data, retainers), whole, [b"", *[chunk for chunk, _ in more]])


@settings(max_examples=200)
@given(line_strategies, hows, st.lists(streams.flatmap(chunkings), min_size=1, max_size=4), st.data())
def test_parts_of_any_chunks_merge_into_what_the_model_keeps(strategy, how, streams, data):
    retainers = [text_of(strategy, *[chunk for chunk, _ in chunks], **how) for chunks in streams]
    stream = b"".join(part for chunks in streams for _, part in chunks)
    whole = joined(data, retainers)
    assert whole.finish() == reference.text(strategy, stream, **how)
    assert whole.finish_bytes() == reference.raw(strategy, stream)


@settings(max_examples=200)
@given(line_strategies, hows, st.lists(streams, max_size=4), st.sampled_from([40, 300]), st.data())
def test_long_parts_merged_are_the_stream_pushed_whole(strategy, how, streams, repeats, data):
    # Much longer than most budgets: what lies between the ends of a part is only counted.
    pieces = [b"", *[part * repeats for part in streams]]
    whole = text_of(strategy, b"".join(pieces), **how)
    assert_go_on_equally(joined(data, [text_of(strategy, part, **how) for part in pieces]), whole, ["é\n", b"\n\r\n"])


@settings(max_examples=200)
@given(line_strategies, hows, streams, streams, streams)
def test_merging_is_associative(strategy, how, first, second, third):
    a, b, c = (text_of(strategy, stream, **how) for stream in (first, second, third))
    assert_go_on_equally((a + b) + c, a + (b + c), ["é\n", b"\n\r\n", b"x" * 9])


@settings(max_examples=200)
@given(line_strategies, hows, streams)
def test_an_empty_retainer_changes_nothing_on_either_side(strategy, how, stream):
    more = ["é\n", b"\n\r\n", b"x" * 9]
    empty = TextRetainer(strategy, **how)
    assert_go_on_equally(empty + text_of(strategy, stream, **how), text_of(strategy, stream, **how), more)
    assert_go_on_equally(text_of(strategy, stream, **how) + empty, text_of(strategy, stream, **how), more)
    assert_go_on_equally(empty, TextRetainer(strategy, **how), more)


@settings(max_examples=200)
@given(line_strategies, hows, streams)
def test_a_retainer_merged_with_itself_has_its_stream_twice(strategy, how, stream):
    retainer = text_of(strategy, stream, **how)
    retainer.merge(retainer)
    assert_go_on_equally(retainer, text_of(strategy, stream, stream, **how), ["é\n", b"\n\r\n", b"x" * 9])


@settings(max_examples=200)
@given(line_strategies, hows, streams, streams)
def test_merge_leaves_the_later_one_as_it_was(strategy, how, first, second):
    later = text_of(strategy, second, **how)
    text_of(strategy, first, **how).merge(later)
    assert_go_on_equally(later, text_of(strategy, second, **how), ["é\n", b"\n\r\n", b"x" * 9])


@settings(max_examples=200)
@given(line_strategies, hows, streams, streams)
def test_plus_leaves_both_as_they_were(strategy, how, first, second):
    one, later = text_of(strategy, first, **how), text_of(strategy, second, **how)
    both = one + later
    both.push(b"more\n")
    assert_go_on_equally(one, text_of(strategy, first, **how), ["é\n", b"x" * 9])
    assert_go_on_equally(later, text_of(strategy, second, **how), ["é\n", b"x" * 9])
    assert_go_on_equally(both, text_of(strategy, first, second, b"more\n", **how), ["é\n", b"x" * 9])


@given(item_strategies, item_streams, item_streams, st.data())
def test_items_in_parts_merged_in_any_bracketing_are_the_items_pushed_whole(strategy, stream, more, data):
    whole = items_of(strategy, stream)
    both = joined(data, [items_of(strategy, part) for part in parts(data, stream)])
    assert item_facts(both) == item_facts(whole)
    for item in more:
        assert both.push(item) == whole.push(item)
        assert item_facts(both) == item_facts(whole)


@settings(max_examples=200)
@given(item_strategies, item_streams, item_streams, item_streams)
def test_merging_items_is_associative_and_leaves_the_parts_as_they_were(strategy, first, second, third):
    a, b, c = (items_of(strategy, stream) for stream in (first, second, third))
    assert item_facts((a + b) + c) == item_facts(a + (b + c)) == item_facts(items_of(strategy, first + second + third))
    for retainer, stream in zip((a, b, c), (first, second, third), strict=True):
        assert item_facts(retainer) == item_facts(items_of(strategy, stream))


@settings(max_examples=200)
@given(item_strategies, item_streams)
def test_an_empty_item_retainer_changes_nothing_and_itself_doubles(strategy, stream):
    empty, full = ItemRetainer(strategy), items_of(strategy, stream)
    assert item_facts(empty + full) == item_facts(full + empty) == item_facts(items_of(strategy, stream))
    full.merge(full)
    assert item_facts(full) == item_facts(items_of(strategy, stream + stream))


# What lies between two parts


@pytest.mark.parametrize("character", ["é", "€", "😀"])
@pytest.mark.parametrize("by", [1, 2, 3])
def test_a_character_divided_between_two_parts_is_kept_whole_within_the_budget(character, by):
    data = b"a" + character.encode() + b"b"
    whole = text_of(TextHead(10), data[: 1 + by]) + text_of(TextHead(10), data[1 + by :])
    assert whole.finish().text == f"a{character}b"


def test_a_character_divided_between_two_parts_at_the_head_cut_is_omitted_whole():
    # The cut after 4 bytes would divide the €; its last byte is in the second part.
    strategy = TextHead(4)
    one, later = text_of(strategy, b"ab\xe2\x82"), text_of(strategy, b"\xacdef")
    assert one.finish().head == "ab\ufffd"  # within the budget, and broken off by the end
    result = (one + later).finish()
    assert (result.head, result.omitted_bytes) == ("ab", Omitted("exact", 6))


def test_a_character_that_the_second_part_does_not_complete_is_malformed_and_stays():
    strategy = TextHead(4)
    whole = text_of(strategy, b"ab\xe2\x82") + text_of(strategy, b"zdef")
    assert whole.finish().head == "ab\ufffd"
    assert whole.finish_bytes().head == b"ab\xe2\x82"


def test_a_character_divided_between_two_parts_at_the_tail_cut_is_omitted_whole():
    strategy = TextTail(4)
    one, later = text_of(strategy, b"abc\xe2"), text_of(strategy, b"\x82\xacde")
    assert later.finish().tail == "\ufffd\ufffdde"  # stray bytes, as far as this part knows
    result = (one + later).finish()
    assert (result.tail, result.omitted_bytes) == ("de", Omitted("exact", 6))


def test_a_character_in_three_parts_with_an_empty_one_among_them():
    strategy = TextHeadTail(3, 3)
    pieces = [b"ab\xf0", b"", b"\x9f\x98", b"\x80cd"]
    result = merged(*[text_of(strategy, piece) for piece in pieces]).finish()
    assert (result.head, result.tail, result.omitted_bytes) == ("ab", "cd", Omitted("exact", 4))


def test_the_bytes_behind_a_cut_that_the_first_part_did_not_have_come_from_the_second():
    # All of the first part is head; whether the cut at its end divides a character, only the second part knows.
    strategy = TextHeadTail(3, 1)
    result = merged(text_of(strategy, b"a\xe2\x82"), text_of(strategy, b"\xac"), text_of(strategy, b"xyz")).finish()
    assert (result.head, result.tail, result.omitted_bytes) == ("a", "z", Omitted("exact", 5))


def test_a_line_budget_of_the_head_is_met_in_the_second_part():
    strategy = TextHeadTail(100, 100, head_lines=3, tail_lines=1)
    whole = text_of(strategy, b"1\n2\n") + text_of(strategy, b"3\n4\n5\n6\n")
    result = whole.finish()
    assert (result.head, result.tail) == ("1\n2\n3\n", "6\n")
    assert (result.seen_lines, result.omitted_lines) == (6, Omitted("exact", 2))


def test_a_line_budget_met_in_a_line_that_both_parts_have_ends_with_that_line():
    strategy = TextHead(100, max_lines=2)
    whole = text_of(strategy, b"1\n2") + text_of(strategy, b"2\n3\n")
    assert whole.finish().head == "1\n22\n"
    assert whole.finish().omitted_lines == Omitted("exact", 1)


def test_a_line_budget_that_the_second_part_alone_would_meet_later_is_met_by_both():
    # The second part alone has room for two lines, and holds more than the merged head may have.
    strategy = TextHeadTail(100, 4, head_lines=2)
    whole = text_of(strategy, b"1\n") + text_of(strategy, b"2\n3\n" + b"x" * 1000 + b"\nend\n")
    result = whole.finish()
    assert (result.head, result.tail) == ("1\n2\n", "end\n")
    assert (result.omitted_bytes, result.omitted_lines) == (Omitted("exact", 1003), Omitted("exact", 2))


def test_a_byte_budget_met_before_the_line_budget_of_the_second_part():
    strategy = TextHead(5, max_lines=2)
    whole = text_of(strategy, b"abc") + text_of(strategy, b"d\ne\nf\n")
    result = whole.finish()
    assert (result.head, result.omitted_bytes) == ("abcd\n", Omitted("exact", 4))


def test_the_tail_of_lines_reaches_back_into_the_first_part():
    strategy = TextTail(100, max_lines=3)
    whole = text_of(strategy, b"1\n2\n3") + text_of(strategy, b"3\n4\n")
    result = whole.finish()
    assert (result.tail, result.seen_lines, result.omitted_lines) == ("2\n33\n4\n", 4, Omitted("exact", 1))


def test_a_last_line_without_a_newline_goes_on_in_the_next_part():
    strategy = TextHead(0)
    one, later = text_of(strategy, b"a\nb", count_lines=True), text_of(strategy, b"c\nd", count_lines=True)
    assert (one.finish().seen_lines, later.finish().seen_lines) == (2, 2)
    assert (one + later).finish().seen_lines == 3


def test_lines_between_the_ends_of_a_part_are_counted():
    strategy = TextHeadTail(2, 2)
    parts = [text_of(strategy, b"x\n" * 1000, count_lines=True) for _ in range(5)]
    result = merged(*parts).finish()
    assert (result.seen_lines, result.omitted_lines) == (5000, Omitted("exact", 4998))


def test_whole_lines_does_not_divide_a_cr_lf_between_two_parts_at_the_head_cut():
    strategy = TextHead(4)
    whole = text_of(strategy, b"abc\r", whole_lines=True) + text_of(strategy, b"\ndef", whole_lines=True)
    assert whole.finish().head == "abc"


def test_whole_lines_does_not_divide_a_cr_lf_between_two_parts_at_the_tail_cut():
    strategy = TextTail(4)
    whole = text_of(strategy, b"abc\r", whole_lines=True) + text_of(strategy, b"\ndef", whole_lines=True)
    assert whole.finish().tail == "def"


def test_whole_lines_moves_the_cut_to_a_border_between_the_parts():
    strategy = TextHeadTail(5, 5)
    whole = text_of(strategy, b"abc\n", whole_lines=True) + text_of(strategy, b"defgh\nijk\n", whole_lines=True)
    result = whole.finish()
    assert (result.head, result.tail, result.omitted_lines) == ("abc\n", "ijk\n", Omitted("exact", 1))


# Early stop


def test_an_early_stop_between_the_parts_counts_at_least():
    strategy = TextHead(4, stop="stop_when_full")
    one, later = text_of(strategy, b"abc"), text_of(strategy, b"def")
    assert not one.truncated
    assert not later.truncated
    one.merge(later)
    assert one.finish().omitted_bytes == Omitted("at_least", 2)
    assert (one.push(b""), one.push(b"g")) == (EMPTY_AFTER_OMISSION, STOP)


def test_a_budget_filled_to_the_last_byte_by_two_parts_does_not_stop():
    strategy = TextHead(4, stop="stop_when_full")
    whole = text_of(strategy, b"ab") + text_of(strategy, b"cd")
    assert whole.finish().omitted_bytes == Omitted("none")
    assert (whole.push(b""), whole.push(b"e")) == (KEPT, STOP)


def test_a_line_budget_stops_early_in_the_second_part():
    strategy = TextHead(100, max_lines=2, stop="stop_when_full")
    whole = text_of(strategy, b"1\n") + text_of(strategy, b"2\n3")
    result = whole.finish()
    assert (result.head, result.omitted_bytes, result.omitted_lines) == (
        "1\n2\n",
        Omitted("at_least", 1),
        Omitted("at_least", 1),
    )


def test_items_stop_early_between_the_parts():
    strategy = ItemHead(3, stop="stop_when_full")
    whole = items_of(strategy, "ab") + items_of(strategy, "cd")
    assert whole.finish().omitted == Omitted("at_least", 1)
    assert whole.push("e") == STOP


# What cannot be merged


@pytest.mark.parametrize(
    ("strategy", "how"),
    [
        (TextHead(4), {}),
        (TextTail(3), {}),
        (TextHeadTail(3, 0), {}),
        (TextHead(3, max_lines=1), {}),
        (TextHead(3, stop="stop_when_full"), {}),
        (TextHead(3), {"errors": "ignore"}),
        (TextHead(3), {"whole_lines": True}),
        (TextHead(3), {"whole_lines": True, "count_lines": True}),
        (TextHead(3), {"count_lines": True}),
    ],
    ids=str,
)
def test_retainers_that_differ_in_a_setting_are_refused_and_stay_as_they_were(strategy, how):
    one, other = text_of(TextHead(3), b"ab"), text_of(strategy, b"cd", **how)
    before = facts(one), facts(other)
    for first, second in [(one, other), (other, one)]:
        with pytest.raises(ValueError, match="equal"):
            first.merge(second)
        with pytest.raises(ValueError, match="equal"):
            first + second
    assert (facts(one), facts(other)) == before


def test_empty_retainers_that_differ_are_refused_too():
    with pytest.raises(ValueError, match="equal"):
        TextRetainer(TextHead(3)).merge(TextRetainer(TextHead(4)))
    with pytest.raises(ValueError, match="equal"):
        ItemRetainer(ItemHead(3)).merge(ItemRetainer(ItemHead(4)))


def test_counting_lines_that_the_strategy_counts_anyway_is_no_difference():
    strategy = TextHead(3, max_lines=1)
    whole = text_of(strategy, b"a\n", count_lines=True) + text_of(strategy, b"b\n")
    assert whole.finish().seen_lines == 2


@pytest.mark.parametrize("strategy", [ItemHead(4), ItemTail(3), ItemHeadTail(3, 0), ItemHead(3, stop="stop_when_full")])
def test_item_retainers_of_other_strategies_are_refused_and_stay_as_they_were(strategy):
    one, other = items_of(ItemHead(3), "ab"), items_of(strategy, "cd")
    before = item_facts(one), item_facts(other)
    for first, second in [(one, other), (other, one)]:
        with pytest.raises(ValueError, match="equal"):
            first.merge(second)
        with pytest.raises(ValueError, match="equal"):
            first + second
    assert (item_facts(one), item_facts(other)) == before


@pytest.mark.parametrize("retainer", [text_of(TextHead(3), b"ab"), items_of(ItemHead(3), "ab")], ids=["text", "items"])
@pytest.mark.parametrize("other", [None, 0, "cd", b"cd", ["cd"], object(), "its result", "of the other kind"], ids=repr)
def test_what_is_no_retainer_of_the_kind_is_a_type_error(retainer, other):
    if other == "its result":
        other = retainer.finish()
    elif other == "of the other kind":
        other = TextRetainer(TextHead(3)) if isinstance(retainer, ItemRetainer) else ItemRetainer(ItemHead(3))
    before = retainer.finish()
    with pytest.raises(TypeError, match="later must be"):
        retainer.merge(other)
    with pytest.raises(TypeError, match="unsupported operand"):
        retainer + other
    if not isinstance(other, str | bytes | list):  # their own + has words of its own
        with pytest.raises(TypeError, match="unsupported operand"):
            other + retainer
    assert retainer.finish() == before


def test_merge_takes_one_retainer_and_no_keyword():
    retainer = TextRetainer(TextHead(3))
    for call in (retainer.merge, lambda: retainer.merge(retainer, retainer), lambda: retainer.merge(later=retainer)):
        with pytest.raises(TypeError):
            call()


def test_the_other_operand_may_know_how_to_add():
    class Adder:
        def __radd__(self, other):
            return "added"

    assert TextRetainer(TextHead(3)) + Adder() == "added"
    assert ItemRetainer(ItemHead(3)) + Adder() == "added"


def test_sum_merges_from_an_empty_retainer_on():
    strategy = TextHeadTail(2, 2)
    parts = [text_of(strategy, part) for part in (b"ab", b"cd", b"ef")]
    assert sum(parts, TextRetainer(strategy)).finish().text == "abef"
    assert sum([items_of(ItemTail(2), "ab"), items_of(ItemTail(2), "c")], ItemRetainer(ItemTail(2))).seen == 3


def test_in_place_addition_makes_a_new_retainer():
    retainer = before = text_of(TextHead(5), b"ab")
    retainer += text_of(TextHead(5), b"cd")
    assert (retainer.finish().text, before.finish().text) == ("abcd", "ab")


# Streams too long to be counted, and too little memory


def doubled(retainer, times):
    for _ in range(times):
        retainer.merge(retainer)
    return retainer


@pytest.mark.parametrize("how", [{}, {"count_lines": True}])
def test_doubling_counts_exactly_up_to_2_to_the_63(how):
    retainer = doubled(text_of(TextHeadTail(3, 3), b"a\n", **how), 61)
    result = retainer.finish()
    assert (result.seen_bytes, result.omitted_bytes) == (2**62, Omitted("exact", 2**62 - 6))
    assert (result.head, result.tail) == ("a\na", "\na\n")
    if how:
        assert (result.seen_lines, result.omitted_lines) == (2**61, Omitted("exact", 2**61 - 4))


def test_a_stream_of_2_to_the_63_bytes_is_an_overflow_and_both_stay_as_they_were():
    one, other = (doubled(text_of(TextHeadTail(3, 3), b"ab"), 61) for _ in range(2))
    before = facts(one)
    for first, second in [(one, one), (one, other)]:
        with pytest.raises(OverflowError, match=r"2\*\*63"):
            first.merge(second)
        with pytest.raises(OverflowError, match=r"2\*\*63"):
            first + second
    assert facts(one) == facts(other) == before


@pytest.mark.parametrize(
    ("make", "seen"),
    [
        (partial(text_of, TextHead(1)), TextRetainer.seen_bytes.__get__),
        (partial(items_of, ItemHead(1)), ItemRetainer.seen.__get__),
    ],
    ids=["text", "items"],
)
def test_a_stream_of_one_less_can_be_counted(make, seen):
    # 2**63 - 1 is the sum of all smaller powers.
    whole, power = make(b""), make(b"x")
    for _ in range(63):
        whole.merge(power)
        with suppress(OverflowError):
            power.merge(power)
    assert seen(whole) == MOST
    with pytest.raises(OverflowError):
        whole.merge(make(b"x"))
    assert seen(whole) == MOST
    whole.merge(make(b""))
    assert (whole + make(b"")).finish() == whole.finish()


def test_a_stream_of_2_to_the_63_items_is_an_overflow_and_both_stay_as_they_were():
    one, other = (doubled(items_of(ItemHeadTail(2, 2), "ab"), 61) for _ in range(2))
    assert one.finish().items == ["a", "b", "a", "b"]
    assert one.seen == 2**62
    before = item_facts(one)
    for first, second in [(one, one), (one, other)]:
        with pytest.raises(OverflowError, match=r"2\*\*63"):
            first.merge(second)
        with pytest.raises(OverflowError, match=r"2\*\*63"):
            first + second
    assert item_facts(one) == item_facts(other) == before


def run(program):
    """Runs a program in a fresh interpreter, which checks and says nothing."""
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=SOON,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limit does not hold")
@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="the sanitizer needs all of the address space")
@pytest.mark.parametrize("copied", [False, True])
def test_without_memory_both_stay_as_they_were(copied):
    # No room for the copy of what the later one holds, or for that copy but not for what it is merged into.
    run(
        f"""
        import resource
        from retention import TextRetainer, TextTail

        def used():
            return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

        one, later = TextRetainer(TextTail(200_000_000)), TextRetainer(TextTail(200_000_000))
        one.push(b"a" * 1000)
        later.push(b"b" * 60_000_000)
        before = one.finish()
        room, full = 30_000_000, []
        if {copied}:
            # What such an object takes: nothing where the interpreter has claimed the addresses for it already.
            room -= used()
            copy = bytes(60_000_000)
            room += used()
            del copy
        resource.setrlimit(resource.RLIMIT_AS, (used() + room, -1))
        while not {copied}:
            try:
                full.append(bytes(50_000_000))
            except MemoryError:
                break
        for operation in (one.merge, one.__add__):
            try:
                operation(later)
            except MemoryError:
                pass
            else:
                raise AssertionError("there was memory")
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        full.clear()
        assert one.finish() == before
        assert later.seen_bytes == 60_000_000
        assert one.push(b"c").kept
        assert one.finish().tail == "a" * 1000 + "c"
        one.merge(later)
        assert one.finish().tail == "a" * 1000 + "c" + "b" * 60_000_000
        """
    )


# Items that run code of their own


class Mortal:
    """An item that does something when it dies."""

    def __init__(self, name, last_will):
        self.name = name
        self.last_will = last_will

    def __del__(self):
        self.last_will(self)


def names(retainer):
    return [item.name if isinstance(item, Mortal) else item for item in retainer.finish().items]


def test_a_dying_item_may_look_at_the_retainer_that_is_merged_into():
    looks = []
    one = ItemRetainer(ItemTail(2))
    one.extend([Mortal(name, lambda item: looks.append((item.name, one.seen, names(one)))) for name in "abc"])
    looks.clear()  # "a" made way already
    one.merge(items_of(ItemTail(2), [1, 2, 3]))
    assert sorted(looks) == [("b", 6, [2, 3]), ("c", 6, [2, 3])]


@pytest.mark.parametrize("strategy", [ItemTail(3), ItemHeadTail(1, 3)])
@pytest.mark.parametrize("pushed", [3, 4, 5, 7])
@pytest.mark.parametrize("new", [["x"], ["x", "y"], ["x", "y", "z", "u", "v"]], ids=len)
def test_what_a_dying_item_pushes_into_the_merged_retainer_comes_last(strategy, pushed, new):
    one, late, dying = ItemRetainer(strategy), [], False

    def push_more(item):
        if dying:
            late.append(f"late {item.name}")
            one.push(late[-1])

    for name in range(pushed):
        one.push(Mortal(name, push_more))
    before = names(one)
    dying = True
    one.merge(items_of(strategy, new))
    dying = False
    stream = [*before, *new, *late]
    assert one.seen == pushed + len(new) + len(late)
    assert names(one)[-3:] == stream[-3:]


def test_a_dying_item_may_merge_into_the_retainer_that_it_leaves():
    one = ItemRetainer(ItemTail(1))
    more = items_of(ItemTail(1), "xyz")
    one.push(Mortal("a", lambda item: one.merge(more)))
    one.merge(items_of(ItemTail(1), "b"))
    assert (one.seen, names(one)) == (1 + 1 + 3, ["z"])


def test_merging_references_the_kept_items_alone():
    class Item:
        pass

    items = [Item() for _ in range(10)]
    alive = [weakref.ref(item) for item in items]
    one, later = items_of(ItemTail(2), items[:5]), items_of(ItemTail(2), items[5:])
    one.merge(later)
    del items
    assert [item() is not None for item in alive] == [False] * 8 + [True] * 2
    later = None
    assert [item() for item in alive[8:]] == one.finish().items
    one = None
    assert not any(item() for item in alive)


def test_items_are_not_compared_nor_copied():
    class Strange:
        __eq__ = __hash__ = __bool__ = __len__ = __reduce_ex__ = None

    items = [Strange() for _ in range(3)]
    both = (items_of(ItemHeadTail(1, 1), items) + items_of(ItemHeadTail(1, 1), items)).finish().items
    assert both[0] is items[0]
    assert both[1] is items[2]


# Threads


class Draining:
    """A retainer that another thread drains a pipe into, so that its lock is used."""

    def __init__(self, strategy):
        self.retainer = TextRetainer(strategy)
        self.reader, self.writer = os.pipe()
        self.thread = threading.Thread(target=self.retainer.drain, args=(self.reader,), daemon=True)

    def __enter__(self):
        self.thread.start()
        os.write(self.writer, b"0123456789")
        while self.retainer.seen_bytes < 10:
            pass
        return self

    def __exit__(self, *exc):
        os.close(self.writer)
        self.thread.join(SOON)
        os.close(self.reader)


def in_threads(*functions):
    failures = []

    def run(function):
        try:
            function()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(function,), daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []


def test_two_threads_that_merge_two_retainers_into_each_other_do_not_deadlock():
    def merge_often(one, other):
        for _ in range(2000):
            with suppress(OverflowError):
                one.merge(other)

    strategy = TextHeadTail(100, 100)
    with Draining(strategy) as a, Draining(strategy) as b:
        one, other = a.retainer, b.retainer
        in_threads(lambda: merge_often(one, other), lambda: merge_often(other, one), lambda: merge_often(one, one))
        assert one.seen_bytes % 10 == other.seen_bytes % 10 == 0
        assert one.finish_bytes().tail == other.finish_bytes().tail == b"0123456789" * 10


def test_two_threads_that_merge_item_retainers_into_each_other_do_not_deadlock():
    one, other = items_of(ItemHeadTail(3, 3), range(10)), items_of(ItemHeadTail(3, 3), range(10))

    def merge_often(one, other):
        for _ in range(2000):
            with suppress(OverflowError):
                one.merge(other)

    in_threads(lambda: merge_often(one, other), lambda: merge_often(other, one))
    assert one.finish().tail == other.finish().tail == [7, 8, 9]


def test_what_is_merged_while_it_is_drained_is_the_stream_up_to_one_moment():
    strategy = TextHeadTail(15, 15)
    pattern = b"0123456789" * 1000
    with Draining(strategy) as later:
        writer = threading.Thread(target=lambda: [os.write(later.writer, pattern) for _ in range(300)])
        writer.start()
        seen = []
        while writer.is_alive():
            copy = TextRetainer(strategy)
            copy.merge(later.retainer)
            seen.append(copy.seen_bytes)
            last = copy.seen_bytes % 10
            assert copy.finish_bytes().head == b"012345678901234"[: copy.seen_bytes]
            assert (b"0123456789" * 4)[: 30 + last].endswith(copy.finish_bytes().tail)
        writer.join()
    assert seen == sorted(seen)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the collector runs between instructions alone")
@pytest.mark.parametrize("operation", ["TextRetainer(strategy).merge(retainer)", "retainer.__reduce__()"])
def test_the_collector_may_run_finalizers_that_use_a_retainer_that_is_drained(operation):
    # Wherever it runs, no lock may be held there: the thread would wait for itself.
    run(
        f"""
        import faulthandler, gc, os, threading
        from retention import TextHeadTail, TextRetainer
        faulthandler.dump_traceback_later(50, exit=True)
        strategy = TextHeadTail(8, 8)
        retainer = TextRetainer(strategy)
        reader, writer = os.pipe()
        thread = threading.Thread(target=retainer.drain, args=(reader,))
        thread.start()
        os.write(writer, b"x" * 100)
        while retainer.seen_bytes < 100:
            pass

        class Cycle:
            def __init__(self):
                self.me = self
            def __del__(self):
                assert retainer.seen_bytes == 100

        # Tuples are made of spare ones while there are any: so many are kept here that there are none.
        keep = [tuple([number] * 5) for number in range(3000)]
        for threshold in range(1, 40):
            gc.disable()
            keep.extend([tuple([threshold] * 5) for _ in range(3)])
            gc.collect()
            Cycle()
            gc.set_threshold(threshold)
            gc.enable()
            {operation}
        gc.disable()
        os.close(writer)
        thread.join()
        os.close(reader)
        """
    )
