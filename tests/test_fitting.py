"""A text under one limit: what is kept, what the marker says of it, and that the whole never exceeds the limit."""

import itertools
import re
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from retention import Omitted, RetainedText, fit_text

DIGITS = "0123456789" * 10
KINDS = {"ASCII": "a", "Latin-1": "é", "CJK": "汉", "emoji": "😀"}
each_kind = pytest.mark.parametrize("character", KINDS.values(), ids=KINDS)


class Str(str):
    """A subclass that adds nothing."""


def size_of(text):
    return len(text.encode())


def count(result):
    # Never shorter where more is omitted.
    return f"<{result.omitted_bytes.count}>"


def growing(*lengths):
    """A marker function that answers with these lengths in turn, and the calls that it has had."""
    calls = []

    def marker(result):
        calls.append(result)
        return "#" * lengths[len(calls) - 1]

    return marker, calls


# A text that fits


@pytest.mark.parametrize("text", ["", "a", "abc\n", "é", "汉\r\n", "😀", DIGITS])
@pytest.mark.parametrize("more", [0, 1, 100, 2**63, 10**30])
@pytest.mark.parametrize("whole_lines", [False, True])
def test_a_text_that_fits_is_returned_itself(text, more, whole_lines):
    assert fit_text(text, size_of(text) + more, whole_lines=whole_lines) is text


@each_kind
def test_a_text_fits_by_its_bytes_and_not_by_its_characters(character):
    text = character * 100
    assert fit_text(text, size_of(text)) is text
    assert size_of(fit_text(text, size_of(text) - 1)) < size_of(text)


def test_a_subclass_of_str_that_fits_is_returned_itself():
    text = Str("abc")
    assert fit_text(text, 3) is text


def test_no_marker_is_asked_for_where_the_text_fits():
    marker, calls = growing()
    assert fit_text("abc", 3, marker=marker) == "abc"
    assert calls == []


# The default marker


@pytest.mark.parametrize(
    ("limit", "fitted"),
    [
        # 21 bytes of marker: 19 of words and two newlines. Of what is kept the tail has the odd byte.
        (40, "012345678\n[Omitted 81 bytes.]\n0123456789"),
        (41, "0123456789\n[Omitted 80 bytes.]\n0123456789"),
        (42, "0123456789\n[Omitted 79 bytes.]\n90123456789"),
        # With nothing before it the marker needs no newline there: one byte less to reserve.
        (23, "0\n[Omitted 98 bytes.]\n9"),
        (22, "[Omitted 99 bytes.]\n9"),
        (21, "[Omitted 99 bytes.]\n9"),
        # One digit more, and no newline at all.
        (20, "[Omitted 100 bytes.]"),
        (19, "0123456789012345678"),
    ],
)
def test_the_default_marker_is_a_line_with_the_bytes_omitted(limit, fitted):
    assert fit_text(DIGITS, limit) == fitted


def test_the_default_marker_adds_no_newline_where_one_stands():
    text = "abcdefgh\n" + "." * 50 + "\nstuvwxyz"
    # 19 bytes of words: head and tail have 9 each, which end and begin with the newlines.
    assert fit_text(text, 37) == "abcdefgh\n[Omitted 50 bytes.]\nstuvwxyz"


def test_the_default_marker_adds_the_newline_that_one_side_lacks():
    assert fit_text("abcdefgh\n" + "." * 60, 38) == "abcdefgh\n[Omitted 51 bytes.]\n........."
    assert fit_text("." * 60 + "\nstuvwxyz", 38) == ".........\n[Omitted 51 bytes.]\nstuvwxyz"


def test_the_default_marker_speaks_of_bytes_also_of_whole_lines():
    text = "line\n" * 20
    assert fit_text(text, 30, whole_lines=True) == "line\n[Omitted 90 bytes.]\nline\n"


# How much is kept


