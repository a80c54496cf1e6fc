"""Rendering: the marker in the gap, as a line of its own unless the caller says otherwise."""

import pytest

from retention import (
    ItemHead,
    ItemHeadTail,
    ItemRetainer,
    ItemTail,
    Omitted,
    RetainedItems,
    RetainedText,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
)

NONE = Omitted("none")
UNKNOWN = Omitted("unknown")
THREE = Omitted("exact", 3)


class Str(str):
    """A subclass that adds nothing."""


def text_of(head, tail, omitted_bytes=THREE, seen_lines=None, omitted_lines=UNKNOWN):
    return RetainedText(head + tail, head, tail, True, omitted_bytes, 100, seen_lines, omitted_lines)


def items_of(head, tail, omitted=THREE):
    return RetainedItems(head + tail, head, tail, True, omitted, 100, len(head + tail))


def retain(strategy, stream, **options):
    retainer = TextRetainer(strategy, **options)
    retainer.push(stream)
    return retainer.finish()


def retain_items(strategy, items):
    retainer = ItemRetainer(strategy)
    retainer.extend(items)
    return retainer.finish()


def never(*arguments):
    raise AssertionError("asked for")


# Texts: what the default marker says


@pytest.mark.parametrize(
    ("omitted", "words"),
    [
        (THREE, "[Omitted 3 bytes.]"),
        (Omitted("exact", 1), "[Omitted 1 byte.]"),
        (Omitted("exact", 10**30), f"[Omitted 1{'0' * 30} bytes.]"),
        (Omitted("at_least", 1), "[More bytes were omitted.]"),
        (Omitted("at_least", 3), "[More bytes were omitted.]"),
        (UNKNOWN, "[More bytes were omitted.]"),
    ],
)
@pytest.mark.parametrize("lines", [(None, UNKNOWN), (7, NONE)], ids=["not counted", "none missing"])
def test_bytes_are_named_where_no_line_is_known_to_be_missing(omitted, words, lines):
    assert text_of("a\n", "", omitted, *lines).render() == f"a\n{words}"


@pytest.mark.parametrize(
    ("omitted", "words"),
    [
        (THREE, "[Omitted 3 lines.]"),
        (Omitted("exact", 1), "[Omitted 1 line.]"),
        (Omitted("at_least", 1), "[More lines were omitted.]"),
        (Omitted("at_least", 3), "[More lines were omitted.]"),
    ],
)
def test_lines_are_named_where_one_is_wholly_missing(omitted, words):
    assert text_of("a\n", "", Omitted("exact", 50), 7, omitted).render() == f"a\n{words}"


def test_the_lines_of_a_strategy_with_budgets_in_lines_are_named():
    result = retain(TextHeadTail(100, 100, head_lines=1, tail_lines=2), "1\n2\n3\n4\n5\n6\n")
    assert result.render() == "1\n[Omitted 3 lines.]\n5\n6\n"


def test_one_missing_line_is_named_in_the_singular():
    assert retain(TextHead(100, max_lines=2), "1\n2\n3").render() == "1\n2\n[Omitted 1 line.]"


def test_lines_that_are_counted_for_their_own_sake_are_named():
    assert retain(TextTail(2), "1\n2\n3\n", count_lines=True).render() == "[Omitted 2 lines.]\n3\n"


def test_bytes_are_named_where_nobody_counted_lines():
    assert retain(TextTail(2), "1\n2\n3\n").render() == "[Omitted 4 bytes.]\n3\n"


def test_a_gap_inside_one_line_is_named_in_bytes():
    result = retain(TextHeadTail(2, 2, head_lines=5, tail_lines=5), "abcdefgh\n")
    assert result.render() == "ab\n[Omitted 5 bytes.]\nh\n"


def test_an_early_stop_names_no_number():
    assert retain(TextHead(9, max_lines=1, stop="stop_when_full"), "1\n2\n3\n").render() == (
        "1\n[More lines were omitted.]"
    )
    assert retain(TextHead(1, stop="stop_when_full"), "123").render() == "1\n[More bytes were omitted.]"


# Texts: newlines around the default marker


@pytest.mark.parametrize(
    ("head", "tail", "rendered"),
    [
        ("a", "b", "a\n[Omitted 3 bytes.]\nb"),
        ("a\n", "b", "a\n[Omitted 3 bytes.]\nb"),
        ("a", "\nb", "a\n[Omitted 3 bytes.]\nb"),
        ("a\n", "\nb", "a\n[Omitted 3 bytes.]\nb"),
        ("a\n", "b\n", "a\n[Omitted 3 bytes.]\nb\n"),
        ("a\n\n", "\n\nb", "a\n\n[Omitted 3 bytes.]\n\nb"),
        ("\n", "\n", "\n[Omitted 3 bytes.]\n"),
        ("a", "", "a\n[Omitted 3 bytes.]"),
        ("a\n", "", "a\n[Omitted 3 bytes.]"),
        ("", "b", "[Omitted 3 bytes.]\nb"),
        ("", "\nb", "[Omitted 3 bytes.]\nb"),
        ("", "", "[Omitted 3 bytes.]"),
        ("a\r\n", "b\r\n", "a\r\n[Omitted 3 bytes.]\nb\r\n"),
        ("a\r", "\rb", "a\r\n[Omitted 3 bytes.]\n\rb"),
        ("é", "😀", "é\n[Omitted 3 bytes.]\n😀"),
    ],
)
def test_the_default_marker_adds_only_the_newlines_that_are_missing(head, tail, rendered):
    assert text_of(head, tail).render() == rendered


