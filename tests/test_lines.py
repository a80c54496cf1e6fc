"""Lines: budgets in lines, cuts at the borders of lines, and the counts of what is wholly missing."""

import codecs
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

NONE = Omitted("none")
UNKNOWN = Omitted("unknown")
KEPT = PushDecision(kept=True, truncated=False, should_stop=False)
OMITTED = PushDecision(kept=False, truncated=True, should_stop=False)
STOP = PushDecision(kept=False, truncated=True, should_stop=True)
EMPTY_AFTER_OMISSION = PushDecision(kept=True, truncated=True, should_stop=False)

# A text of three lines in each kind of str, and its lines.
SCRIPTS = {
    "ASCII": ["ab\n", "c\n", "def\n"],
    "Latin-1": ["éß\n", "ü\n", "ñçå\n"],
    "CJK": ["汉字\n", "한\n", "日本語\n"],
    "emoji": ["😀🙁\n", "🤖\n", "👍👎🎉\n"],
    "mixed": ["é😀\n", "汉\n", "aß한\n"],
}
each_script = pytest.mark.parametrize("lines", SCRIPTS.values(), ids=SCRIPTS)


def exact(count):
    return Omitted("exact", count) if count else NONE


def at_least(count):
    return Omitted("at_least", count) if count else NONE


def retainer_of(strategy, *chunks, **options):
    retainer = TextRetainer(strategy, **options)
    for chunk in chunks:
        retainer.push(chunk)
    return retainer


def retain(strategy, *chunks, **options):
    return retainer_of(strategy, *chunks, **options).finish()


def facts(result):
    """Head, tail, the bytes omitted, the lines seen and omitted."""
    return (result.head, result.tail, result.omitted_bytes.count, result.seen_lines, result.omitted_lines.count)


def single(stream):
    return [stream[at : at + 1] for at in range(len(stream))]


def answers(strategy, *chunks, **options):
    retainer = TextRetainer(strategy, **options)
    return [retainer.push(chunk) for chunk in chunks]


# What a line is


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        (b"", 0),
        (b"\n", 1),
        (b"a", 1),
        (b"a\n", 1),
        (b"a\nb", 2),
        (b"a\nb\n", 2),
        (b"\n\n", 2),
        (b"\n\na", 3),
        (b"a\r\nb\r\n", 2),
        (b"\r", 1),
        (b"a\rb\rc", 1),
        (b"a\r", 1),
        (b"\r\r\n\r", 2),
        (b"\x0b\x0c\x1c\x1d\x1e\xc2\x85\xe2\x80\xa8\xe2\x80\xa9", 1),  # what str.splitlines divides by
        (b"\0\n\0", 2),
        (b"\xff\n\xfe", 2),
        (b"\xe2\n\x82\n\xac", 3),
    ],
)
def test_a_line_ends_with_a_newline_and_a_last_piece_is_one_too(stream, lines):
    for strategy in (TextHead(100), TextTail(100), TextHeadTail(1, 1), TextHead(0)):
        assert retain(strategy, stream, count_lines=True).seen_lines == lines
        assert retain(strategy, *single(stream), count_lines=True).seen_lines == lines


def test_a_stream_without_a_push_has_no_lines():
    assert facts(retain(TextHead(5), count_lines=True)) == ("", "", 0, 0, 0)


def test_the_error_handler_makes_and_takes_no_lines():
    codecs.register_error("lines-in-place", lambda error: ("\n\n", error.end))
    for errors in ("ignore", "lines-in-place"):
        assert retain(TextHead(9), b"a\xff\nb", errors=errors, count_lines=True).seen_lines == 2


# Whether lines are counted


@pytest.mark.parametrize("strategy", [TextHead(1), TextTail(1), TextHeadTail(1, 1), TextHead(100), TextTail(100)])
def test_lines_are_not_counted_unless_somebody_asks(strategy):
    result = retain(strategy, b"a\nb\nc")
    assert result.seen_lines is None
    assert result.omitted_lines == UNKNOWN


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        (TextHead(2), {"count_lines": True}),
        (TextHead(2), {"whole_lines": True}),
        (TextHead(2), {"whole_lines": True, "count_lines": True}),
        (TextHead(100, max_lines=1), {}),
        (TextHead(100, max_lines=1), {"count_lines": False}),
        (TextHead(100, max_lines=1), {"count_lines": True, "whole_lines": True}),
        (TextHeadTail(2, 0, head_lines=10**30), {}),
        (TextHeadTail(2, 0, tail_lines=10**30), {}),
        (TextHeadTail(2, 0, tail_lines=0), {}),
    ],
)
def test_lines_are_counted_for_a_budget_for_whole_lines_and_for_their_own_sake(strategy, options):
    assert facts(retain(strategy, b"a\nb\nc", **options)) == ("a\n", "", 3, 3, 2)


def test_counting_alone_moves_no_cut():
    result = retain(TextHeadTail(4, 4), b"ab\ncd\nef\n", count_lines=True)
    assert result == RetainedText("ab\nc\nef\n", "ab\nc", "\nef\n", True, exact(1), 9, 3, NONE)


def test_where_nothing_is_omitted_no_line_is():
    for strategy in (TextHead(9), TextTail(9), TextHeadTail(4, 5)):
        result = retain(strategy, b"a\nb\nc", count_lines=True)
        assert (result.seen_lines, result.omitted_lines) == (3, NONE)


def test_whole_lines_can_be_read_but_not_set():
    assert TextRetainer(TextHead(1)).whole_lines is False
    assert TextRetainer(TextHead(1), whole_lines=True).whole_lines is True
    with pytest.raises(AttributeError):
        TextRetainer(TextHead(1)).whole_lines = True


