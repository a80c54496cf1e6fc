"""Files: what retaining one gives is what pushing its content gives, however little of it is read."""

import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import byte_streams, line_strategies, line_streams
from watch import SLACK, SOON

from retention import TextHead, TextHeadTail, TextRetainer, TextTail, retain_file

RETAIN = [sys.executable, "-m", "retention"]
TERABYTE = 10**12

HOWS = [{}, {"count_lines": True}, {"whole_lines": True}, {"errors": "backslashreplace"}]
CONTENT = b"".join(b"%d \xe2\x82\xac\r\n" % number for number in range(20)) + b"\xf0\x9f\x98 no newline"
SIZE = len(CONTENT)
BUDGETS = [0, 1, 4, SIZE // 2, SIZE - 4, SIZE - 1, SIZE, SIZE + 1, 10**30]


def pushed(strategy, content, **how):
    retainer = TextRetainer(strategy, **how)
    retainer.push(content)
    return retainer


def assert_equal(one, other):
    """That two retainers say the same now, and go on equally."""
    for chunk in (b"", b"\xac more\n", b"\n" * 9, b"x" * 400):
        assert one.push(chunk) == other.push(chunk)
        assert one.finish() == other.finish()
        assert one.finish_bytes() == other.finish_bytes()
        assert (one.seen_bytes, one.truncated) == (other.seen_bytes, other.truncated)


@pytest.fixture
def file(tmp_path):
    """Makes a file of some content."""

    def make(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return make


# What is retained


@pytest.mark.parametrize("how", HOWS, ids=str)
@pytest.mark.parametrize("head", BUDGETS)
def test_it_is_what_pushing_the_content_gives(file, head, how):
    path = file(CONTENT)
    strategies = [TextHead(head), TextHead(head, stop="stop_when_full"), TextTail(head)]
    strategies += [TextHeadTail(head, tail) for tail in BUDGETS]
    for strategy in strategies:
        retainer = retain_file(path, strategy, **how)
        assert retainer.strategy == strategy
        assert_equal(retainer, pushed(strategy, CONTENT, **how))


@pytest.mark.parametrize("lines", [0, 1, 3, 19, 20, 21, 22, 10**30])
@pytest.mark.parametrize("size", [10, SIZE, 10**30])
def test_it_is_what_pushing_the_content_gives_with_budgets_in_lines(file, size, lines):
    path = file(CONTENT)
    for strategy in (
        TextHead(size, max_lines=lines),
        TextHead(size, max_lines=lines, stop="stop_when_full"),
        TextTail(size, max_lines=lines),
        TextHeadTail(size, size, head_lines=lines),
        TextHeadTail(size, size, tail_lines=lines),
        TextHeadTail(size, size, head_lines=lines, tail_lines=1),
    ):
        assert_equal(retain_file(path, strategy), pushed(strategy, CONTENT))


def test_any_content_and_strategy(tmp_path):
    path = tmp_path / "file"

    @settings(max_examples=200)
    @given(line_strategies, line_streams | byte_streams, st.sampled_from(HOWS))
    def check(strategy, content, how):
        path.write_bytes(content)
        assert_equal(retain_file(path, strategy, **how), pushed(strategy, content, **how))

    check()


@pytest.mark.parametrize("how", HOWS[:2], ids=str)
def test_a_file_of_many_blocks(file, how):
    content = b"".join(b"line %d\n" % number for number in range(200_000))
    path = file(content)
    for strategy in (TextHeadTail(5000, 5000), TextTail(600_000), TextHead(600_000), TextHeadTail(10**30, 0)):
        assert_equal(retain_file(path, strategy, **how), pushed(strategy, content, **how))


def test_merged_files_are_their_contents_pushed_in_that_order(file):
    strategy = TextHeadTail(60, 60, tail_lines=3)
    whole, content = TextRetainer(strategy), b""
    for number in range(10):
        part = CONTENT[number * 7 :]  # characters and lines go on from one file to the next
        whole.merge(retain_file(file(part, f"{number}.txt"), strategy))
        content += part
    assert_equal(whole, pushed(strategy, content))


@pytest.mark.parametrize("convert", [str, os.fsencode, Path, lambda path: Path(os.path.relpath(path))])
def test_a_path_may_be_of_any_kind(file, convert):
    assert retain_file(convert(file(b"abc")), TextHead(9)).finish().text == "abc"


def test_a_link_is_followed(file, tmp_path):
    (tmp_path / "link").symlink_to(file(CONTENT))
    assert retain_file(tmp_path / "link", TextTail(10)).seen_bytes == SIZE


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_an_empty_file_is_an_empty_stream(file, how):
    for strategy in (TextHead(3), TextTail(0), TextHeadTail(3, 3)):
        assert_equal(retain_file(file(b""), strategy, **how), TextRetainer(strategy, **how))


def test_the_settings_are_those_of_the_retainer(file):
    path = file(b"a\xffb\ncd\n")
    assert retain_file(path, TextHead(9), errors="ignore").finish().text == "ab\ncd\n"
    retainer = retain_file(path, TextHead(5), whole_lines=True)
    assert (retainer.whole_lines, retainer.finish().head) == (True, "a\ufffdb\n")
    assert retain_file(path, TextHead(5), count_lines=True).finish().seen_lines == 2
    assert retain_file(path, TextHead(5)).finish().seen_lines is None


@pytest.mark.parametrize(
    ("strategy", "how", "error"),
    [
        (None, {}, TypeError),
        (3, {}, TypeError),
        (TextHead(3), {"errors": 3}, TypeError),
        (TextHead(3), {"errors": "nonsense"}, LookupError),
        (TextHead(3), {"nonsense": True}, TypeError),
    ],
)
def test_wrong_settings_raise_what_the_retainer_raises(file, strategy, how, error):
    with pytest.raises(error):
        retain_file(file(b"abc"), strategy, **how)
    with pytest.raises(error):
        retain_file("/no such file", strategy, **how)


# What is no regular file, or says nothing of its size

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@linux
@pytest.mark.parametrize("how", HOWS, ids=str)
def test_a_file_of_proc_that_says_it_is_empty_is_drained(how):
    path = Path("/proc/self/cmdline")
    assert path.stat().st_size == 0
    content = path.read_bytes()
    assert content
    for strategy in (TextHead(5), TextTail(5), TextHeadTail(2, 3), TextHead(10**6)):
        assert_equal(retain_file(path, strategy, **how), pushed(strategy, content, **how))


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_a_fifo_is_drained(tmp_path, how):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    content = CONTENT * 1000  # more than a pipe holds
    writer = threading.Thread(target=fifo.write_bytes, args=(content,), daemon=True)
    writer.start()
    strategy = TextHeadTail(50, 50)
    assert_equal(retain_file(fifo, strategy, **how), pushed(strategy, content, **how))
    writer.join(SOON)
    assert not writer.is_alive()


def test_a_device_is_drained_up_to_an_early_stop():
    assert retain_file("/dev/null", TextTail(9)).finish().text == ""
    retainer = retain_file("/dev/zero", TextHead(4, stop="stop_when_full"))
    assert retainer.finish().head == "\0" * 4
    assert retainer.truncated


def test_a_directory_is_an_os_error(tmp_path):
    with pytest.raises(IsADirectoryError):
        retain_file(tmp_path, TextHead(3))


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        retain_file(tmp_path / "missing", TextHead(3))


# As much of it as is needed


@pytest.mark.parametrize(
    "strategy", [TextHead(9000), TextTail(9000), TextHeadTail(9000, 9000), TextHead(9, stop="stop_when_full")], ids=repr
)
def test_a_sparse_terabyte_takes_no_time_and_no_memory(file, strategy):
    path = file(b"begin")
    os.truncate(path, TERABYTE - 3)
    with path.open("ab") as end:
        end.write(b"end")
    tracemalloc.start()
    try:
        start = time.perf_counter()
        retainer = retain_file(path, strategy)
        result = retainer.finish()
        took, (_, peak) = time.perf_counter() - start, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert took < SLACK
    assert peak < 200_000
    assert (result.seen_bytes, result.truncated) == (TERABYTE, True)
    assert len(result.text) + result.omitted_bytes.count == TERABYTE
    assert strategy.kind == "tail" or result.head.startswith("begin\0")
    assert strategy.kind == "head" or result.tail.endswith("\0end")


def test_the_ends_of_sparse_terabytes_can_be_merged(file):
    strategy = TextHeadTail(7, 5)
    path = file(b"begin")
    os.truncate(path, TERABYTE)
    result = (retain_file(path, strategy) + retain_file(path, strategy) + pushed(strategy, b"end")).finish()
    assert (result.head, result.tail, result.seen_bytes) == ("begin\0\0", "\0\0end", 2 * TERABYTE + 3)


def test_reading_lines_takes_no_memory_beyond_the_budget_and_a_block(file):
    path = file(b"x\n" * 8_000_000)
    tracemalloc.start()
    try:
        result = retain_file(path, TextHeadTail(100, 100), count_lines=True).finish()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (result.seen_lines, result.omitted_lines.count) == (8_000_000, 7_999_900)
    assert peak < 600_000


@linux
@pytest.mark.parametrize("how", HOWS, ids=str)
def test_no_descriptor_is_left_open(file, tmp_path, how):
    paths = [file(CONTENT), file(b"", "empty"), Path("/proc/self/cmdline"), tmp_path, tmp_path / "missing"]
    before = os.listdir("/proc/self/fd")
    for path in paths * 3:
        for strategy in (TextHeadTail(3, 3), TextHead(3, stop="stop_when_full")):
            try:
                retain_file(path, strategy, **how)
            except OSError:
                assert path in paths[-2:]
    assert os.listdir("/proc/self/fd") == before


# Files that change meanwhile


@pytest.fixture
def right_after_its_size_is_known(monkeypatch):
    """Does something to a file once its size has been asked for."""

    def arrange(action):
        fstat = os.fstat

        def and_then(fd):
            status = fstat(fd)
            action()
            return status

        monkeypatch.setattr("retention.file.os.fstat", and_then)

    return arrange


def append(path, content):
    with path.open("ab") as file:
        file.write(content)


@pytest.mark.parametrize("how", HOWS, ids=str)
@pytest.mark.parametrize("strategy", [TextHead(5), TextTail(5), TextHeadTail(5, 5), TextHead(10**6)], ids=repr)
def test_what_is_written_later_is_not_counted(file, right_after_its_size_is_known, strategy, how):
    path = file(CONTENT)
    right_after_its_size_is_known(lambda: append(path, b"later\n" * 100_000))
    assert_equal(retain_file(path, strategy, **how), pushed(strategy, CONTENT, **how))


@pytest.mark.parametrize("how", HOWS, ids=str)
@pytest.mark.parametrize("strategy", [TextTail(5), TextHeadTail(5, 5), TextHead(10**6)], ids=repr)
@pytest.mark.parametrize("size", [0, 3, SIZE - 1])
def test_a_file_that_became_shorter_is_an_os_error(file, right_after_its_size_is_known, strategy, how, size):
    path = file(CONTENT)
    right_after_its_size_is_known(lambda: os.truncate(path, size))
    before = os.listdir("/proc/self/fd") if sys.platform == "linux" else None
    with pytest.raises(OSError, match="short"):
        retain_file(path, strategy, **how)
    assert before is None or os.listdir("/proc/self/fd") == before


def test_a_file_that_is_replaced_while_it_is_read_is_read_to_its_own_end(file, right_after_its_size_is_known):
    path = file(CONTENT)
    right_after_its_size_is_known(lambda: os.replace(file(b"another", "other"), path))
    assert retain_file(path, TextTail(11)).finish().tail == " no newline"


# On the command line


def retain(*words, stdin=b"", cwd=None):
    return subprocess.run([*RETAIN, *words], input=stdin, capture_output=True, timeout=SOON, cwd=cwd)


def test_a_file_is_shown_as_standard_input_would_be(file):
    path = file(CONTENT)
    for words in (["--head", "9"], ["--tail", "9"], ["--lines", "2"], ["--json"], ["--head=9", "--whole-lines"], []):
        one, other = retain(*words, path), retain(*words, stdin=CONTENT)
        assert (one.stdout, one.stderr, one.returncode) == (other.stdout, b"", 0)


def test_options_may_stand_before_and_after_the_files(file):
    path = file(b"abcdef")
    assert retain(path, "--head", "2", "--no-marker").stdout == b"ab"


def test_several_files_stand_under_their_names(tmp_path, file):
    file(b"one\n", "a.txt")
    file(b"1\n2\n3\n4\n", "b.txt")
    file(b"", "c.txt")
    run = retain("--lines", "1", "a.txt", "b.txt", "c.txt", "a.txt", cwd=tmp_path)
    assert run.stdout.decode() == (
        "==> a.txt <==\none\n\n==> b.txt <==\n1\n[Omitted 2 lines.]\n4\n\n==> c.txt <==\n\n==> a.txt <==\none\n"
    )
    assert (run.stderr, run.returncode) == (b"", 0)


def test_a_dash_is_standard_input_among_files_or_alone(tmp_path, file):
    file(b"one\n", "a.txt")
    run = retain("a.txt", "-", stdin=b"two\n", cwd=tmp_path)
    assert run.stdout == b"==> a.txt <==\none\n\n==> - <==\ntwo\n"
    assert retain("-", "--head", "2", "--no-marker", stdin=b"two\n").stdout == b"tw"


def test_a_missing_file_is_a_message_and_status_1_and_the_others_are_shown(tmp_path, file):
    file(b"one\n", "a.txt")
    file(b"two\n", "b.txt")
    run = retain("a.txt", "missing.txt", ".", "b.txt", cwd=tmp_path)
    assert run.stdout == b"==> a.txt <==\none\n\n==> b.txt <==\ntwo\n"
    first, second = run.stderr.decode().splitlines()
    assert first.startswith("retain: missing.txt: ")
    assert second.startswith("retain: .: ")
    assert run.returncode == 1


@pytest.mark.parametrize("files", [["missing.txt", "-"], ["-", "missing.txt"]])
def test_a_missing_file_is_status_1_also_beside_standard_input(files, tmp_path):
    run = retain(*files, stdin=b"one\n", cwd=tmp_path)
    assert (run.stdout, run.returncode) == (b"==> - <==\none\n", 1)


def test_a_missing_file_alone_is_a_message_and_status_1():
    run = retain("/no such file")
    assert (run.stdout, run.returncode) == (b"", 1)
    assert run.stderr.startswith(b"retain: /no such file: ")


def test_json_is_one_object_a_line_for_each_file_in_turn(tmp_path, file):
    file(b"one\n", "a.txt")
    file("€\n2\n3\n".encode(), "b.txt")
    run = retain("--lines", "1", "--json", "a.txt", "missing", "b.txt", cwd=tmp_path)
    one, two = map(json.loads, run.stdout.splitlines())
    assert (one["text"], one["truncated"], one["seen"]) == ("one\n", False, 4)
    assert (two["text"], two["seen_lines"], two["omitted_lines"]) == ("€\n3\n", 3, {"kind": "exact", "count": 1})
    assert run.returncode == 1


def test_a_terabyte_is_shown_at_once(tmp_path, file):
    path = file(b"begin\n")
    os.truncate(path, TERABYTE)
    append(path, b"\nend\n")
    start = time.perf_counter()
    run = retain("--head", "6", "--tail", "5", path)
    assert time.perf_counter() - start < SOON / 4
    assert run.stdout == b"begin\n[Omitted 999999999994 bytes.]\nend\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name may have to be UTF-8")
def test_a_name_that_is_no_utf8_is_shown_by_its_bytes(tmp_path, file):
    file(b"one\n", "a.txt")
    (tmp_path / os.fsdecode(b"\xff.txt")).write_bytes(b"two\n")
    run = retain(b"a.txt", b"\xff.txt", b"\xfe", cwd=tmp_path)
    assert run.stdout == b"==> a.txt <==\none\n\n==> \xff.txt <==\ntwo\n"
    assert run.stderr.startswith(b"retain: \xfe: ")


def test_an_early_stop_is_for_each_file(tmp_path, file):
    file(b"abcdef", "a.txt")
    file(b"abc", "b.txt")
    run = retain("--head", "4", "--stop", "a.txt", "b.txt", cwd=tmp_path)
    assert run.stdout == b"==> a.txt <==\nabcd\n[More bytes were omitted.]\n\n==> b.txt <==\nabc"


def test_files_and_a_command_contradict_each_other(file):
    run = retain(file(b"abc"), "--", "true")
    assert (run.stdout, run.returncode) == (b"", 2)


@pytest.mark.parametrize("option", [["--timeout", "3"], ["--spill", "spilled"], ["--stats"], ["--merge"]])
def test_options_for_a_command_are_refused_with_a_file(tmp_path, file, option):
    run = retain(*option, file(b"abc"), cwd=tmp_path)
    assert (run.stdout, run.returncode) == (b"", 2)
    assert option[0].encode() in run.stderr


def test_a_full_disk_is_a_message_and_status_1(file):
    path = file(b"abc")
    with open("/dev/full", "wb") as full:
        run = subprocess.run([*RETAIN, path, path], stdout=full, stderr=subprocess.PIPE, timeout=SOON)
    assert run.returncode == 1
    assert run.stderr.startswith(b"retain: ")
