"""Text retention, rule by rule: what is kept of a stream, what is counted, and what each push is answered."""

import codecs
import pickle
import sys
from array import array

import pytest

from retention import (
    HeadTailLimit,
    Omitted,
    PushDecision,
    RetainedBytes,
    RetainedText,
    RetentionNotice,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
)

KEPT = PushDecision(kept=True, truncated=False, should_stop=False)
OMITTED = PushDecision(kept=False, truncated=True, should_stop=False)
STOP = PushDecision(kept=False, truncated=True, should_stop=True)
EMPTY_AFTER_OMISSION = PushDecision(kept=True, truncated=True, should_stop=False)


def retainer_of(strategy, *chunks, errors="replace"):
    retainer = TextRetainer(strategy, errors=errors)
    for chunk in chunks:
        retainer.push(chunk)
    return retainer


def retain(strategy, *chunks, errors="replace"):
    return retainer_of(strategy, *chunks, errors=errors).finish()


def truncated(head, tail, omitted, seen):
    return RetainedText(head + tail, head, tail, True, Omitted("exact", omitted), seen)


def in_head(text, seen):
    return RetainedText(text, text, "", False, Omitted("none"), seen)


def in_tail(text, seen):
    return RetainedText(text, "", text, False, Omitted("none"), seen)


# Nothing omitted


@pytest.mark.parametrize("strategy", [TextHead(4), TextHeadTail(4, 0), TextHeadTail(1, 3), TextHeadTail(0, 4)])
def test_a_stream_within_the_budget_is_all_head(strategy):
    assert retain(strategy, b"abcd") == in_head("abcd", 4)


@pytest.mark.parametrize("budget", [4, 5, 1000])
def test_a_tail_strategy_has_everything_in_the_tail(budget):
    assert retain(TextTail(budget), b"abcd") == in_tail("abcd", 4)


@pytest.mark.parametrize("strategy", [TextHead(0), TextHead(5), TextHeadTail(0, 0), TextHeadTail(2, 2)])
def test_an_empty_stream_is_an_empty_head(strategy):
    assert retain(strategy) == in_head("", 0)


@pytest.mark.parametrize("head", [2, 3, 4, 5])
def test_a_character_across_the_head_budget_is_whole_where_nothing_is_omitted(head):
    # 61 | F0 9F 98 80 | 62: the head budget falls inside the character, but nothing lies between head and tail.
    assert retain(TextHeadTail(head, 6 - head), b"a\xf0\x9f\x98\x80b") == in_head("a😀b", 6)


@pytest.mark.parametrize("strategy", [TextHead(4), TextHeadTail(2, 2)])
def test_a_character_in_two_chunks_is_put_together(strategy):
    assert retain(strategy, b"a\xe2", b"\x82\xac") == in_head("a€", 4)


def test_the_broken_off_end_of_a_stream_within_the_budget_is_decoded():
    # 61 | E2 82: the stream ends inside of a character, no cut does.
    assert retain(TextHead(3), b"a\xe2\x82") == in_head("a\ufffd", 3)


# A cut never divides a character


@pytest.mark.parametrize(
    ("stream", "budget", "head", "omitted"),
    [
        (b"a\xc3\xa9b", 1, "a", 3),
        (b"a\xc3\xa9b", 2, "a", 3),  # 61 C3 / A9 62
        (b"a\xc3\xa9b", 3, "aé", 1),
        (b"a\xe2\x82\xacb", 1, "a", 4),
        (b"a\xe2\x82\xacb", 2, "a", 4),  # 61 E2 / 82 AC 62
        (b"a\xe2\x82\xacb", 3, "a", 4),  # 61 E2 82 / AC 62
        (b"a\xe2\x82\xacb", 4, "a€", 1),
        (b"a\xf0\x9f\x98\x80b", 1, "a", 5),
        (b"a\xf0\x9f\x98\x80b", 2, "a", 5),  # 61 F0 / 9F 98 80 62
        (b"a\xf0\x9f\x98\x80b", 3, "a", 5),  # 61 F0 9F / 98 80 62
        (b"a\xf0\x9f\x98\x80b", 4, "a", 5),  # 61 F0 9F 98 / 80 62
        (b"a\xf0\x9f\x98\x80b", 5, "a😀", 1),
    ],
)
def test_a_head_ends_before_the_character_that_its_cut_divides(stream, budget, head, omitted):
    assert retain(TextHead(budget), stream) == truncated(head, "", omitted, len(stream))