@pytest.mark.parametrize("arguments", [("replace",), ("replace", True), ("replace", True, True)])
def test_options_are_keywords(arguments):
    with pytest.raises(TypeError):
        TextRetainer(TextHead(1), *arguments)


# A budget of N lines


@pytest.mark.parametrize("stream", [b"1\n2\n3\n", b"1\n2\n3", b"\n\n\n", b"1\r\n\r\n3"])
def test_a_budget_of_as_many_lines_keeps_all(stream):
    text = stream.decode()
    for strategy in (
        TextHead(100, max_lines=3),
        TextHeadTail(100, 0, head_lines=3),
        TextHeadTail(100, 100, head_lines=3, tail_lines=0),
        TextHeadTail(100, 100, head_lines=1, tail_lines=2),
        TextHeadTail(0, 100, tail_lines=3),
    ):
        assert retain(strategy, stream) == RetainedText(text, text, "", False, NONE, len(stream), 3, NONE)
    result = retain(TextTail(100, max_lines=3), stream)
    assert result == RetainedText(text, "", text, False, NONE, len(stream), 3, NONE)


@pytest.mark.parametrize(
    ("stream", "head", "omitted"),
    [
        (b"1\n2\n3\n4\n", "1\n2\n3\n", 2),
        (b"1\n2\n3\n4", "1\n2\n3\n", 1),
        (b"1\n2\n3\n\n", "1\n2\n3\n", 1),
        (b"\n\n\n\n", "\n\n\n", 1),
        (b"1\n2\r\n3\r\n\r", "1\n2\r\n3\r\n", 1),
    ],
)
def test_one_line_more_is_omitted_from_the_end(stream, head, omitted):
    for strategy in (TextHead(100, max_lines=3), TextHeadTail(100, 100, head_lines=3, tail_lines=0)):
        assert facts(retain(strategy, stream)) == (head, "", omitted, 4, 1)


@pytest.mark.parametrize(
    ("stream", "tail", "omitted"),
    [
        (b"1\n2\n3\n4\n", "2\n3\n4\n", 2),
        (b"1\n2\n3\n4", "2\n3\n4", 2),
        (b"\n2\n3\n4", "2\n3\n4", 1),
        (b"\n\n\n\n", "\n\n\n", 1),
        (b"1\r\n2\r\n3\r\n\r", "2\r\n3\r\n\r", 3),
    ],
)
def test_one_line_more_is_omitted_from_the_start(stream, tail, omitted):
    for strategy in (TextTail(100, max_lines=3), TextHeadTail(100, 100, head_lines=0, tail_lines=3)):
        assert facts(retain(strategy, stream)) == ("", tail, omitted, 4, 1)


@pytest.mark.parametrize("end", [b"", b"\n"], ids=["without a final newline", "with a final newline"])
def test_head_and_tail_of_lines_omit_what_lies_between(end):
    strategy = TextHeadTail(100, 100, head_lines=2, tail_lines=1)
    assert facts(retain(strategy, b"1\n2\n3" + end)) == ("1\n2\n3" + end.decode(), "", 0, 3, 0)
    assert facts(retain(strategy, b"1\n2\n3\n4" + end)) == ("1\n2\n", "4" + end.decode(), 2, 4, 1)


def test_a_budget_for_one_end_leaves_the_other_its_bytes():
    stream = b"1\n2\n3\n4\n5\n6\n"
    assert facts(retain(TextHeadTail(100, 3, head_lines=1), stream)) == ("1\n", "\n6\n", 7, 6, 3)
    assert facts(retain(TextHeadTail(3, 100, tail_lines=1), stream)) == ("1\n2", "6\n", 7, 6, 3)


def test_a_later_newline_moves_the_lines_of_the_tail():
    retainer = TextRetainer(TextTail(100, max_lines=2))
    seen = []
    for chunk in (b"1", b"\n", b"2", b"\n", b"3", b"\n", b"\n"):
        retainer.push(chunk)
        seen.append(retainer.finish().text)
    assert seen == ["1", "1\n", "1\n2", "1\n2\n", "2\n3", "2\n3\n", "3\n\n"]


def test_a_full_head_does_not_change_any_more():
    retainer = TextRetainer(TextHead(100, max_lines=1))
    seen = []
    for chunk in (b"a", b"b", b"\n", b"c", b"\n"):
        retainer.push(chunk)
        seen.append(facts(retainer.finish()))
    assert seen == [
        ("a", "", 0, 1, 0),
        ("ab", "", 0, 1, 0),
        ("ab\n", "", 0, 1, 0),
        ("ab\n", "", 1, 2, 1),
        ("ab\n", "", 2, 2, 1),
    ]


# Lines against bytes


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (TextHead(100, max_lines=1), ("ab\n", "", 6, 3, 2)),
        (TextHead(3, max_lines=1), ("ab\n", "", 6, 3, 2)),
        (TextHead(2, max_lines=1), ("ab", "", 7, 3, 2)),
        (TextHead(4, max_lines=2), ("ab\nc", "", 5, 3, 1)),
        (TextHead(6, max_lines=3), ("ab\ncd\n", "", 3, 3, 1)),
        (TextTail(100, max_lines=1), ("", "ef\n", 6, 3, 2)),
        (TextTail(3, max_lines=1), ("", "ef\n", 6, 3, 2)),
        (TextTail(2, max_lines=1), ("", "f\n", 7, 3, 2)),
        (TextTail(4, max_lines=2), ("", "\nef\n", 5, 3, 1)),
        (TextTail(4, max_lines=1), ("", "ef\n", 6, 3, 2)),
        (TextTail(6, max_lines=3), ("", "cd\nef\n", 3, 3, 1)),
        (TextHeadTail(100, 1, head_lines=1, tail_lines=5), ("ab\n", "\n", 5, 3, 1)),
        (TextHeadTail(1, 100, head_lines=5, tail_lines=1), ("a", "ef\n", 5, 3, 1)),
        (TextHeadTail(4, 4, head_lines=1, tail_lines=1), ("ab\n", "ef\n", 3, 3, 1)),
    ],
    ids=repr,
)
def test_the_budget_that_is_met_first_counts(strategy, expected):
    stream = b"ab\ncd\nef\n"
    assert facts(retain(strategy, stream)) == expected
    assert facts(retain(strategy, *single(stream))) == expected