@pytest.mark.parametrize(
    ("share", "fitted"),
    [
        (0, "~23456789"),
        (0.0, "~23456789"),
        (-0.0, "~23456789"),
        (0.124, "~23456789"),
        (0.125, "0~3456789"),
        (0.25, "01~456789"),
        (0.5, "0123~6789"),
        (0.624, "0123~6789"),
        (0.999, "0123456~9"),
        (1, "01234567~"),
        (1.0, "01234567~"),
    ],
)
def test_the_head_has_its_share_rounded_down_and_the_tail_the_rest(share, fitted):
    assert fit_text("0123456789", 9, head_share=share, marker="~") == fitted


def test_half_is_the_share_of_the_head_unless_another_is_given():
    assert fit_text(DIGITS, 41) == fit_text(DIGITS, 41, head_share=0.5)


@pytest.mark.parametrize("share", [Fraction(1, 2), Decimal("0.5"), numpy.float32(0.5), numpy.float64(0.5)], ids=repr)
def test_any_real_number_is_a_share(share):
    assert fit_text("0123456789", 9, head_share=share, marker="~") == "0123~6789"


@pytest.mark.parametrize(("share", "fitted"), [(True, "01234567~"), (False, "~23456789"), (numpy.int8(1), "01234567~")])
def test_zero_and_one_may_be_of_any_type_of_number(share, fitted):
    assert fit_text("0123456789", 9, head_share=share, marker="~") == fitted


@pytest.mark.parametrize(
    ("limit", "fitted"),
    [
        (8, "é~éé"),  # 3 and 4 bytes: the head's third is half a character
        (9, "éé~éé"),  # 4 and 4
        (10, "éé~éé"),  # 4 and 5
        (11, "éé~éé"),  # 5 and 5: the two bytes that are over would be a character, and go to nobody
        (12, "éé~ééé"),  # 5 and 6
    ],
)
def test_each_cut_falls_between_characters(limit, fitted):
    assert fit_text("é" * 10, limit, marker="~") == fitted


@each_kind
@pytest.mark.parametrize("limit", range(40))
def test_a_small_limit_is_kept_in_every_script(character, limit):
    text = f"{character}\n" * 30
    fitted = fit_text(text, limit, marker=count)
    assert size_of(fitted) <= limit
    assert fitted == reference.fit(text, limit, marker=count)


def test_no_limit_keeps_nothing():
    for text in ("a", "é", "😀" * 10, DIGITS):
        assert fit_text(text, 0) == ""
        assert fit_text(text, 0, marker="~") == ""
        assert fit_text(text, 0, marker=count) == ""


@pytest.mark.parametrize(
    ("limit", "share", "fitted"),
    [
        (1, 0.5, ""),
        (3, 0.5, ""),
        (4, 0.5, "😀"),
        (7, 0.5, "😀"),
        (8, 0.5, "😀🙁"),
        (11, 0.5, "😀🙁"),
        (8, 0, "🙁🤖"),
        (3, 0, ""),
        (12, 0.5, "😀🙁🤖"),
    ],
)
def test_emoji_in_a_limit_too_small_for_a_marker(limit, share, fitted):
    assert fit_text("😀🙁🤖", limit, head_share=share) == fitted


# Strings as markers


def test_a_string_stands_in_the_gap_as_it_is():
    assert fit_text(DIGITS, 10, marker="\n..\n") == "012\n..\n789"


def test_a_string_is_counted_in_bytes():
    assert fit_text(DIGITS, 10, marker="…") == "012…6789"


def test_an_empty_marker_leaves_all_of_the_limit_to_the_text():
    assert fit_text(DIGITS, 10, marker="") == "0123456789"


@pytest.mark.parametrize(("share", "fitted"), [(0, "78901"), (0.001, "01234"), (0.5, "01234"), (1, "01234")])
def test_where_the_marker_does_not_fit_one_end_is_kept_without_it(share, fitted):
    assert fit_text("0123456789" * 2 + "01", 5, head_share=share, marker="######") == fitted