@pytest.mark.parametrize(
    ("stream", "budget", "tail", "omitted"),
    [
        (b"a\xc3\xa9b", 1, "b", 3),
        (b"a\xc3\xa9b", 2, "b", 3),  # 61 C3 / A9 62
        (b"a\xc3\xa9b", 3, "éb", 1),
        (b"a\xe2\x82\xacb", 1, "b", 4),
        (b"a\xe2\x82\xacb", 2, "b", 4),  # 61 E2 82 / AC 62
        (b"a\xe2\x82\xacb", 3, "b", 4),  # 61 E2 / 82 AC 62
        (b"a\xe2\x82\xacb", 4, "€b", 1),
        (b"a\xf0\x9f\x98\x80b", 1, "b", 5),
        (b"a\xf0\x9f\x98\x80b", 2, "b", 5),  # 61 F0 9F 98 / 80 62
        (b"a\xf0\x9f\x98\x80b", 3, "b", 5),  # 61 F0 9F / 98 80 62
        (b"a\xf0\x9f\x98\x80b", 4, "b", 5),  # 61 F0 / 9F 98 80 62
        (b"a\xf0\x9f\x98\x80b", 5, "😀b", 1),
    ],
)
def test_a_tail_starts_after_the_character_that_its_cut_divides(stream, budget, tail, omitted):
    assert retain(TextTail(budget), stream) == truncated("", tail, omitted, len(stream))


def test_both_cuts_give_up_the_characters_that_they_divide():
    # 61 E2 / 82 AC 78 C3 / A9 62: of 8 bytes 4 are budgeted and 2 are kept.
    assert retain(TextHeadTail(2, 2), b"a\xe2\x82\xacx\xc3\xa9b") == truncated("a", "b", 6, 8)


def test_one_character_can_be_divided_by_both_cuts():
    # 61 F0 / 9F 98 / 80 62
    assert retain(TextHeadTail(2, 2), b"a\xf0\x9f\x98\x80b") == truncated("a", "b", 4, 6)


def test_a_budget_smaller_than_the_character_keeps_nothing():
    assert retain(TextHead(3), b"\xf0\x9f\x98\x80\xf0\x9f\x98\x80") == truncated("", "", 8, 8)


def test_a_cut_between_characters_trims_nothing():
    # E2 82 AC / C3 A9 / F0 9F 98 80
    assert retain(TextHeadTail(3, 4), b"\xe2\x82\xac\xc3\xa9\xf0\x9f\x98\x80") == truncated("€", "😀", 2, 9)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_a_divided_character_is_trimmed_however_the_stream_was_chunked(size):
    stream = b"a\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x82\xacb"  # 61 | E2 82 / AC | F0 9F 98 80 | E2 / 82 AC | 62
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert retain(TextHeadTail(3, 3), *chunks) == truncated("a", "b", 10, 12)


# A character that the end of the stream breaks off


@pytest.mark.parametrize(
    ("strategy", "stream", "head", "tail", "omitted"),
    [
        (TextHead(2), b"a\xe2\x82", "a", "", 2),  # 61 E2 / 82
        (TextHead(3), b"a\xf0\x9f\x98", "a", "", 3),  # 61 F0 9F / 98
        (TextHead(2), b"a\xf0\x9f", "a", "", 2),  # 61 F0 / 9F
        (TextTail(1), b"a\xe2\x82", "", "", 3),  # 61 E2 / 82
        (TextTail(2), b"a\xf0\x9f\x98", "", "", 4),  # 61 F0 / 9F 98
        (TextHeadTail(1, 1), b"ab\xe2\x82", "a", "", 3),  # 61 / 62 E2 / 82
        (TextHeadTail(1, 1), b"\xf0\x9f\x98", "", "", 3),  # F0 / 9F / 98
    ],
)
def test_a_broken_off_character_that_a_cut_divides_is_omitted_whole(strategy, stream, head, tail, omitted):
    assert retain(strategy, stream) == truncated(head, tail, omitted, len(stream))


@pytest.mark.parametrize("stream", [b"abc\xe2\x82", b"abc\xf0\x9f", b"abc\xc3"])
def test_a_broken_off_character_that_no_cut_divides_stays_and_is_decoded(stream):
    tail = len(stream) - 3
    assert retain(TextHeadTail(1, tail), stream) == truncated("a", "\ufffd", 2, len(stream))


def test_what_follows_decides_whether_a_character_was_broken_off():
    retainer = retainer_of(TextHead(2), b"a\xe2\x82")  # 61 E2 / 82, a character so far
    assert retainer.finish().head == "a"
    retainer.push(b"b")  # E2 82 62 holds none: the E2 is malformed, and malformed bytes stay
    assert retainer.finish() == truncated("a\ufffd", "", 2, 4)


def test_a_character_that_is_completed_later_stays_trimmed():
    retainer = retainer_of(TextHead(2), b"a\xe2\x82")
    retainer.push(b"\xac")
    assert retainer.finish() == truncated("a", "", 3, 4)


# Malformed bytes stay