def test_the_line_budget_of_the_tail_is_met_by_a_later_newline():
    retainer = retainer_of(TextTail(5, max_lines=1), b"abcdefg")
    assert retainer.finish().tail == "cdefg"
    retainer.push(b"\n")
    assert retainer.finish().tail == "defg\n"
    retainer.push(b"h")
    assert retainer.finish().tail == "h"


def test_head_and_tail_may_meet_in_lines_though_not_in_bytes():
    # The head is full by its lines; the tail's bytes reach it.
    assert facts(retain(TextHeadTail(100, 4, head_lines=1), b"ab\ncdef")) == ("ab\ncdef", "", 0, 2, 0)
    assert facts(retain(TextHeadTail(100, 3, head_lines=1), b"ab\ncdef")) == ("ab\n", "def", 1, 2, 0)


def test_a_character_is_trimmed_off_a_cut_by_bytes_also_with_lines():
    # E2 82 AC is cut by the bytes of the head and by those of the tail.
    stream = b"\xe2\x82\xac\n\xe2\x82\xac\n\xe2\x82\xac"
    assert facts(retain(TextHead(5, max_lines=2), stream)) == ("€\n", "", 7, 3, 2)
    assert facts(retain(TextTail(5, max_lines=2), stream)) == ("", "\n€", 7, 3, 1)


# Nothing to keep


@pytest.mark.parametrize(
    "strategy",
    [
        TextHead(0),
        TextHead(0, max_lines=0),
        TextHead(5, max_lines=0),
        TextHead(0, max_lines=5),
        TextTail(0),
        TextTail(0, max_lines=0),
        TextTail(5, max_lines=0),
        TextTail(0, max_lines=5),
        TextHeadTail(0, 0),
        TextHeadTail(0, 0, head_lines=5, tail_lines=5),
        TextHeadTail(5, 5, head_lines=0, tail_lines=0),
        TextHeadTail(5, 0, head_lines=0, tail_lines=5),
        TextHeadTail(0, 5, head_lines=5, tail_lines=0),
    ],
    ids=repr,
)
def test_budgets_of_nothing_keep_nothing(strategy):
    retainer = TextRetainer(strategy, count_lines=True)
    assert retainer.push(b"") == KEPT
    assert facts(retainer.finish()) == ("", "", 0, 0, 0)
    assert retainer.push(b"a") == OMITTED
    assert retainer.push(b"\nb") == OMITTED
    assert retainer.push(b"") == EMPTY_AFTER_OMISSION
    assert facts(retainer.finish()) == ("", "", 3, 2, 2)
    assert retainer.finish_bytes() == RetainedBytes(b"", b"", True, exact(3), 3)


def test_no_lines_of_a_tail_leave_the_head_its_bytes():
    assert facts(retain(TextHeadTail(2, 100, tail_lines=0), b"a\nb\n")) == ("a\n", "", 2, 2, 1)
    assert facts(retain(TextHeadTail(4, 100, tail_lines=0), b"a\nb\n")) == ("a\nb\n", "", 0, 2, 0)


# What a push is answered


@pytest.mark.parametrize(
    ("strategy", "chunks", "expected"),
    [
        (TextHead(9, max_lines=1), ["a", "\n", "", "b", ""], [KEPT, KEPT, KEPT, OMITTED, EMPTY_AFTER_OMISSION]),
        (TextTail(9, max_lines=1), ["a", "\n", "", "b", ""], [KEPT, KEPT, KEPT, OMITTED, EMPTY_AFTER_OMISSION]),
        (TextTail(9, max_lines=1), ["a\n", "\n"], [KEPT, OMITTED]),
        (TextTail(9, max_lines=2), ["a\nb\n", "c"], [KEPT, OMITTED]),
        (TextTail(2, max_lines=9), ["a\n", "b"], [KEPT, OMITTED]),
        (TextHeadTail(9, 9, head_lines=1, tail_lines=1), ["a\nb", "\n", "c"], [KEPT, KEPT, OMITTED]),
        (TextHeadTail(9, 9, head_lines=0, tail_lines=1), ["a", "\n", "b"], [KEPT, KEPT, OMITTED]),
        (TextHeadTail(1, 9, tail_lines=1), ["ab", "\n", "c"], [KEPT, KEPT, OMITTED]),
        (TextHeadTail(1, 9, tail_lines=2), ["ab\n", "c\n", "d"], [KEPT, KEPT, OMITTED]),
        (TextHeadTail(2, 0, head_lines=1), ["a\n", "b"], [KEPT, OMITTED]),
    ],
)
def test_a_push_is_answered_by_whether_anything_is_omitted_so_far(strategy, chunks, expected):
    assert answers(strategy, *chunks) == expected


def test_truncated_and_kept_are_facts_of_budgets_and_not_of_whole_lines():
    # Nothing is beyond the budget, so no cut is made that could move.
    retainer = retainer_of(TextHeadTail(3, 3), b"ab\ncde", whole_lines=True)
    assert retainer.truncated is False
    assert retainer.finish().text == "ab\ncde"


@pytest.mark.parametrize("strategy", [TextHead(9, max_lines=2), TextTail(9, max_lines=2)])
def test_truncated_turns_at_the_first_byte_of_one_line_too_many(strategy):
    retainer = retainer_of(strategy, b"1\n2\n")
    assert retainer.truncated is False
    retainer.push(b"3")
    assert retainer.truncated is True


