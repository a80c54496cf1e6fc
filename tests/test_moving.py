"""The README's tables of what to write instead: both sides are run, and every name is there."""

import ast
import subprocess
import sys
from collections import deque
from itertools import islice

import pytest
from readme import code_in, section, table
from streams import items_of, text_of

import retention
from retention import (
    ItemHead,
    ItemHeadTail,
    ItemTail,
    Omitted,
    PushDecision,
    RetainedItems,
    RetainedText,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
)

pytestmark = pytest.mark.usefixtures("nothing_left")

MOVING = section("Moving from what you have")
FROM_PYTHON = table(MOVING, "you write", "write instead", "what changes")
FROM_TYPESCRIPT = table(MOVING, "TypeScript", "Python", "what changes")


def value(code, **names):
    """What the last expression of some code is worth, after `from retention import *`."""
    scope = {"subprocess": subprocess, "deque": deque, "islice": islice, **names}
    exec("from retention import *", scope)
    tree = ast.parse(code)
    exec(compile(ast.Module(tree.body[:-1], []), "README.md", "exec"), scope)
    return eval(compile(ast.Expression(tree.body[-1].value), "README.md", "eval"), scope)


# From Python


def sides(start):
    """The row that starts so: a function for each of its two sides."""
    ((old, new, _),) = [row for row in FROM_PYTHON if code_in(row[0]) == [start]]
    ((new_code,),) = [code_in(new)]
    assert old == f"`{start}`"
    return (lambda **names: value(start, **names)), (lambda **names: value(new_code, **names))


CAPTURE = "subprocess.run(argv, capture_output=True).stdout"
CHECK = "subprocess.check_output(argv)"
COMMUNICATE = "popen.communicate()[0][-n:]"
FILE = 'open(path, "rb").read()[-n:]'
DEQUE = "deque(lines, maxlen=n)"
ISLICE = "list(islice(found, n))"
DECODE = 'data[:n].decode(errors="ignore")'
DOTS = 'text[:n] + "..."'
ENDS = r'text[:n] + "\n...\n" + text[-n:]'


def test_every_row_has_a_test():
    tested = {CAPTURE, f"{CAPTURE}[-n:]", CHECK, COMMUNICATE, FILE, DEQUE, ISLICE, DECODE, DOTS, ENDS}
    assert {code for row in FROM_PYTHON for code in code_in(row[0])} == tested


def test_capture_output():
    old, new = sides(CAPTURE)
    fits = ["seq", "3000"]
    assert new(argv=fits) == old(argv=fits).decode()
    more = ["seq", "30000"]
    captured = old(argv=more).decode()
    assert new(argv=more) == captured[:8192] + captured[-8192:]


def test_capture_output_and_slice():
    old, new = sides(f"{CAPTURE}[-n:]")
    assert new(argv=["seq", "30000"], n=100) == old(argv=["seq", "30000"], n=100).decode()
    assert old(argv=["seq", "9"], n=0) != b""
    assert new(argv=["seq", "9"], n=0) == ""
    euros = ["printf", "€€€"]
    assert old(argv=euros, n=4).decode(errors="replace") == "\ufffd€"
    assert new(argv=euros, n=4) == "€"
    assert retention.run(euros, stdout=TextTail(4)).stdout.omitted_bytes == Omitted("exact", 6)


def test_check_output():
    old, new = sides(CHECK)
    assert new(argv=["seq", "30"]) == old(argv=["seq", "30"]).decode()
    failing = ["sh", "-c", "seq 30000; exit 3"]
    for side in (old, new):
        with pytest.raises(subprocess.CalledProcessError) as raised:
            side(argv=failing)
        assert raised.value.returncode == 3
        with pytest.raises(FileNotFoundError):
            side(argv=["/no/such/program"])
    assert raised.value.result.stdout.omitted_bytes.kind == "exact"


def test_check_output_leaves_standard_error_alone(capfd):
    for side in sides(CHECK):
        side(argv=["sh", "-c", "echo complaint >&2"])
        assert capfd.readouterr() == ("", "complaint\n")