@pytest.mark.parametrize(
    ("stream", "budget", "head"),
    [
        (b"a\xc0\x80b", 2, "a\ufffd"),  # an overlong NUL
        (b"a\xc1\xbfb", 2, "a\ufffd"),  # an overlong DEL
        (b"a\xe0\x80\x80b", 2, "a\ufffd"),  # overlong in 3 bytes
        (b"a\xe0\x9f\xbfb", 3, "a\ufffd\ufffd"),  # the last of those
        (b"a\xf0\x80\x80\x80b", 2, "a\ufffd"),  # overlong in 4 bytes
        (b"a\xf0\x8f\xbf\xbfb", 4, "a\ufffd\ufffd\ufffd"),  # the last of those
        (b"a\xed\xa0\x80b", 2, "a\ufffd"),  # the first surrogate
        (b"a\xed\xa0\x80b", 3, "a\ufffd\ufffd"),
        (b"a\xed\xbf\xbfb", 3, "a\ufffd\ufffd"),  # the last surrogate
        (b"a\xf4\x90\x80\x80b", 2, "a\ufffd"),  # the first beyond U+10FFFF
        (b"a\xf4\x90\x80\x80b", 4, "a\ufffd\ufffd\ufffd"),
        (b"a\xf5\x80\x80\x80b", 2, "a\ufffd"),  # bytes that begin no sequence
        (b"a\xf8\x88\x80\x80\x80b", 3, "a\ufffd\ufffd"),
        (b"a\xff\xbf\xbfb", 2, "a\ufffd"),
        (b"a\xe2bc", 2, "a\ufffd"),  # a lead byte without its continuation
        (b"a\xf0\x9fbc", 2, "a\ufffd"),
        (b"a\xf0\x9f\x98bc", 3, "a\ufffd"),
        (b"a\x80\x80\x80\x80\x80b", 3, "a\ufffd\ufffd"),  # stray continuation bytes, more than a character has
    ],
)
def test_malformed_bytes_at_the_end_of_a_head_stay(stream, budget, head):
    assert retain(TextHead(budget), stream) == truncated(head, "", len(stream) - budget, len(stream))


@pytest.mark.parametrize(
    ("stream", "budget", "tail"),
    [
        (b"a\xc0\x80b", 2, "\ufffdb"),
        (b"a\xc1\xbfb", 2, "\ufffdb"),
        (b"a\xe0\x80\x80b", 3, "\ufffd\ufffdb"),
        (b"a\xf0\x80\x80\x80b", 4, "\ufffd\ufffd\ufffdb"),
        (b"a\xed\xa0\x80b", 2, "\ufffdb"),
        (b"a\xed\xa0\x80b", 3, "\ufffd\ufffdb"),
        (b"a\xf4\x90\x80\x80b", 3, "\ufffd\ufffdb"),
        (b"a\xf5\x80\x80\x80b", 4, "\ufffd\ufffd\ufffdb"),
        (b"a\x80\x80\x80\x80\x80b", 3, "\ufffd\ufffdb"),
        (b"a\x80\x80\x80\x80\x80\x80\x80b", 6, "\ufffd\ufffd\ufffd\ufffd\ufffdb"),
        (b"\xe2\x82\xac\x80\x80\x80b", 3, "\ufffd\ufffdb"),  # E2 82 AC | 80 / 80 80 62: the € ends before them
        (b"\xf0\x9f\x98\x80\x80b", 2, "\ufffdb"),  # F0 9F 98 80 / 80 62
        (b"\xf0\x9f\x98b", 2, "\ufffdb"),  # F0 9F / 98 62: cut short by the b, so it is no character
    ],
)
def test_malformed_bytes_at_the_start_of_a_tail_stay(stream, budget, tail):
    assert retain(TextTail(budget), stream) == truncated("", tail, len(stream) - budget, len(stream))


def test_malformed_bytes_inside_of_a_kept_part_stay():
    assert retain(TextHeadTail(3, 3), b"a\xffb---c\xfed") == truncated("a\ufffdb", "c\ufffdd", 3, 9)


def test_the_budget_counts_bytes_of_the_stream_not_of_the_text():
    result = retain(TextHead(5), b"\xff" * 8)
    assert (len(result.text.encode()), result.omitted_bytes) == (15, Omitted("exact", 3))


# Content like any other


@pytest.mark.parametrize("content", ["\ufeffa", "\0\0", "\r\n\r", "\x1b[1m", "\ufeff\ufeff", "\u2028\x7f"])
@pytest.mark.parametrize("as_str", [False, True])
def test_marks_and_control_characters_are_content(content, as_str):
    data = content.encode()
    assert retain(TextHead(20), content if as_str else data) == in_head(content, len(data))


def test_a_byte_order_mark_is_kept_at_the_start_of_both_parts():
    # EF BB BF 61 | 2D | EF BB BF 62
    assert retain(TextHeadTail(4, 4), b"\xef\xbb\xbfa-\xef\xbb\xbfb") == truncated("\ufeffa", "\ufeffb", 1, 9)


def test_a_byte_order_mark_is_divided_like_any_character():
    assert retain(TextHead(2), b"\xef\xbb\xbfa") == truncated("", "", 4, 4)


# Head and tail are decoded apart


def test_no_character_is_put_together_from_malformed_bytes_across_the_gap():
    # E2 / 78 / 82 AC: side by side, what is kept would read as a €.
    assert retain(TextHeadTail(1, 2), b"\xe2x\x82\xac") == truncated("\ufffd", "\ufffd\ufffd", 1, 4)