def test_extending_answers_for_all_chunks():
    retainer = TextRetainer(TextHead(9, max_lines=1))
    assert retainer.extend(["a", "\n"]) == KEPT
    assert retainer.extend(["", "b", ""]) == OMITTED
    assert retainer.extend([]) == EMPTY_AFTER_OMISSION


# Early stop

EARLY = TextHead(100, max_lines=2, stop="stop_when_full")


def test_the_probe_is_the_first_byte_after_the_last_line():
    assert answers(EARLY, "1\n2", "\n", "", "3", "") == [KEPT, KEPT, KEPT, STOP, EMPTY_AFTER_OMISSION]


def test_a_chunk_that_goes_beyond_the_lines_asks_to_stop():
    assert answers(EARLY, "1\n2\n3\n4\n") == [STOP]
    assert facts(retain(EARLY, "1\n2\n3\n4\n")) == ("1\n2\n", "", 4, 4, 2)


def test_an_early_stop_has_lower_bounds():
    result = retain(EARLY, "1\n2\n", "3")
    assert (result.omitted_bytes, result.seen_lines, result.omitted_lines) == (at_least(1), 3, at_least(1))


def test_an_early_stop_inside_a_line_misses_no_line():
    result = retain(TextHead(3, max_lines=2, stop="stop_when_full"), "1\n234")
    assert (result.head, result.omitted_bytes, result.omitted_lines) == ("1\n2", at_least(2), NONE)


def test_a_stream_that_fits_is_exact_with_early_stop_too():
    result = retain(EARLY, "1\n2")
    assert (result.omitted_bytes, result.seen_lines, result.omitted_lines) == (NONE, 2, NONE)


def test_an_early_stop_by_bytes_comes_before_one_by_lines():
    strategy = TextHead(3, max_lines=2, stop="stop_when_full")
    assert answers(strategy, "1\n2", "\n") == [KEPT, STOP]


def test_extending_ends_at_the_probe_of_lines():
    source = iter(["1\n", "2\n", "3\n", "4\n"])
    retainer = TextRetainer(EARLY)
    assert retainer.extend(source) == STOP
    assert list(source) == ["4\n"]
    assert retainer.seen_bytes == 6


# Lines that are wholly missing


@pytest.mark.parametrize(
    ("strategy", "stream", "expected"),
    [
        # The head's last line, or the tail's first, is shown in part.
        (TextHead(1), b"ab\n", ("a", "", 2, 1, 0)),
        (TextHead(2), b"ab\n", ("ab", "", 1, 1, 0)),
        (TextHead(1), b"ab\ncd", ("a", "", 4, 2, 1)),
        (TextHead(3), b"ab\ncd", ("ab\n", "", 2, 2, 1)),
        (TextHead(4), b"ab\ncd", ("ab\nc", "", 1, 2, 0)),
        (TextTail(1), b"ab", ("", "b", 1, 1, 0)),
        (TextTail(1), b"ab\n", ("", "\n", 2, 1, 0)),
        (TextTail(2), b"ab\ncd", ("", "cd", 3, 2, 1)),
        (TextTail(3), b"ab\ncd", ("", "\ncd", 2, 2, 0)),
        (TextTail(1), b"ab\ncd", ("", "d", 4, 2, 1)),
        # Both, of one line and of two, with lines between them and without.
        (TextHeadTail(1, 1), b"abc", ("a", "c", 1, 1, 0)),
        (TextHeadTail(1, 1), b"a\nb", ("a", "b", 1, 2, 0)),
        (TextHeadTail(1, 1), b"a\n\nb", ("a", "b", 2, 3, 1)),
        (TextHeadTail(1, 1), b"ab\ncd", ("a", "d", 3, 2, 0)),
        (TextHeadTail(1, 1), b"ab\n\ncd", ("a", "d", 4, 3, 1)),
        (TextHeadTail(2, 1), b"a\nb\nc", ("a\n", "c", 2, 3, 1)),
        (TextHeadTail(2, 2), b"a\nb\nc", ("a\n", "\nc", 1, 3, 0)),
        (TextHeadTail(2, 1), b"a\nb\n", ("a\n", "\n", 1, 2, 0)),
        (TextHeadTail(7, 7), b"aaaa\nbbbb\ncccc\ndddd\n", ("aaaa\nbb", "c\ndddd\n", 6, 4, 0)),
        # One end is empty.
        (TextHeadTail(0, 1), b"ab\ncd", ("", "d", 4, 2, 1)),
        (TextHeadTail(1, 0), b"ab\ncd", ("a", "", 4, 2, 1)),
        (TextHeadTail(0, 0), b"ab\ncd", ("", "", 5, 2, 2)),
        (TextHeadTail(0, 0), b"\n", ("", "", 1, 1, 1)),
        # A character that a cut divided is omitted, and may take a line's last trace with it.
        (TextHead(3), b"a\n\xc3\xa9b", ("a\n", "", 3, 2, 1)),
        (TextHead(4), b"a\n\xc3\xa9b", ("a\né", "", 1, 2, 0)),
        (TextTail(1), b"a\n\xc3\xa9", ("", "", 4, 2, 2)),
        (TextTail(4), b"\xc3\xa9\nb\n", ("", "\nb\n", 2, 2, 0)),
    ],
    ids=repr,
)
def test_a_line_shown_in_part_is_not_missing(strategy, stream, expected):
    assert facts(retain(strategy, stream, count_lines=True)) == expected
    assert facts(retain(strategy, *single(stream), count_lines=True)) == expected


# Whole lines