def test_a_marker_may_take_all_of_the_limit():
    assert fit_text(DIGITS, 6, marker="######") == "######"


@pytest.mark.parametrize("marker", [Str("~"), lambda result: Str("~")], ids=["string", "function"])
def test_a_marker_may_be_of_a_subclass_of_str(marker):
    fitted = fit_text(DIGITS, 9, marker=marker)
    assert (fitted, type(fitted)) == ("0123~6789", str)


# Functions as markers


def test_a_function_is_given_the_result_that_its_marker_stands_in():
    marker, calls = growing(3, 3)
    assert fit_text(DIGITS, 11, marker=marker) == "0123###6789"
    assert calls[-1] == RetainedText("01236789", "0123", "6789", True, Omitted("exact", 92), 100)


def test_the_smallest_reserve_is_found_for_a_count():
    # 3 bytes are too few for "<NN>" at any limit; 4 leave 16 to keep.
    assert fit_text(DIGITS, 20, marker=count) == "01234567<84>23456789"


def test_one_digit_more_takes_one_byte_more():
    # Of 4 bytes to reserve for "<99>" one must go to a third digit.
    assert fit_text(DIGITS + "0", 5, marker=count) == "<101>"
    assert fit_text(DIGITS, 5, marker=count) == "<99>9"


def test_a_marker_that_becomes_shorter_has_what_the_longest_needed():
    marker, calls = growing(4, 6, 2)
    assert fit_text(DIGITS, 12, marker=marker) == "012##789"
    assert len(calls) == 3


def test_a_length_that_settles_at_the_eighth_call_is_taken():
    marker, calls = growing(1, 2, 3, 4, 5, 6, 7, 7)
    assert fit_text(DIGITS, 15, marker=marker) == "0123#######6789"
    assert len(calls) == 8


@pytest.mark.parametrize(("share", "fitted"), [(0, DIGITS[-50:]), (0.5, DIGITS[:50]), (1, DIGITS[:50])])
def test_a_length_that_never_settles_is_given_up_after_eight_calls(share, fitted):
    marker, calls = growing(*range(1, 100))
    assert fit_text(DIGITS, 50, head_share=share, marker=marker) == fitted
    assert len(calls) == 8


def test_a_length_beyond_the_limit_is_given_up_at_once():
    marker, calls = growing(1000)
    assert fit_text(DIGITS, 50, marker=marker) == DIGITS[:50]
    assert len(calls) == 1


def test_a_marker_as_long_as_what_is_kept_finds_its_place():
    # Shorter where more is omitted: asked for 50 bytes with none reserved, it may have all of them.
    assert fit_text(DIGITS, 50, marker=lambda result: result.text) == ""


def test_what_a_marker_function_raises_is_raised():
    def marker(result):
        raise LookupError("no words")

    with pytest.raises(LookupError, match="no words"):
        fit_text(DIGITS, 50, marker=marker)


@pytest.mark.parametrize("words", [None, 3, b"~", ["~"]])
def test_a_marker_function_must_return_a_string(words):
    with pytest.raises(TypeError, match=f"marker must be a string .* got {type(words).__name__}"):
        fit_text(DIGITS, 50, marker=lambda result: words)


@pytest.mark.parametrize("marker", [3, b"~", ["~"]])
def test_a_marker_is_a_string_or_a_function(marker):
    with pytest.raises(TypeError, match=f"marker must be a string .* got {type(marker).__name__}"):
        fit_text(DIGITS, 50, marker=marker)


# Whole lines


def test_cuts_move_to_the_borders_of_lines_and_what_they_free_goes_to_nobody():
    text = "aaa\nbbb\nccc\nddd\n"
    assert fit_text(text, 10, marker="~\n", whole_lines=True) == "aaa\n~\nddd\n"
    assert fit_text(text, 12, marker="~\n", whole_lines=True) == "aaa\n~\nddd\n"
    assert fit_text(text, 12, marker="~\n") == "aaa\nb~\n\nddd\n"