def test_halves_of_two_characters_are_not_put_together_across_the_gap():
    # E2 / 82 AC E2 / 82 AC: the two ends together would be a third €.
    assert retain(TextHeadTail(1, 2), b"\xe2\x82\xac\xe2\x82\xac") == truncated("", "", 6, 6)


# What is omitted


def test_omitted_counts_the_budgets_bytes_that_trimming_gave_up():
    stream = "€".encode() * 10
    result = retain(TextHeadTail(8, 7), stream)
    assert (result.head, result.tail) == ("€€", "€€")
    assert result.omitted_bytes == Omitted("exact", 30 - 6 - 6)


def test_omitted_is_a_lower_bound_where_the_head_may_stop_early():
    result = retain(TextHead(2, stop="stop_when_full"), b"a\xe2\x82\xac")
    assert (result.text, result.omitted_bytes) == ("a", Omitted("at_least", 3))


def test_nothing_omitted_is_exact_also_where_the_head_may_stop_early():
    assert retain(TextHead(3, stop="stop_when_full"), b"abc").omitted_bytes == Omitted("none")


def test_everything_is_omitted_where_trimming_leaves_nothing():
    assert retain(TextTail(2), "😀") == truncated("", "", 4, 4)


# Raw bytes


def test_finish_bytes_cuts_at_the_budget_whatever_that_divides():
    retainer = retainer_of(TextHeadTail(2, 2), b"a\xe2\x82\xacx\xc3\xa9b")
    assert retainer.finish_bytes() == RetainedBytes(b"a\xe2", b"\xa9b", True, Omitted("exact", 4), 8)


def test_finish_bytes_may_omit_less_than_finish():
    retainer = retainer_of(TextHead(2), b"a\xe2\x82\xac")
    assert retainer.finish_bytes().omitted_bytes == Omitted("exact", 2)
    assert retainer.finish().omitted_bytes == Omitted("exact", 3)


@pytest.mark.parametrize(
    ("strategy", "head", "tail"),
    [(TextHead(3), b"\xffab", b""), (TextTail(3), b"", b"\xffab"), (TextHeadTail(1, 2), b"\xffab", b"")],
)
def test_finish_bytes_within_the_budget_is_the_stream(strategy, head, tail):
    retainer = retainer_of(strategy, b"\xffab")
    assert retainer.finish_bytes() == RetainedBytes(head, tail, False, Omitted("none"), 3)


def test_finish_bytes_asks_no_error_handler():
    assert retainer_of(TextHead(2), b"\xff\xff\xff", errors="strict").finish_bytes().head == b"\xff\xff"


# A result is a snapshot


@pytest.mark.parametrize("strategy", [TextHead(3), TextTail(3), TextHeadTail(2, 1)])
def test_finish_again_answers_the_same(strategy):
    retainer = retainer_of(strategy, b"ab\xe2\x82\xaccd")
    first = retainer.finish()
    retainer.finish_bytes()
    retainer.notice("log")
    assert retainer.finish() == first


def test_pushing_goes_on_after_a_result():
    retainer = retainer_of(TextHeadTail(2, 2), b"abc")
    assert retainer.finish() == in_head("abc", 3)
    retainer.push(b"de")
    assert retainer.finish() == truncated("ab", "de", 1, 5)
    retainer.push(b"fg")
    assert retainer.finish() == truncated("ab", "fg", 3, 7)


def test_a_character_is_completed_by_a_push_after_a_result():
    retainer = retainer_of(TextHead(3), b"\xe2\x82")
    assert retainer.finish().text == "\ufffd"
    retainer.push(b"\xac")
    assert retainer.finish() == in_head("€", 3)


def test_results_do_not_change_as_pushing_goes_on():
    retainer = retainer_of(TextHeadTail(2, 4), b"ab--cd\xc3\xa9")
    text, raw, notice = retainer.finish(), retainer.finish_bytes(), retainer.notice("log")
    for _ in range(100):
        retainer.push(b"0123456789")
    assert text == truncated("ab", "cdé", 2, 8)
    assert raw == RetainedBytes(b"ab", b"cd\xc3\xa9", True, Omitted("exact", 2), 8)
    assert notice.omitted == Omitted("exact", 2)


def test_seen_bytes_and_truncated_follow_the_stream():
    retainer = TextRetainer(TextHead(3))
    facts = []
    for chunk in (b"", "é", b"c", b"", b"d", b"ef"):
        retainer.push(chunk)
        facts.append((retainer.seen_bytes, retainer.truncated))
    assert facts == [(0, False), (2, False), (3, False), (3, False), (4, True), (6, True)]


# Decisions


@pytest.mark.parametrize(
    "strategy", [TextHead(4), TextHead(4, stop="stop_when_full"), TextTail(4), TextHeadTail(2, 2), TextHeadTail(0, 4)]
)
def test_a_chunk_that_fills_the_budget_to_the_last_byte_is_kept(strategy):
    retainer = TextRetainer(strategy)
    assert [retainer.push(chunk) for chunk in (b"abc", b"d")] == [KEPT, KEPT]
    assert not retainer.truncated