def test_communicate():
    old, new = sides(COMMUNICATE)

    def popen():
        return subprocess.Popen(["seq", "30000"], stdout=subprocess.PIPE)

    with popen() as first, popen() as second, popen() as third:
        expected = old(popen=first, n=100)
        assert new(popen=second, n=100) == expected.decode()
        retainer = TextRetainer(TextTail(100))
        retention.communicate(third, stdout=retainer)
    assert retainer.finish_bytes().tail == expected


def test_file(tmp_path):
    old, new = sides(FILE)
    path = tmp_path / "file"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(10_000)))
    # The old side leaves its file to the collector.
    with pytest.warns(ResourceWarning):
        expected = old(path=path, n=100)
    assert new(path=path, n=100) == expected.decode()
    # Of a terabyte that is nearly all hole, only the end can have been read in this time.
    with path.open("r+b") as file:
        file.seek(1 << 40)
        file.write(b"the end")
    assert new(path=path, n=7) == "the end"


def test_deque():
    old, new = sides(DEQUE)
    for n in (0, 3, 100):
        lines = [f"{number}\n" for number in range(10)]
        assert new(lines=iter(lines), n=n) == list(old(lines=iter(lines), n=n))
    assert items_of(ItemTail(3), range(10)).finish().omitted == Omitted("exact", 7)
    assert items_of(ItemHeadTail(1, 2), range(10)).finish().items == [0, 8, 9]


def test_islice():
    old, new = sides(ISLICE)
    one, other = iter(range(10)), iter(range(10))
    assert new(found=one, n=3) == old(found=other, n=3) == [0, 1, 2]
    assert (next(one), next(other)) == (4, 3)
    assert items_of(ItemHead(3), range(4)).truncated
    assert not items_of(ItemHead(3), range(3)).truncated


def test_decode():
    old, new = sides(DECODE)
    assert new(data="a€€".encode(), n=5) == old(data="a€€".encode(), n=5) == "a€"
    assert old(data=b"a\xffb", n=5) == "ab"
    assert new(data=b"a\xffb", n=5) == "a\ufffdb"


def test_dots():
    old, new = sides(DOTS)
    text = "0123456789" * 10
    assert new(text=text, n=23) == old(text=text, n=20)
    assert (new(text=text, n=100), old(text=text, n=100)) == (text, text + "...")
    euros = new(text="€" * 100, n=20)
    assert euros == "€€€€€..."
    assert len(euros.encode()) <= 20