def test_one_line_longer_than_the_limit_shows_both_its_ends():
    assert fit_text(DIGITS, 9, marker="~", whole_lines=True) == "0123~6789"
    assert fit_text(DIGITS + "\n", 9, marker="~", whole_lines=True) == "0123~789\n"


@pytest.mark.parametrize(
    ("limit", "share", "fitted"),
    [
        (5, 0.5, "ab\n"),
        (6, 0.5, "ab\ncd\n"),
        (2, 0.5, "ab"),
        (4, 0, "ef"),
        (5, 0, "cd\nef"),
        (1, 0, "f"),
    ],
)
def test_lines_are_whole_also_where_the_marker_does_not_fit(limit, share, fitted):
    assert fit_text("ab\ncd\nef", limit, head_share=share, whole_lines=True) == fitted


def test_no_cut_divides_a_cr_lf_in_whole_lines():
    assert fit_text("ab\r\ncd", 3, whole_lines=True) == "ab"
    assert fit_text("ab\r\ncd", 3, head_share=0, whole_lines=True) == "cd"
    assert fit_text("\r\nab", 1, whole_lines=True) == ""
    assert fit_text("ab\r\n", 1, head_share=0, whole_lines=True) == ""


def test_a_cr_lf_may_be_divided_where_lines_need_not_be_whole():
    assert fit_text("ab\r\ncd", 3) == "ab\r"
    assert fit_text("ab\r\ncd", 3, head_share=0) == "\ncd"


# Lone surrogates


@pytest.mark.parametrize("text", ["\ud800", "a\udc80", "\ud83d\ude00", "汉\ud800", "😀\udfff"])
def test_a_lone_surrogate_comes_out_as_the_replacement_character(text):
    replaced = re.sub("[\ud800-\udfff]", "\ufffd", text)
    assert fit_text(text, size_of(replaced)) == replaced
    assert fit_text(text, 10**30) == replaced


def test_a_lone_surrogate_counts_as_three_bytes():
    assert fit_text("a\ud800", 4) == "a\ufffd"
    assert fit_text("a\ud800", 3) == "a"
    assert fit_text("\ud800" * 4, 11) == "\ufffd" * 3


def test_lone_surrogates_beside_the_marker_are_replaced_and_counted():
    assert fit_text("\ud800" * 100, 20, marker=count) == "\ufffd\ufffd<288>\ufffd\ufffd"


def test_a_marker_function_sees_the_text_with_surrogates_replaced():
    marker, calls = growing(1, 1)
    fit_text("\ud800" * 100, 20, marker=marker)
    assert {result.head for result in calls} == {"\ufffd" * 3}
    assert calls[-1].seen_bytes == 300


@pytest.mark.parametrize("marker", ["\ud800", lambda result: "\ud800"], ids=["string", "function"])
def test_a_lone_surrogate_in_a_marker_is_replaced_and_counted(marker):
    assert fit_text(DIGITS, 10, marker=marker) == "012\ufffd6789"


def test_two_surrogates_that_come_to_stand_together_are_no_character():
    assert fit_text("\ud83d" + "." * 20, 9, marker="\ude00") == "\ufffd\ufffd..."
    assert fit_text("\ud83d.\ude00", 6, marker="") == "\ufffd\ufffd"


# Arguments