@pytest.mark.parametrize(
    ("strategy", "stream", "expected"),
    [
        # A cut inside a line moves to its border; one at a border stays.
        (TextHead(4), b"a\nbcdef", ("a\n", "", 5, 2, 1)),
        (TextHead(2), b"a\nbcdef", ("a\n", "", 5, 2, 1)),  # right after a newline
        (TextHead(5), b"ab\ncd\n", ("ab\n", "", 3, 2, 1)),  # right before one
        (TextHead(3), b"\n\nab", ("\n\n", "", 2, 3, 1)),
        (TextTail(5), b"ab\ncd\n", ("", "cd\n", 3, 2, 1)),
        (TextTail(3), b"ab\ncd\n", ("", "cd\n", 3, 2, 1)),  # right after a newline
        (TextTail(4), b"ab\ncd\n", ("", "cd\n", 3, 2, 1)),  # right before one
        (TextTail(2), b"ab\n\n", ("", "\n", 3, 2, 1)),
        (TextHeadTail(4, 4), b"a\nbcdefgh\ni", ("a\n", "i", 8, 3, 1)),
        # One line longer than the budget shows its beginning or its end.
        (TextHead(1), b"a\nbcdef", ("a", "", 6, 2, 1)),
        (TextHead(3), b"abcdef\ng", ("abc", "", 5, 2, 1)),
        (TextTail(1), b"ab\ncd", ("", "d", 4, 2, 1)),
        (TextTail(2), b"abcdef\n", ("", "f\n", 5, 1, 0)),
        (TextTail(1), b"abc\n", ("", "\n", 3, 1, 0)),
        (TextHeadTail(2, 2), b"abcdef", ("ab", "ef", 2, 1, 0)),
        (TextHeadTail(2, 2), b"abcdef\n", ("ab", "f\n", 3, 1, 0)),
        (TextHeadTail(4, 2), b"a\nbcdef", ("a\n", "ef", 3, 2, 0)),
        (TextHeadTail(2, 3), b"abcdef\ng", ("ab", "g", 5, 2, 0)),
        # A CR LF is never divided, whatever that leaves.
        (TextHead(2), b"a\r\nb", ("a", "", 3, 2, 1)),
        (TextHead(4), b"a\nb\r\n", ("a\n", "", 3, 2, 1)),
        (TextHead(1), b"\r\n", ("", "", 2, 1, 1)),
        (TextHead(2), b"\r\r\n", ("\r", "", 2, 1, 0)),
        (TextHead(3), b"a\r\nb", ("a\r\n", "", 1, 2, 1)),
        (TextTail(2), b"a\r\nb", ("", "b", 3, 2, 1)),
        (TextTail(1), b"x\r\n", ("", "", 3, 1, 1)),
        (TextTail(2), b"x\r\n", ("", "\r\n", 1, 1, 0)),
        (TextTail(1), b"\r\n", ("", "", 2, 1, 1)),
        (TextTail(3), b"ab\r\ncd\r\n", ("", "d\r\n", 5, 2, 1)),
        (TextHeadTail(1, 1), b"\r\nab\r\n", ("", "", 6, 2, 2)),
        (TextHeadTail(2, 1), b"a\r\r\n", ("a\r", "", 2, 1, 0)),
        # A lone CR is content: no border, and nothing that must not be divided.
        (TextHead(2), b"a\rb", ("a\r", "", 1, 1, 0)),
        (TextHead(1), b"a\rb", ("a", "", 2, 1, 0)),
        (TextTail(1), b"a\rb", ("", "b", 2, 1, 0)),
        (TextTail(2), b"a\rb", ("", "\rb", 1, 1, 0)),
        # First a divided character is given up, then the rest of its line.
        (TextHead(4), b"a\nb\xc3\xa9", ("a\n", "", 3, 2, 1)),
        (TextHead(4), b"a\n\xe2\x82\xac", ("a\n", "", 3, 2, 1)),
        (TextHead(3), b"\xc3\xa9\xc3\xa9\n", ("é", "", 3, 1, 0)),
        (TextTail(4), b"\xc3\xa9\xc3\xa9\nab", ("", "ab", 5, 2, 1)),
        (TextTail(2), b"a\xc3\xa9\n", ("", "\n", 3, 1, 0)),
        # Budgets in lines make cuts at borders; budgets in bytes may cut before them.
        (TextHead(100, max_lines=1), b"ab\ncd", ("ab\n", "", 2, 2, 1)),
        (TextTail(100, max_lines=1), b"ab\ncd", ("", "cd", 3, 2, 1)),
        (TextHead(4, max_lines=2), b"ab\ncd\nef", ("ab\n", "", 5, 3, 2)),
        (TextTail(4, max_lines=2), b"ab\ncd\nef", ("", "ef", 6, 3, 2)),
        (TextHead(1, max_lines=1), b"ab\ncd", ("a", "", 4, 2, 1)),
    ],
    ids=repr,
)
def test_a_cut_inside_a_line_moves_to_its_border_unless_that_leaves_nothing(strategy, stream, expected):
    assert facts(retain(strategy, stream, whole_lines=True)) == expected
    assert facts(retain(strategy, *single(stream), whole_lines=True)) == expected
    for at in range(len(stream)):
        assert facts(retain(strategy, stream[:at], stream[at:], whole_lines=True)) == expected


def test_whole_lines_leave_a_stream_within_the_budget_as_it_is():
    for strategy in (TextHead(8), TextTail(8), TextHeadTail(3, 5), TextHeadTail(2, 6)):
        assert retain(strategy, b"ab\r\ncd\r\n", whole_lines=True).text == "ab\r\ncd\r\n"