@pytest.mark.parametrize(
    ("strategy", "rendered"),
    [
        (TextHead(2), "ab\n[Omitted 4 bytes.]"),
        (TextHead(3), "ab\n[Omitted 3 bytes.]"),
        (TextHead(0), "[Omitted 6 bytes.]"),
        (TextTail(2), "[Omitted 4 bytes.]\nd\n"),
        (TextTail(4), "[Omitted 2 bytes.]\ncd\n"),
        (TextTail(0), "[Omitted 6 bytes.]"),
        (TextHeadTail(1, 2), "a\n[Omitted 3 bytes.]\nd\n"),
        (TextHeadTail(0, 2), "[Omitted 4 bytes.]\nd\n"),
        (TextHeadTail(2, 0), "ab\n[Omitted 4 bytes.]"),
        (TextHeadTail(0, 0), "[Omitted 6 bytes.]"),
    ],
)
def test_the_default_marker_stands_where_something_was_omitted(strategy, rendered):
    assert retain(strategy, "ab\ncd\n").render() == rendered


# Texts: markers of the caller


@pytest.mark.parametrize("marker", ["...", "", "\n--\n", "\n", "😀", "{}", "%s", "\ud800"])
@pytest.mark.parametrize(("head", "tail"), [("a", "b"), ("a\n", "\nb"), ("", "b"), ("a", ""), ("", "")])
def test_a_string_stands_in_the_gap_as_it_is(head, tail, marker):
    assert text_of(head, tail).render(marker) == head + marker + tail


def test_a_marker_may_be_named():
    assert text_of("a", "b").render(marker="...") == "a...b"


def test_no_marker_is_the_default_marker():
    assert text_of("a", "b").render(None) == text_of("a", "b").render()


def test_a_function_is_asked_once_with_the_result():
    asked = []

    def marker(result):
        asked.append(result)
        return "..."

    result = text_of("a", "b")
    assert result.render(marker) == "a...b"
    assert len(asked) == 1
    assert asked[0] is result


def test_a_function_may_say_what_the_result_knows():
    result = retain(TextHeadTail(2, 2, head_lines=1), "1\n2\n3\n")
    marker = result.render(lambda result: f"<{result.omitted_lines.count} of {result.seen_lines}>")
    assert marker == "1\n<1 of 3>3\n"


@pytest.mark.parametrize("marker", [Str("..."), lambda result: Str("...")], ids=["string", "function"])
def test_a_marker_may_be_of_a_subclass_of_str(marker):
    rendered = text_of("a", "b").render(marker)
    assert (rendered, type(rendered)) == ("a...b", str)


@pytest.mark.parametrize("marker", [3, b"...", ["..."], True])
@pytest.mark.parametrize("result", [text_of("a", "b"), items_of(["a"], ["b"])], ids=["text", "items"])
def test_a_marker_is_a_string_or_a_function(result, marker):
    with pytest.raises(TypeError) as caught:
        result.render(marker=marker)
    expected = f"marker must be a string or a function that returns one, got {type(marker).__name__}"
    assert str(caught.value) == expected


@pytest.mark.parametrize("words", [None, 3, b"...", ["..."]])
@pytest.mark.parametrize("result", [text_of("a", "b"), items_of(["a"], ["b"])], ids=["text", "items"])
def test_a_marker_function_must_return_a_string(result, words):
    with pytest.raises(TypeError) as caught:
        result.render(marker=lambda result: words)
    expected = f"marker must be a string or a function that returns one, got {type(words).__name__}"
    assert str(caught.value) == expected


@pytest.mark.parametrize("result", [text_of("a", "b"), items_of(["a"], ["b"])], ids=["text", "items"])
def test_what_a_marker_function_raises_is_raised(result):
    def marker(result):
        raise LookupError("no words")

    with pytest.raises(LookupError, match="no words"):
        result.render(marker=marker)


# Texts: nothing omitted


@pytest.mark.parametrize("strategy", [TextHead(9), TextTail(9), TextHeadTail(3, 6), TextHead(9, max_lines=2)])
@pytest.mark.parametrize("marker", [None, "...", never], ids=["default", "string", "function"])
def test_a_text_that_lacks_nothing_is_rendered_as_itself(strategy, marker):
    result = retain(strategy, "ab\ncdé\n")
    assert result.text == "ab\ncdé\n"
    assert result.render(marker) is result.text


def test_an_empty_text_is_rendered_as_itself():
    assert retain(TextHead(0), b"").render() == ""