@pytest.mark.parametrize("strategy", [TextHead(4), TextTail(4), TextHeadTail(2, 2)])
def test_the_first_byte_beyond_the_budget_is_not_kept(strategy):
    retainer = retainer_of(strategy, b"abcd")
    assert retainer.push(b"e") == OMITTED


@pytest.mark.parametrize("strategy", [TextHead(4), TextTail(4), TextHeadTail(2, 2)])
def test_a_chunk_that_is_partly_omitted_is_not_kept(strategy):
    assert TextRetainer(strategy).push(b"abcde") == OMITTED


@pytest.mark.parametrize("strategy", [TextTail(4), TextHeadTail(2, 2)])
def test_a_chunk_that_pushes_older_bytes_out_of_the_tail_is_not_kept(strategy):
    # All of its own bytes are in the tail, but something is omitted: `kept` does not ask what.
    assert retainer_of(strategy, b"abcd").push(b"e") == OMITTED


@pytest.mark.parametrize("empty", [b"", "", bytearray(), memoryview(b""), array("i")])
def test_an_empty_chunk_is_kept_before_and_after_something_was_omitted(empty):
    retainer = TextRetainer(TextHead(2))
    assert retainer.push(empty) == KEPT
    retainer.push(b"ab")
    assert retainer.push(empty) == KEPT
    retainer.push(b"c")
    assert retainer.push(empty) == EMPTY_AFTER_OMISSION


def test_the_probe_asks_to_stop():
    retainer = TextRetainer(TextHead(3, stop="stop_when_full"))
    assert [retainer.push(chunk) for chunk in (b"ab", b"c", b"d")] == [KEPT, KEPT, STOP]


def test_pushing_on_after_the_probe_asks_to_stop_each_time():
    retainer = retainer_of(TextHead(1, stop="stop_when_full"), b"ab")
    assert [retainer.push("x"), retainer.push(bytearray(b"y"))] == [STOP, STOP]
    assert retainer.finish() == RetainedText("a", "a", "", True, Omitted("at_least", 3), 4)


def test_an_empty_chunk_never_asks_to_stop():
    retainer = retainer_of(TextHead(1, stop="stop_when_full"), b"ab")
    assert retainer.push(b"") == EMPTY_AFTER_OMISSION


def test_a_chunk_beyond_the_budget_at_once_asks_to_stop():
    assert TextRetainer(TextHead(3, stop="stop_when_full")).push("abcd") == STOP


# Budgets of all sizes


@pytest.mark.parametrize("strategy", [TextHead(0), TextTail(0), TextHeadTail(0, 0)])
def test_a_budget_of_zero_counts_and_keeps_nothing(strategy):
    retainer = TextRetainer(strategy)
    assert retainer.push(b"") == KEPT
    assert retainer.push("é") == OMITTED
    assert retainer.push(b"abc") == OMITTED
    assert retainer.finish() == truncated("", "", 5, 5)
    assert retainer.finish_bytes() == RetainedBytes(b"", b"", True, Omitted("exact", 5), 5)


def test_a_budget_of_zero_asks_to_stop_at_the_first_byte():
    assert TextRetainer(TextHead(0, stop="stop_when_full")).push(b"a") == STOP


def test_a_head_budget_of_zero_leaves_a_tail():
    assert retain(TextHeadTail(0, 2), b"abcd") == truncated("", "cd", 2, 4)


def test_a_tail_budget_of_zero_leaves_a_head():
    assert retain(TextHeadTail(2, 0), b"abcd") == truncated("ab", "", 2, 4)


@pytest.mark.parametrize(
    ("strategy", "head", "tail"),
    [
        (TextHead(6), "abcdef", ""),
        (TextTail(6), "", "bcdefg"),
        (TextHeadTail(4, 2), "abcd", "fg"),
        (TextHeadTail(0, 6), "", "bcdefg"),
    ],
)
def test_one_byte_beyond_the_budget_omits_one_byte(strategy, head, tail):
    assert retain(strategy, b"abcdefg") == truncated(head, tail, 1, 7)


@pytest.mark.parametrize("budget", [2**31, 2**63 - 1, 2**63, 2**64, 10**30])
@pytest.mark.parametrize("make", [TextHead, lambda n: TextHeadTail(n, n), lambda n: TextHeadTail(0, n)])
def test_a_budget_beyond_all_memory_keeps_everything_in_the_head(make, budget):
    retainer = TextRetainer(make(budget))
    assert [retainer.push(b"ab"), retainer.push("€")] == [KEPT, KEPT]
    assert retainer.finish() == in_head("ab€", 5)


@pytest.mark.parametrize("budget", [2**31, 2**63 - 1, 2**63, 2**64, 10**30])
def test_a_tail_budget_beyond_all_memory_keeps_everything_in_the_tail(budget):
    assert retain(TextTail(budget), b"ab", "€") == in_tail("ab€", 5)