@pytest.mark.parametrize("lines", [None, 0, 1, 5])
@pytest.mark.parametrize("whole_lines", [False, True])
def test_one_endless_line_shows_its_ends(lines, whole_lines):
    chunks = [b"x" * 1000] * 1000
    shown, omitted = ("", 1) if lines == 0 else ("xxx", 0)
    size, options = len(shown), {"whole_lines": whole_lines, "count_lines": True}
    head = retain(TextHead(3, max_lines=lines), *chunks, **options)
    assert facts(head) == (shown, "", 10**6 - size, 1, omitted)
    tail = retain(TextTail(3, max_lines=lines), *chunks, **options)
    assert facts(tail) == ("", shown, 10**6 - size, 1, omitted)
    both = retain(TextHeadTail(3, 3, head_lines=lines, tail_lines=lines), *chunks, **options)
    assert facts(both) == (shown, shown, 10**6 - 2 * size, 1, omitted)


def test_a_line_shown_at_one_end_only_is_not_missing():
    for strategy in (TextHeadTail(3, 0), TextHeadTail(0, 3)):
        assert retain(strategy, b"x" * 1000, whole_lines=True).omitted_lines == NONE


def test_a_cr_lf_may_be_divided_where_lines_need_not_be_whole():
    assert retain(TextHead(2), b"a\r\nb", count_lines=True).text == "a\r"
    assert retain(TextTail(2), b"a\r\nb", count_lines=True).text == "\nb"
    assert retain(TextTail(1), b"x\r\n", count_lines=True).text == "\n"


def test_whole_lines_are_those_of_the_stream_so_far():
    retainer = TextRetainer(TextHeadTail(3, 3), whole_lines=True)
    seen = []
    for chunk in (b"ab\r", b"\nc", b"d\r", b"\n"):
        retainer.push(chunk)
        seen.append(facts(retainer.finish())[:3])
    assert seen == [("ab\r", "", 0), ("ab\r\nc", "", 0), ("ab", "cd\r", 2), ("ab", "d\r\n", 3)]


def test_early_stop_in_whole_lines_gives_lower_bounds():
    result = retain(TextHead(4, stop="stop_when_full"), b"a\nbc", b"d", whole_lines=True)
    assert result == RetainedText("a\n", "a\n", "", True, at_least(3), 5, 2, at_least(1))


# Raw bytes


def test_raw_bytes_are_cut_at_the_budget_whatever_mode_the_text_has():
    retainer = retainer_of(TextHeadTail(4, 4), b"a\nbcdefgh\ni", whole_lines=True)
    assert retainer.finish_bytes() == RetainedBytes(b"a\nbc", b"gh\ni", True, exact(3), 11)
    retainer = retainer_of(TextHeadTail(2, 2), b"a\r\nb\r\n", whole_lines=True)
    assert retainer.finish_bytes() == RetainedBytes(b"a\r", b"\r\n", True, exact(2), 6)


def test_raw_bytes_obey_budgets_in_lines():
    stream = b"a\nbcdefgh\ni"
    for whole_lines in (False, True):
        strategy = TextHeadTail(100, 100, head_lines=1, tail_lines=1)
        retainer = retainer_of(strategy, stream, whole_lines=whole_lines)
        assert retainer.finish_bytes() == RetainedBytes(b"a\n", b"i", True, exact(8), 11)
        retainer = retainer_of(TextHead(100, max_lines=1), stream, whole_lines=whole_lines)
        assert retainer.finish_bytes() == RetainedBytes(b"a\n", b"", True, exact(9), 11)
        retainer = retainer_of(TextTail(100, max_lines=2), stream, whole_lines=whole_lines)
        assert retainer.finish_bytes() == RetainedBytes(b"", b"bcdefgh\ni", True, exact(2), 11)


def test_raw_bytes_may_divide_characters_also_with_lines():
    retainer = retainer_of(TextHead(4, max_lines=2), b"a\n\xe2\x82\xac")
    assert retainer.finish_bytes() == RetainedBytes(b"a\n\xe2\x82", b"", True, exact(1), 5)


def test_raw_bytes_of_an_early_stop_by_lines_have_a_lower_bound():
    assert retainer_of(EARLY, b"1\n2\n3").finish_bytes() == RetainedBytes(b"1\n2\n", b"", True, at_least(1), 5)


# Chunks of any kind


@each_script
def test_lines_of_str_chunks_are_those_of_their_bytes(lines):
    text = "".join(lines)
    stream = text.encode()
    for head_lines, tail_lines in [(0, 2), (1, 1), (2, 0), (None, 1), (1, None), (3, 0), (None, None)]:
        for size in range(len(stream) + 1):
            strategy = TextHeadTail(size, 7, head_lines=head_lines, tail_lines=tail_lines)
            for whole_lines in (False, True):
                options = {"whole_lines": whole_lines, "count_lines": True}
                expected = retain(strategy, stream, **options)
                assert retain(strategy, text, **options) == expected
                assert retain(strategy, *text, **options) == expected
                assert retain(strategy, lines[0], lines[1].encode(), lines[2], **options) == expected
                assert retain(strategy, text[:1], text[1:], **options) == expected


@each_script
def test_line_budgets_are_met_inside_of_a_str_chunk(lines):
    strategy = TextHeadTail(100, 100, head_lines=1, tail_lines=1)
    expected = (lines[0], lines[2], len(lines[1].encode()), 3, 1)
    assert facts(retain(strategy, "".join(lines))) == expected
    assert facts(retain(strategy, *"".join(lines))) == expected
    assert facts(retain(TextHead(100, max_lines=2), "".join(lines))) == (
        lines[0] + lines[1], "", len(lines[2].encode()), 3, 1
    )  # fmt: skip
    assert facts(retain(TextTail(100, max_lines=2), "".join(lines))) == (
        "", lines[1] + lines[2], len(lines[0].encode()), 3, 1
    )  # fmt: skip