def test_both_ends():
    old, new = sides(ENDS)
    text = "0123456789" * 10
    head, marker, tail = new(text=text, n=25).split("\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert marker == f"[Omitted {100 - len(head) - len(tail)} bytes.]"
    assert len(new(text=text, n=25)) == 50
    assert old(text="short", n=25) == "short\n...\nshort"
    assert new(text="short", n=25) == "short"


@pytest.mark.usefixtures("started_when_it_speaks")
def test_run_has_a_session_of_its_own_and_raises_only_with_check():
    argv = [sys.executable, "-c", "import os; print(os.getsid(0) == os.getpid())"]
    assert retention.run(argv).stdout.text == "True\n"
    result = retention.run(["sh", "-c", "echo before; exec sleep 1000"], timeout=0.3)
    assert (result.timed_out, result.stdout.text) == (True, "before\n")
    with pytest.raises(subprocess.TimeoutExpired):
        retention.run(["sh", "-c", "echo before; exec sleep 1000"], timeout=0.1, check=True)


# From TypeScript

# What the package's declarations export, and the fields and methods of that.
EXPORTED = [
    *("ItemRetainer", "TextRetainer", "describeOmitted", "formatRetentionNotice"),
    *("Omitted", "PushDecision", "RetainedItems", "RetainedText"),
    *("ItemRetentionStrategy", "TextRetentionStrategy", "RetentionNotice"),
    *("push", "finish", "kept", "truncated", "items", "seen", "omitted", "text", "omittedBytes"),
    *("kind", "maxItems", "maxBytes", "headBytes", "tailBytes", "'head'", "'tail'", "'headTail'"),
    *("'none'", "'exact'", "'unknown'", "count", "scope", "strategy", "unit", "limit"),
]


@pytest.mark.parametrize("name", EXPORTED)
def test_every_name_of_theirs_is_in_the_table(name):
    assert name in " ".join(row[0] for row in FROM_TYPESCRIPT)


def example():
    """A value for each name that the table's code speaks of."""
    retainer = text_of(TextHead(3), "0123456789")
    result = retainer.finish()
    found = items_of(ItemHead(3), range(10)).finish()
    decision = retainer.push(chunk := "x")
    notice = retainer.notice(scope := "scope")
    omitted, unit, recovery = Omitted("exact", 1), "items", "Look elsewhere."
    n = h = t = count = 3
    T = str  # noqa: N806
    return locals()


@pytest.mark.parametrize("code", [code for row in FROM_TYPESCRIPT for code in code_in(row[1])])
def test_every_name_of_ours_is_there(code):
    assert value(code, **example()) is not None


def test_every_type_is_what_the_table_says():
    kinds = {
        "retainer.push(chunk)": PushDecision,
        "retainer.finish()": RetainedText,
        "result": RetainedText,
        "found": RetainedItems,
        "decision": PushDecision,
        "retainer.notice(scope)": retention.RetentionNotice,
    }
    for code, kind in kinds.items():
        assert isinstance(value(code, **example()), kind)
    assert issubclass(TextHead, retention.TextRetentionStrategy)
    assert issubclass(ItemHead, retention.ItemRetentionStrategy)


def test_what_the_last_column_adds():
    assert TextHead(3, max_lines=2, stop="stop_when_full").kind == "head"
    assert TextTail(3, max_lines=2).kind == "tail"
    assert TextHeadTail(1, 2).kind == "head_tail"
    assert items_of(ItemHead(3, stop="stop_when_full"), range(3)).push(3).should_stop
    assert items_of(ItemHeadTail(1, 2), range(9)).finish().items == [0, 7, 8]
    assert example()["decision"].should_stop is False
    assert example()["result"] == RetainedText("012", "012", "", True, Omitted("exact", 7), 10)
    assert (example()["found"].head, example()["found"].tail) == ([0, 1, 2], [])
    assert text_of(TextHead(3, stop="stop_when_full"), "0123").finish().omitted_bytes == Omitted("at_least", 1)
    assert (Omitted("none").count, Omitted("unknown").count) == (0, None)
    assert text_of(TextHeadTail(1, 2)).notice("").limit == retention.HeadTailLimit(1, 2)
    assert retention.describe_omitted(Omitted("exact", 1), "items") == "Omitted 1 item."
    assert retention.format_retention_notice(example()["notice"], "Look.") == "Omitted 8 bytes. Look."


def test_what_is_pushed_is_copied_and_what_was_answered_stays():
    chunk = bytearray(b"aa")
    retainer = text_of(TextHead(9), chunk)
    before = retainer.finish()
    chunk[:] = b"zz"
    retainer.push(memoryview(chunk))
    assert (before.text, retainer.finish().text) == ("aa", "aazz")
    items = items_of(ItemHead(9), [1])
    found = items.finish()
    items.push(2)
    assert found.items == [1]


def test_a_byte_order_mark_is_kept():
    assert text_of(TextHead(9), "\ufeffab").finish().text == "\ufeffab"


def test_only_a_divided_character_is_trimmed():
    # Theirs keeps "a" and "b", and counts 5 omitted bytes each time.
    head = text_of(TextHead(2), b"a\xc0bbbb").finish()
    tail = text_of(TextTail(4), b"bb\x80\x80\x80b").finish()
    assert (head.text, head.omitted_bytes.count) == ("a\ufffd", 4)
    assert (tail.text, tail.omitted_bytes.count) == ("\ufffd\ufffd\ufffdb", 2)
    assert text_of(TextHead(3), "a€b").finish().text == "a"


@pytest.mark.parametrize(("wrong", "error"), [(True, TypeError), (1.0, TypeError), ("1", TypeError), (-1, ValueError)])
def test_a_wrong_budget(wrong, error):
    for strategy in (TextHead, TextTail, ItemHead):
        with pytest.raises(error, match="must be a non-negative integer"):
            strategy(wrong)


def test_a_strategy_is_no_plain_object():
    with pytest.raises(TypeError, match="strategy"):
        TextRetainer({"kind": "heads", "maxBytes": 3})