def test_rendering_changes_nothing():
    result = retain(TextHeadTail(1, 1), "abc")
    assert [result.render(), result.render("..."), result.render()] == [
        "a\n[Omitted 1 byte.]\nc",
        "a...c",
        "a\n[Omitted 1 byte.]\nc",
    ]
    assert result == RetainedText("ac", "a", "c", True, Omitted("exact", 1), 3)


# Items


@pytest.mark.parametrize(
    ("strategy", "rendered"),
    [
        (ItemHead(2), "a\nb\n[Omitted 3 items.]"),
        (ItemHead(4), "a\nb\nc\nd\n[Omitted 1 item.]"),
        (ItemHead(0), "[Omitted 5 items.]"),
        (ItemHead(2, stop="stop_when_full"), "a\nb\n[More items were omitted.]"),
        (ItemTail(2), "[Omitted 3 items.]\nd\ne"),
        (ItemTail(0), "[Omitted 5 items.]"),
        (ItemHeadTail(1, 2), "a\n[Omitted 2 items.]\nd\ne"),
        (ItemHeadTail(0, 2), "[Omitted 3 items.]\nd\ne"),
        (ItemHeadTail(2, 0), "a\nb\n[Omitted 3 items.]"),
        (ItemHeadTail(0, 0), "[Omitted 5 items.]"),
    ],
)
def test_items_are_rendered_one_a_line_with_a_line_in_the_gap(strategy, rendered):
    assert retain_items(strategy, "abcde").render() == rendered


@pytest.mark.parametrize("strategy", [ItemHead(5), ItemTail(5), ItemHeadTail(2, 3)])
@pytest.mark.parametrize("marker", [None, "...", never], ids=["default", "string", "function"])
def test_items_that_lack_nothing_have_no_marker(strategy, marker):
    assert retain_items(strategy, "abcde").render(marker=marker) == "a\nb\nc\nd\ne"


def test_no_items_are_no_text():
    assert retain_items(ItemHead(5), "").render() == ""


def test_one_item_is_one_line_without_a_newline():
    assert retain_items(ItemHead(5), "a").render() == "a"


def test_items_are_written_by_str_unless_a_function_is_given():
    result = items_of([1, None], [("a", 2)])
    assert result.render() == "1\nNone\n[Omitted 3 items.]\n('a', 2)"


@pytest.mark.parametrize("named", [False, True])
def test_items_may_be_written_by_a_function(named):
    result = items_of([1, 2], ["a"])
    rendered = result.render(line=repr) if named else result.render(repr)
    assert rendered == "1\n2\n[Omitted 3 items.]\n'a'"


def test_each_item_that_was_kept_is_written_once_in_its_order():
    written = []

    def line(item):
        written.append(item)
        return f"- {item}"

    assert retain_items(ItemHeadTail(2, 1), range(10)).render(line) == "- 0\n- 1\n[Omitted 7 items.]\n- 9"
    assert written == [0, 1, 9]


def test_what_the_function_of_an_item_raises_is_raised():
    def line(item):
        raise LookupError(f"no line for {item}")

    with pytest.raises(LookupError, match="no line for a"):
        items_of(["a"], ["b"]).render(line)


@pytest.mark.parametrize("written", [None, 3, b"a"])
@pytest.mark.parametrize("result", [items_of(["a"], ["b"]), retain_items(ItemHead(1), "a")], ids=["some", "all"])
def test_the_function_of_an_item_must_return_a_string(result, written):
    with pytest.raises(TypeError):
        result.render(line=lambda item: written)


@pytest.mark.parametrize(
    ("head", "tail", "rendered"),
    [
        (["a"], ["b"], "a\n...\nb"),
        (["a"], [], "a\n..."),
        ([], ["b"], "...\nb"),
        ([], [], "..."),
        ([""], [""], "\n...\n"),
    ],
)
def test_a_string_has_a_line_in_the_gap(head, tail, rendered):
    assert items_of(head, tail).render(marker="...") == rendered


@pytest.mark.parametrize("marker", ["", lambda result: ""], ids=["string", "function"])
@pytest.mark.parametrize(
    ("head", "tail", "rendered"), [(["a"], ["b"], "a\nb"), (["a"], [], "a"), ([], ["b"], "b"), ([], [], "")]
)
def test_an_empty_marker_makes_no_line(head, tail, rendered, marker):
    assert items_of(head, tail).render(marker=marker) == rendered


def test_a_function_is_asked_once_with_the_result_of_items():
    asked = []

    def marker(result):
        asked.append(result)
        return f"... {result.omitted.count} of {result.seen} ..."

    result = retain_items(ItemHeadTail(1, 1), "abcde")
    assert result.render(str.upper, marker) == "A\n... 3 of 5 ...\nE"
    assert len(asked) == 1
    assert asked[0] is result


def test_rendering_items_leaves_the_lists_as_they_are():
    result = retain_items(ItemHeadTail(1, 1), "abc")
    result.render()
    assert result == RetainedItems(["a", "c"], ["a"], ["c"], True, Omitted("exact", 1), 3, 2)