@each_script
@pytest.mark.parametrize("tail_bytes", [30, 10**6])
@pytest.mark.parametrize("head_bytes", [30, 10**6])
def test_line_budgets_are_met_inside_of_a_long_str_chunk(lines, head_bytes, tail_bytes):
    strategy = TextHeadTail(head_bytes, tail_bytes, head_lines=2, tail_lines=2)
    text = "".join(lines) * 5000
    head, tail = lines[0] + lines[1], lines[1] + lines[2]
    omitted = len(text.encode()) - len((head + tail).encode())
    for chunks in ([text], [text[:7], text[7:]], [text[:-7], text[-7:]], [text.encode()]):
        assert facts(retain(strategy, *chunks)) == (head, tail, omitted, 15000, 14996)


@pytest.mark.parametrize("chunk", ["\u0a0a", "\u0a00", "\u010a", "\u8a0a", "\U00010a0a", "\U000a000a", "\xe9\x8a"])
@pytest.mark.parametrize("repeats", [1, 7, 8, 1000])
def test_only_a_newline_is_a_newline_in_any_kind_of_str(chunk, repeats):
    assert retain(TextHead(9), chunk * repeats, count_lines=True).seen_lines == 1
    assert retain(TextHead(9), f"{chunk}\n" * repeats, count_lines=True).seen_lines == repeats


@pytest.mark.parametrize("byte", [0x00, 0x09, 0x0B, 0x0D, 0x1A, 0x7F, 0x80, 0x85, 0x8A, 0xF5, 0xFF], ids=hex)
def test_only_a_newline_is_a_newline_among_bytes(byte):
    # Neighbours of it in value and in memory: a count by whole words must not carry from one to the next.
    for size in range(1, 100):
        stream = bytes([byte, 0x0A, byte])[: 1 + size % 3] * size
        assert retain(TextHead(9), stream + b"x", count_lines=True).seen_lines == stream.count(b"\n") + 1


@pytest.mark.parametrize("make", [bytearray, memoryview, lambda data: array("H", data)])
def test_lines_of_a_buffer_are_those_of_its_bytes(make):
    assert facts(retain(TextHead(9, max_lines=3), make(b"a\nb\ncd\n\n"))) == ("a\nb\ncd\n", "", 1, 4, 1)


@pytest.mark.parametrize("chunk", [None, 5, ["a\n"], memoryview(b"\n\n\n\n")[::2]])
def test_a_chunk_that_is_refused_changes_no_count(chunk):
    retainer = retainer_of(TextHeadTail(9, 9, head_lines=1, tail_lines=1), "1\n2\n3")
    before = retainer.finish()
    with pytest.raises((TypeError, BufferError)):
        retainer.push(chunk)
    assert retainer.finish() == before
    retainer.push("\n4")
    assert facts(retainer.finish()) == ("1\n", "4", 4, 4, 2)


# Long streams


@pytest.mark.parametrize("offset", [0, 1, 3, 8, 15, 31, 33, 63])
def test_a_chunk_of_megabytes_is_counted_exactly(offset):
    data = b"".join(b"x" * (number % 97) + b"\n" for number in range(100_000))
    assert len(data) > 4_000_000
    chunk = memoryview(data)[offset:]
    retainer = retainer_of(TextHeadTail(100, 100), chunk, count_lines=True)
    result = retainer.finish()
    newlines = bytes(chunk).count(b"\n")
    assert result.seen_lines == newlines
    kept = result.head.count("\n") + result.tail.count("\n")
    head_in_line = not result.head.endswith("\n")
    assert result.omitted_lines == exact(newlines - kept - head_in_line)


@pytest.mark.parametrize("stream", [b"\n" * 5_000_000, b"\n" * 4_999_999 + b"x"], ids=["ended", "not ended"])
def test_a_chunk_of_nothing_but_newlines_is_counted_exactly(stream):
    assert retain(TextHead(0), stream, count_lines=True).seen_lines == 5_000_000
    assert facts(retain(TextTail(10**7, max_lines=3), stream))[2:] == (5_000_000 - 3, 5_000_000, 5_000_000 - 3)


@pytest.mark.parametrize("before", ["", "x", "\n", "\n\n"])
def test_any_number_of_newlines_is_counted_exactly(before):
    for size in range(600):
        result = retain(TextHead(0), before, b"\n" * size, count_lines=True)
        assert result.seen_lines == (before + "\n" * size).count("\n") + (before == "x" and size == 0)


@pytest.mark.parametrize("budget", [1, 2, 254, 255, 256, 257, 8192, 99_999])
def test_a_budget_in_lines_is_met_inside_of_a_long_chunk(budget):
    lines = [b"x" * (number % 97) + b"\n" for number in range(100_000)]
    stream = b"".join(lines)
    head, tail = b"".join(lines[:budget]).decode(), b"".join(lines[-budget:]).decode()
    for size in (len(stream) - 1, 10**30):
        assert retain(TextHead(size, max_lines=budget), stream).text == head
        assert retain(TextTail(size, max_lines=budget), stream).text == tail


@pytest.mark.parametrize("budget", [2**31, 2**32 + 1, 2**63 - 1, 2**63, 2**64, 10**30], ids=str)
def test_an_enormous_budget_in_lines_is_none_but_counts(budget):
    stream = b"1\n2\n3\n4"
    assert facts(retain(TextHead(5, max_lines=budget), stream)) == ("1\n2\n3", "", 2, 4, 1)
    assert facts(retain(TextTail(5, max_lines=budget), stream)) == ("", "2\n3\n4", 2, 4, 1)
    strategy = TextHeadTail(2, 2, head_lines=budget, tail_lines=budget)
    assert facts(retain(strategy, stream)) == ("1\n", "\n4", 3, 4, 1)
    for strategy in (TextHead(budget, max_lines=budget), TextHeadTail(budget, budget, tail_lines=budget)):
        assert facts(retain(strategy, stream)) == ("1\n2\n3\n4", "", 0, 4, 0)


# Notices

LINES = b"1\n2\n3\n4\n5\n"