class Liar(str):
    """A subclass whose methods do not tell what it holds."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return "!"

    def __str__(self):
        return "!"

    def encode(self, *arguments):
        return b"!"

    find = rfind = index = startswith = endswith = None


@pytest.mark.parametrize("text", [DIGITS, "é" * 50, "\ud800" * 40])
@pytest.mark.parametrize("whole_lines", [False, True])
def test_a_subclass_of_str_is_read_by_what_it_holds(text, whole_lines):
    fitted = fit_text(Liar(text), 20, marker="~", whole_lines=whole_lines)
    assert (fitted, type(fitted)) == (fit_text(text, 20, marker="~"), str)


def test_a_subclass_of_str_with_a_lone_surrogate_comes_out_as_a_str():
    fitted = fit_text(Str("a\ud800"), 10)
    assert (fitted, type(fitted)) == ("a\ufffd", str)


@pytest.mark.parametrize("text", [None, b"abc", 5, ["abc"]])
def test_only_a_string_is_fitted(text):
    with pytest.raises(TypeError, match="text must be a string"):
        fit_text(text, 50)


@pytest.mark.parametrize(
    ("limit", "error", "shown"),
    [
        (-1, ValueError, "-1"),
        (-(10**30), ValueError, str(-(10**30))),
        (True, TypeError, "True"),
        (50.0, TypeError, "50.0"),
        ("50", TypeError, "'50'"),
        (None, TypeError, "None"),
    ],
)
def test_a_limit_is_checked_as_a_budget_is(limit, error, shown):
    with pytest.raises(error) as caught:
        fit_text("abc", limit)
    assert str(caught.value) == f"max_bytes must be a non-negative integer, got {shown}"


def test_any_integer_object_is_a_limit():
    assert fit_text("0123456789", numpy.int64(9), marker="~") == "0123~6789"


@pytest.mark.parametrize(
    "share",
    [float("nan"), Decimal("NaN"), -0.1, 1.1, -1, 2, float("inf"), float("-inf"), 10**400, Fraction(10**400)],
    ids=range(10),
)
@pytest.mark.parametrize("text", ["abc", DIGITS], ids=["fits", "does not fit"])
def test_a_share_outside_of_0_to_1_is_refused(text, share):
    with pytest.raises(ValueError, match="head_share must be from 0 to 1"):
        fit_text(text, 50, head_share=share)


@pytest.mark.parametrize("share", ["x", "", "0.5", b"0.5", None, 1j, [0.5], float])
@pytest.mark.parametrize("text", ["abc", DIGITS], ids=["fits", "does not fit"])
def test_a_share_that_is_no_number_is_refused(text, share):
    with pytest.raises(TypeError, match="head_share must be a number from 0 to 1"):
        fit_text(text, 50, head_share=share)


@pytest.mark.parametrize("arguments", [(), ("abc",), ("abc", 50, 0.5)])
def test_text_and_limit_are_required_and_the_rest_is_named(arguments):
    with pytest.raises(TypeError):
        fit_text(*arguments)


# Memory


@each_kind
@pytest.mark.parametrize("whole_lines", [False, True])
@pytest.mark.parametrize("marker", [None, "~", count], ids=["default", "string", "function"])
def test_a_long_text_is_not_copied(character, whole_lines, marker):
    text = character * (10_000_000 // size_of(character))
    tracemalloc.start()
    try:
        fitted = fit_text(text, 16384, marker=marker, whole_lines=whole_lines)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 16384 - 8 <= size_of(fitted) <= 16384
    # Head, tail and the two joined, of up to 4 bytes a character, some of them twice.
    assert most < 300_000


@each_kind
def test_a_long_text_that_fits_is_not_copied_either(character):
    text = character * (10_000_000 // size_of(character))
    tracemalloc.start()
    try:
        assert fit_text(text, 10_000_000) is text
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 10_000


# Any text, any limit

PIECES = ["a", "bc", "\n", "\n", "\n\n", "\r\n", "\r", "é", "€", "😀", "\ud800", "😀\n", "a long line of 20 b."]
texts = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
limits = st.integers(0, 30) | st.integers(0, 120) | st.sampled_from([2**63, 10**30])
shares = st.sampled_from([0, 0.5, 1, 1 / 3, 0.9]) | st.floats(0, 1)
MARKERS = [
    "", "~", "\n~\n", "…", "😀", "\udfff", "a marker longer than many limits",
    count,
    lambda result: f"\n... {result.omitted_bytes.count} of {result.seen_bytes} bytes ...\n",
    lambda result: "€" * len(str(result.omitted_bytes.count)),
    lambda result: "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("share", [0, 0.5, 1])
@pytest.mark.parametrize("length", range(1, 7))
def test_every_short_text_of_lines_equals_the_model(length, share):
    # No marker to reserve for: each limit that is too small is that of a cut.
    for characters in itertools.product("a\r\n", repeat=length):
        text = "".join(characters)
        for limit in range(length):
            fitted = fit_text(text, limit, head_share=share, marker="", whole_lines=True)
            assert fitted == reference.fit(text, limit, share, "", True), (text, limit)


@given(texts, limits, shares, st.booleans())
def test_the_default_marker_equals_the_model(text, limit, share, whole_lines):
    expected = reference.fit(text, limit, share, whole_lines=whole_lines)
    assert fit_text(text, limit, head_share=share, whole_lines=whole_lines) == expected


@given(texts, limits, shares, st.sampled_from(MARKERS), st.booleans())
def test_markers_that_do_not_become_shorter_equal_the_model(text, limit, share, marker, whole_lines):
    expected = reference.fit(text, limit, share, marker, whole_lines)
    assert fit_text(text, limit, head_share=share, marker=marker, whole_lines=whole_lines) == expected


@given(texts, st.integers(0, 120), shares, st.lists(st.text("x😀\ud800", max_size=40), min_size=8, max_size=8))
def test_the_result_is_never_longer_than_the_limit_whatever_the_marker_says(text, limit, share, words):
    calls = []

    def marker(result):
        calls.append(result)
        return words[len(calls) - 1]

    assert size_of(fit_text(text, limit, head_share=share, marker=marker)) <= limit
    assert len(calls) <= 8


@given(texts, limits, shares, st.sampled_from([None, *MARKERS]), st.booleans())
def test_a_text_is_changed_only_where_it_does_not_fit(text, limit, share, marker, whole_lines):
    stream = reference.encoded(text)
    fitted = fit_text(text, limit, head_share=share, marker=marker, whole_lines=whole_lines)
    assert size_of(fitted) <= limit
    if len(stream) > limit:
        assert fitted != stream.decode()
    elif re.search("[\ud800-\udfff]", text):
        assert fitted == stream.decode()
    else:
        assert fitted is text


@given(texts, st.integers(0, 120), shares, st.booleans())
def test_a_marker_is_true_of_the_text_beside_it(text, limit, share, whole_lines):
    calls = []

    def marker(result):
        calls.append(result)
        return count(result)

    fitted = fit_text(text, limit, head_share=share, marker=marker, whole_lines=whole_lines)
    stream = reference.encoded(text)
    if "<" in fitted:
        result = calls[-1]
        assert fitted == result.head + count(result) + result.tail
        kept = size_of(result.head) + size_of(result.tail)
        assert result == RetainedText(
            result.head + result.tail,
            result.head,
            result.tail,
            True,
            Omitted("exact", len(stream) - kept),
            len(stream),
        )
        assert stream.startswith(result.head.encode())
        assert stream.endswith(result.tail.encode())


@given(st.text("ab€😀\ud800", max_size=60), st.integers(0, 120), shares)
def test_the_count_of_the_default_marker_is_true_of_the_text_beside_it(text, limit, share):
    stream = reference.encoded(text)
    fitted = fit_text(text, limit, head_share=share)
    parts = re.fullmatch(r"(.*?)\n?\[Omitted (\d+) bytes\.\]\n?(.*)", fitted)
    if parts:
        head, number, tail = parts.groups()
        assert size_of(head) + int(number) + size_of(tail) == len(stream)
        assert stream.startswith(head.encode())
        assert stream.endswith(tail.encode())
    else:
        assert stream.endswith(fitted.encode()) if share == 0 else stream.startswith(fitted.encode())