@pytest.mark.parametrize("budget", [2**63, 10**30])
def test_the_strategy_of_a_retainer_keeps_the_budget_that_was_asked_for(budget):
    strategy = TextHeadTail(budget, 3)
    assert TextRetainer(strategy).strategy is strategy


# Chunks of str


def test_a_str_counts_as_its_utf8():
    # 61 | C3 A9 | E2 82 AC | F0 9F 98 80
    retainer = retainer_of(TextHead(10), "aé€😀")
    assert (retainer.seen_bytes, retainer.finish().text) == (10, "aé€😀")


@pytest.mark.parametrize(
    ("text", "kept", "seen"),
    [
        ("a\ud800b", "a\ufffdb", 5),
        ("\udfff", "\ufffd", 3),
        ("\ud83d\ude00", "\ufffd\ufffd", 6),  # two halves in one str are two lone surrogates, not a 😀
        ("😀\udc80é", "😀\ufffdé", 9),
    ],
)
def test_a_lone_surrogate_counts_as_the_replacement_character(text, kept, seen):
    assert retain(TextHead(20), text) == in_head(kept, seen)


def test_surrogates_in_two_chunks_are_two_replacement_characters():
    assert retain(TextHead(20), "\ud83d", "\ude00") == in_head("\ufffd\ufffd", 6)


def test_a_surrogate_is_divided_like_the_replacement_character_that_it_counts_as():
    assert retain(TextHead(3), "a\ud800b") == truncated("a", "", 4, 5)  # 61 | EF BF / BD | 62


def test_a_surrogate_does_not_trouble_a_strict_retainer():
    assert retain(TextHead(20), "a\ud800", errors="strict").text == "a\ufffd"


@pytest.mark.parametrize("character", ["é", "€", "😀", "\ud800"])
def test_the_utf8_of_a_str_is_not_cached_in_it(character):
    # CPython keeps the UTF-8 that it once made of a str for as long as the str lives: twice the memory.
    text = "".join([character] * 1000)
    before = sys.getsizeof(text)
    retain(TextHeadTail(100, 100), text)
    retain(TextHead(10**6), text)
    assert sys.getsizeof(text) == before


@pytest.mark.parametrize("character", ["x", "é", "€", "😀"])
def test_only_the_ends_of_a_long_str_are_kept(character):
    size = len(character.encode())
    result = retain(TextHeadTail(size * 3, size * 2), character * 100_000)
    assert result == truncated(character * 3, character * 2, size * 99_995, size * 100_000)


def test_str_and_bytes_make_one_stream():
    assert retain(TextHead(20), "a", b"\xe2\x82", bytearray(b"\xac"), "é") == in_head("a€é", 6)


# extend


def test_extend_pushes_each_chunk():
    retainer = TextRetainer(TextHead(20))
    assert retainer.extend([b"ab", "é", bytearray(b"cd")]) == KEPT
    assert retainer.finish() == in_head("abécd", 6)


def test_extend_takes_a_generator():
    retainer = TextRetainer(TextTail(3))
    assert retainer.extend(str(number) for number in range(10)) == OMITTED
    assert retainer.finish() == truncated("", "789", 7, 10)


def test_extend_is_not_kept_where_one_chunk_was_not():
    retainer = TextRetainer(TextHead(2))
    assert retainer.extend([b"ab", b"c", b""]) == OMITTED


def test_extend_by_nothing_answers_like_an_empty_chunk():
    retainer = TextRetainer(TextHead(2))
    assert retainer.extend([]) == KEPT
    retainer.push(b"abc")
    assert retainer.extend(iter(())) == EMPTY_AFTER_OMISSION
    assert retainer.extend([b"", ""]) == EMPTY_AFTER_OMISSION


def test_extend_does_not_advance_a_generator_past_the_probe():
    source = iter([b"ab", b"", b"c", b"d", b"e"])
    retainer = TextRetainer(TextHead(3, stop="stop_when_full"))
    assert retainer.extend(source) == STOP
    assert next(source) == b"e"
    assert retainer.seen_bytes == 4


def test_extend_after_the_probe_takes_one_more_chunk():
    retainer = retainer_of(TextHead(1, stop="stop_when_full"), b"ab")
    source = iter([b"", b"c", b"d"])
    assert retainer.extend(source) == STOP
    assert next(source) == b"d"


def test_extend_does_not_stop_where_no_stop_was_asked_for():
    source = iter([b"ab", b"c", b"d"])
    assert TextRetainer(TextHead(1)).extend(source) == OMITTED
    assert next(source, None) is None


@pytest.mark.parametrize("chunk", ["abc", "", b"abc", bytearray(b"abc"), memoryview(b"abc"), array("B", b"abc")])
def test_extend_refuses_one_chunk_and_names_push(chunk):
    retainer = retainer_of(TextHead(5), b"x")
    with pytest.raises(TypeError, match="push"):
        retainer.extend(chunk)
    assert retainer.finish() == in_head("x", 1)


def test_extend_refuses_what_is_not_iterable():
    with pytest.raises(TypeError, match="not iterable"):
        TextRetainer(TextHead(5)).extend(5)