@pytest.mark.parametrize(
    ("strategy", "limit", "kept", "omitted"),
    [
        (TextHead(100, max_lines=2), 2, 2, 3),
        (TextTail(100, max_lines=2), 2, 2, 3),
        (TextHead(100, max_lines=0), 0, 0, 5),
        (TextHead(2, max_lines=4), 4, 1, 4),
        (TextHeadTail(100, 100, head_lines=1, tail_lines=2), HeadTailLimit(1, 2), 3, 2),
        (TextHeadTail(100, 2, head_lines=1), HeadTailLimit(1, None), 2, 3),
        (TextHeadTail(2, 100, tail_lines=1), HeadTailLimit(None, 1), 2, 3),
        (TextTail(4, max_lines=10**30), 10**30, 2, 3),
    ],
    ids=repr,
)
def test_a_notice_may_be_in_lines(strategy, limit, kept, omitted):
    expected = RetentionNotice("bash stdout", strategy.kind, "lines", limit, kept, exact(omitted))
    assert retainer_of(strategy, LINES).notice("bash stdout", unit="lines") == expected
    assert retainer_of(strategy, *single(LINES)).notice("bash stdout", "lines") == expected


def test_a_line_shown_in_part_is_kept_in_a_notice():
    # Of three lines the first and the last are shown in part.
    retainer = retainer_of(TextHeadTail(1, 1, head_lines=9, tail_lines=9), b"ab\ncd\nef")
    expected = RetentionNotice("x", "head_tail", "lines", HeadTailLimit(9, 9), 2, exact(1))
    assert retainer.notice("x", unit="lines") == expected


def test_a_notice_is_in_bytes_unless_lines_are_asked_for():
    retainer = retainer_of(TextHeadTail(100, 100, head_lines=1, tail_lines=1), LINES)
    expected = RetentionNotice("x", "head_tail", "bytes", HeadTailLimit(100, 100), 4, exact(6))
    assert retainer.notice("x") == expected
    assert retainer.notice("x", unit="bytes") == expected


@pytest.mark.parametrize(
    ("strategy", "stream"),
    [
        (TextHead(3, max_lines=5), b"x" * 1000),
        (TextTail(3, max_lines=5), b"x" * 1000),
        (TextTail(3, max_lines=5), b"x" * 1000 + b"\n"),
        (TextHeadTail(3, 3, head_lines=5, tail_lines=5), b"1\n" + b"x" * 1000 + b"\n2"),
        (TextHeadTail(3, 3, head_lines=1), b"x" * 1000),
        (TextHead(3, max_lines=5, stop="stop_when_full"), b"x" * 1000),
    ],
    ids=repr,
)
def test_a_gap_inside_one_enormous_line_is_told_in_bytes(strategy, stream):
    retainer = retainer_of(strategy, stream)
    notice = retainer.notice("x", unit="lines")
    assert notice == retainer.notice("x")
    assert notice.unit == "bytes"
    assert notice.omitted.count > 900


@pytest.mark.parametrize(
    ("strategy", "limit"),
    [
        (TextHead(100, max_lines=9), 9),
        (TextTail(100, max_lines=9), 9),
        (TextHeadTail(50, 50, tail_lines=9), HeadTailLimit(None, 9)),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("stream", "lines"), [(b"", 0), (b"\n", 1), (b"1\n2", 2), (LINES, 5)])
def test_a_notice_in_lines_of_what_lacks_nothing_has_all_lines(strategy, limit, stream, lines):
    expected = RetentionNotice("x", strategy.kind, "lines", limit, lines, NONE)
    assert retainer_of(strategy, stream).notice("x", unit="lines") == expected


def test_a_notice_in_lines_of_an_early_stop_has_a_lower_bound():
    expected = RetentionNotice("x", "head", "lines", 2, 2, at_least(1))
    assert retainer_of(EARLY, b"1\n2\n", b"3").notice("x", unit="lines") == expected


def test_a_notice_counts_as_the_text_does_in_whole_lines():
    retainer = retainer_of(TextHead(4, max_lines=5), b"a\nbcd\ne\n", whole_lines=True)
    assert retainer.notice("x") == RetentionNotice("x", "head", "bytes", 4, 2, exact(6))
    assert retainer.notice("x", unit="lines") == RetentionNotice("x", "head", "lines", 5, 1, exact(2))


@pytest.mark.parametrize("strategy", [TextHead(3), TextTail(3), TextHeadTail(3, 3)], ids=repr)
@pytest.mark.parametrize("options", [{}, {"count_lines": True}, {"whole_lines": True}], ids=repr)
@pytest.mark.parametrize("stream", [b"", b"a", LINES, b"x" * 100], ids=["empty", "kept", "lines", "one line"])
def test_a_notice_in_lines_needs_a_budget_in_lines(strategy, options, stream):
    with pytest.raises(ValueError, match="lines"):
        retainer_of(strategy, stream, **options).notice("x", unit="lines")


@pytest.mark.parametrize("unit", ["chars", "items", "line", "", "LINES", None, 3, ["lines"], b"lines"])
@pytest.mark.parametrize("strategy", [TextHead(3), TextHead(3, max_lines=1)], ids=repr)
def test_a_notice_of_a_text_has_no_other_unit(strategy, unit):
    with pytest.raises(ValueError, match="unit must be 'bytes' or 'lines'") as caught:
        retainer_of(strategy, LINES).notice("x", unit=unit)
    assert str(caught.value).endswith(f"got {unit!r}")


def test_a_notice_changes_nothing():
    retainer = retainer_of(TextHeadTail(100, 100, head_lines=1, tail_lines=1), LINES)
    before = retainer.finish()
    assert retainer.notice("x", unit="lines") == retainer.notice("x", unit="lines")
    assert retainer.finish() == before
    retainer.push(b"6\n")
    assert retainer.notice("x", unit="lines").omitted == exact(4)