def test_extend_keeps_what_came_before_an_iterable_that_raises():
    def chunks():
        yield b"ab"
        yield "é"
        raise OSError("the source broke")

    retainer = TextRetainer(TextHead(20))
    with pytest.raises(OSError, match="the source broke"):
        retainer.extend(chunks())
    assert retainer.finish() == in_head("abé", 4)


def test_extend_keeps_what_came_before_a_chunk_that_raises():
    source = iter([b"ab", 5, b"cd"])
    retainer = TextRetainer(TextHead(20))
    with pytest.raises(TypeError, match="chunk must be a str or a bytes-like object, got 5"):
        retainer.extend(source)
    assert retainer.finish() == in_head("ab", 2)
    assert list(source) == [b"cd"]


def test_extend_by_an_iterator_that_pushes_keeps_the_order_of_the_pushes():
    retainer = TextRetainer(TextHeadTail(3, 3))

    def chunks():
        for chunk in (b"a", b"b", b"c", b"d"):
            retainer.push(chunk.upper())
            yield chunk

    assert retainer.extend(chunks()) == OMITTED
    assert retainer.finish() == truncated("AaB", "cDd", 2, 8)


def test_extend_by_an_iterator_that_pushes_beyond_the_budget_says_so():
    retainer = TextRetainer(TextHead(3))

    def chunks():
        retainer.push(b"abcd")
        yield b""

    # The only chunk of the iterable is empty, so it is kept; what is truncated is the stream.
    assert retainer.extend(chunks()) == EMPTY_AFTER_OMISSION


# Notices


@pytest.mark.parametrize(
    ("strategy", "limit", "kept", "omitted"),
    [
        (TextHead(2), 2, 1, Omitted("exact", 4)),  # 61 E2 / 82 AC 62
        (TextHead(2, stop="stop_when_full"), 2, 1, Omitted("at_least", 4)),
        (TextTail(2), 2, 1, Omitted("exact", 4)),  # 61 E2 82 / AC 62
        (TextHeadTail(1, 1), HeadTailLimit(1, 1), 2, Omitted("exact", 3)),
        (TextHeadTail(3, 2), HeadTailLimit(3, 2), 5, Omitted("none")),
        (TextHead(10**30), 10**30, 5, Omitted("none")),
    ],
)
def test_a_notice_states_the_facts_in_bytes_of_the_stream(strategy, limit, kept, omitted):
    notice = retainer_of(strategy, "a€b").notice("bash stdout")
    assert notice == RetentionNotice("bash stdout", strategy.kind, "bytes", limit, kept, omitted)


def test_what_a_notice_counts_as_kept_is_not_the_size_of_the_text():
    retainer = retainer_of(TextHead(2), b"\xff\xff\xff")
    assert (retainer.notice("cat").kept, len(retainer.finish().text.encode())) == (2, 6)


# Error handlers


@pytest.fixture
def register():
    """Registers an error handler for one test, under a name that raises again afterwards."""

    def register(handler):
        codecs.register_error("retention-test", handler)
        return "retention-test"

    yield register
    codecs.register_error("retention-test", codecs.strict_errors)


@pytest.mark.parametrize(
    ("errors", "text"), [("replace", "a\ufffdb"), ("ignore", "ab"), ("backslashreplace", "a\\xffb")]
)
def test_kept_bytes_are_decoded_by_the_error_handler(errors, text):
    assert retain(TextHead(20), b"a\xffb", errors=errors) == in_head(text, 3)


@pytest.mark.parametrize("name", ["no-such-handler", "", "Replace", "re\0place", "\ud800"], ids=ascii)
def test_an_unknown_error_handler_is_refused_when_the_retainer_is_made(name):
    with pytest.raises(LookupError, match="errors must name a registered error handler") as caught:
        TextRetainer(TextHead(5), errors=name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", [None, b"replace", 5, ["replace"]])
def test_an_error_handler_that_is_no_string_is_refused(name):
    with pytest.raises(TypeError, match="errors must be the name of an error handler") as caught:
        TextRetainer(TextHead(5), errors=name)
    assert repr(name) in str(caught.value)


def test_errors_is_a_keyword():
    with pytest.raises(TypeError):
        TextRetainer(TextHead(5), "replace")


def test_strict_raises_and_leaves_the_retainer_as_it_was():
    retainer = retainer_of(TextHead(5), b"ab\xff", errors="strict")
    for _ in range(2):
        with pytest.raises(UnicodeDecodeError):
            retainer.finish()
    assert retainer.push(b"cd") == KEPT
    assert retainer.finish_bytes() == RetainedBytes(b"ab\xffcd", b"", False, Omitted("none"), 5)


@pytest.mark.parametrize(
    ("strategy", "head", "tail"), [(TextHead(3), "a", ""), (TextTail(3), "", "b"), (TextHeadTail(3, 3), "a", "b")]
)
def test_strict_is_not_troubled_by_a_character_that_a_cut_divides(strategy, head, tail):
    # 61 E2 82 / AC 2D 2D E2 / 82 AC 62
    result = retain(strategy, "a€--€b", errors="strict")
    assert (result.head, result.tail) == (head, tail)


def test_a_handler_that_raises_leaves_the_retainer_as_it_was(register):
    fails = [True]

    def handler(error):
        if fails:
            raise RuntimeError("not today")
        return "?", error.end

    retainer = retainer_of(TextHeadTail(2, 2), b"a\xff--\xffb", errors=register(handler))
    with pytest.raises(RuntimeError, match="not today"):
        retainer.finish()
    fails.clear()
    assert retainer.finish() == truncated("a?", "?b", 2, 6)


def test_a_handler_that_pushes_does_not_disturb_the_head_being_decoded(register):
    retainer = None

    def handler(error):
        retainer.push(b"z" * 10_000)
        return "?", error.end

    retainer = retainer_of(TextHead(4), b"a\xffb", errors=register(handler))
    assert retainer.finish() == in_head("a?b", 3)
    assert retainer.finish() == truncated("a?bz", "", 9_999, 10_003)


def test_a_handler_that_pushes_does_not_disturb_the_tail_being_decoded(register):
    retainer = None

    def handler(error):
        retainer.push(b"\xee" * 10_000)
        return "?", error.end

    retainer = retainer_of(TextTail(3), b"ab\xffc\xffd", errors=register(handler))
    assert retainer.finish() == truncated("", "c?d", 3, 6)
    assert retainer.seen_bytes == 10_006


def test_a_handler_that_pushes_while_the_head_is_decoded_does_not_disturb_the_tail(register):
    retainer = None

    def handler(error):
        retainer.push(b"zzz")
        return "?", error.end

    retainer = retainer_of(TextHeadTail(2, 2), b"a\xff--\xffb", errors=register(handler))
    # One push for the head's byte, one for the tail's; both after the stream that this result is about.
    assert retainer.finish() == truncated("a?", "?b", 2, 6)
    assert retainer.seen_bytes == 12
    assert retainer.finish() == truncated("a?", "zz", 8, 12)


def test_a_handler_sees_each_part_apart(register):
    parts = []

    def handler(error):
        parts.append(error.object)
        return "", error.end

    retain(TextHeadTail(2, 2), b"a\xff--\xfeb", errors=register(handler))
    assert parts == [b"a\xff", b"\xfeb"]


def test_a_handler_is_not_asked_where_nothing_is_malformed(register):
    def handler(error):
        raise AssertionError(error)

    assert retain(TextHeadTail(4, 4), "aé€😀" * 9, errors=register(handler)).truncated


# The object


def test_initialising_again_changes_nothing():
    retainer = retainer_of(TextHeadTail(1, 1), b"abcd")
    retainer.__init__(TextHead(100))
    assert retainer.strategy == TextHeadTail(1, 1)
    assert retainer.finish() == truncated("a", "d", 2, 4)


def test_the_repr_shows_the_strategy_and_what_was_seen():
    retainer = retainer_of(TextHead(3), b"abcde")
    assert repr(retainer) == (
        "<TextRetainer of TextHead(max_bytes=3, max_lines=None, stop='read_to_end'): 5 bytes seen>"
    )


@pytest.mark.parametrize("name", ["strategy", "seen_bytes", "truncated", "whole_lines"])
def test_what_a_retainer_tells_cannot_be_set(name):
    with pytest.raises(AttributeError):
        setattr(TextRetainer(TextHead(3)), name, 5)


@pytest.mark.parametrize("code", [0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF])
def test_the_first_and_last_characters_of_each_length_are_encoded_right(code):
    # Beside one that makes the string as wide as the character, and one that makes it wider.
    for text in (chr(code), chr(code) + "\U0001f600"):
        retainer = TextRetainer(TextHead(100))
        retainer.push(text)
        assert retainer.finish_bytes().head == text.encode()


@pytest.mark.parametrize("size", [1, 255, 256, 257, 1000])
def test_a_malformed_byte_is_replaced_wherever_it_is(size):
    for at in range(size):
        result = retain(TextHead(2000), b"a" * at + b"\xff" + b"a" * (size - at - 1))
        assert result.text == "a" * at + "\ufffd" + "a" * (size - at - 1)


@pytest.mark.parametrize("strategy", [TextHead(300), TextTail(300), TextHeadTail(300, 300)])
@pytest.mark.parametrize("size", [1, 256, 1000])
def test_what_is_ascii_is_known_to_be(strategy, size):
    # As for any str of CPython: much is faster for those that are.
    result = retain(strategy, b"a" * size)
    assert [result.text.isascii(), result.head.isascii(), result.tail.isascii()] == [True] * 3
    assert sys.getsizeof(result.text) == sys.getsizeof("a" * len(result.text))


class Name(str):
    pass


def test_the_name_of_an_error_handler_may_be_of_a_subclass():
    retainer = TextRetainer(TextHead(10), errors=Name("ignore"))
    retainer.push(b"a\xff")
    assert pickle.loads(pickle.dumps(retainer)).finish().text == "a"
