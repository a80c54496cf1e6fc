"""The `retain` command, as a process of its own."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from watch import SOON, wait_for

from retention import TextHead, TextHeadTail, TextRetainer, TextTail
from retention._options import UsageError, parse_number, parse_size

RETAIN = [sys.executable, "-m", "retention"]

NUMBERS = "".join(f"{number}\n" for number in range(20_000)).encode()


def retain(*words, stdin=NUMBERS, env=None):
    return subprocess.run([*RETAIN, *words], input=stdin, capture_output=True, timeout=SOON, env=env)


def kept(strategy, stream=NUMBERS):
    retainer = TextRetainer(strategy)
    retainer.push(stream)
    return retainer.finish()


@pytest.mark.parametrize(
    ("words", "strategy"),
    [
        ([], TextHeadTail(8192, 8192)),
        (["--head", "1K"], TextHead(1024)),
        (["--tail=1K"], TextTail(1024)),
        (["--head", "100", "--tail", "2KB"], TextHeadTail(100, 2000)),
        (["--head", "0", "--tail", "0"], TextHeadTail(0, 0)),
        (["--head", "1M"], TextHead(1 << 20)),
        (["--lines", "3"], TextHeadTail(1 << 20, 1 << 20, head_lines=3, tail_lines=3)),
        (["--lines", "3", "--head", "4"], TextHeadTail(4, 1 << 20, head_lines=3, tail_lines=3)),
        (["--lines", "3", "--tail-lines", "0"], TextHeadTail(1 << 20, 1 << 20, head_lines=3, tail_lines=0)),
        (["--head-lines", "3"], TextHead(1 << 20, max_lines=3)),
        (["--tail-lines", "3", "--tail", "5"], TextTail(5, max_lines=3)),
        (["--head", "9", "--tail-lines", "3"], TextHeadTail(9, 1 << 20, tail_lines=3)),
    ],
)
def test_it_keeps_what_the_strategy_of_the_same_name_keeps(words, strategy):
    expected = kept(strategy)
    run = retain(*words, "--no-marker")
    assert (run.stdout.decode(), run.stderr, run.returncode) == (expected.text, b"", 0)


@pytest.mark.parametrize(
    ("words", "stdin", "stdout"),
    [
        (["--head", "3", "--tail", "3"], b"abcdefghij", b"abc\n[Omitted 4 bytes.]\nhij"),
        (["--head", "3", "--tail", "3"], b"ab\ndefg\nij", b"ab\n[Omitted 4 bytes.]\nij"),
        (["--head", "3"], b"abcd", b"abc\n[Omitted 1 byte.]\n"),
        (["--tail", "3"], b"abcd", b"[Omitted 1 byte.]\nbcd"),
        (["--head", "0", "--tail", "0"], b"abcd", b"[Omitted 4 bytes.]\n"),
        (["--head", "3", "--stop"], b"abcd", b"abc\n[More bytes were omitted.]\n"),
        (["--head", "3", "--marker", "... cut ..."], b"abcd", b"abc\n... cut ...\n"),
        (["--head", "3", "--marker="], b"abcd", b"abc"),
        (["--head", "4"], b"abcd", b"abcd"),
        (["--lines", "1"], b"a\nb\nc\nd\n", b"a\n[Omitted 2 lines.]\nd\n"),
        (["--head-lines", "1", "--stop"], b"a\nb\n", b"a\n[More lines were omitted.]\n"),
        (["--head", "3", "--whole-lines"], b"a\nb\nc\n", b"a\n[Omitted 2 lines.]\n"),
        (["--head", "3", "--whole-lines"], b"abcd\n", b"abc\n[Omitted 2 bytes.]\n"),
        ([], b"", b""),
    ],
)
def test_the_marker_is_a_line_of_its_own_where_something_is_missing(words, stdin, stdout):
    assert retain(*words, stdin=stdin).stdout == stdout


def test_json_is_one_object_with_everything():
    run = retain("--head", "4", "--tail", "3", "--json", stdin="a€bcdé€".encode())  # 1+3+1+1+1+2+3 = 12 bytes
    assert json.loads(run.stdout) == {
        "text": "a€€",
        "head": "a€",
        "tail": "€",
        "truncated": True,
        "omitted": {"kind": "exact", "count": 5},
        "seen": 12,
    }
    assert run.stdout.count(b"\n") == 1


def test_json_of_an_early_stop_counts_at_least():
    run = retain("--head", "4", "--stop", "--json")
    answer = json.loads(run.stdout)
    assert answer["omitted"] == {"kind": "at_least", "count": answer["seen"] - 4}


def test_json_has_the_lines_where_they_are_counted():
    assert json.loads(retain("--lines", "1", "--json", stdin=b"a\nb\nc\nd").stdout) == {
        "text": "a\nd",
        "head": "a\n",
        "tail": "d",
        "truncated": True,
        "omitted": {"kind": "exact", "count": 4},
        "seen": 7,
        "seen_lines": 4,
        "omitted_lines": {"kind": "exact", "count": 2},
    }


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_text_is_utf8_whatever_the_locale(locale, words):
    env = {**os.environ, "LC_ALL": locale, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    run = retain(*words, "--marker", "…", stdin="é€😀\r\n".encode(), env=env)
    assert "é€😀" in run.stdout.decode()
    assert run.returncode == 0


def test_malformed_input_comes_out_as_replacement_characters():
    assert retain(stdin=b"a\xffb\xe2\x82").stdout == "a\ufffdb\ufffd".encode()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--hed", "3"], b"--hed"),
        (["file.txt", "--", "true"], b"file.txt"),
        (["--"], b"no command"),
        (["--head"], b"--head needs a value"),
        (["--stop"], b"--stop"),
        (["--stop", "--tail", "3"], b"--stop"),
        (["--stop", "--head", "3", "--tail", "3"], b"--stop"),
        (["--lines", "-3"], b"--lines takes a number"),
        (["--head-lines", "4K"], b"--head-lines takes a number"),
        (["--stop", "--lines", "3"], b"--stop"),
        (["--json=yes"], b"--json takes no value"),
        (["--marker", "x", "--no-marker"], b"--no-marker"),
        (["--head", "-1"], b"'-1'"),
        (["--tail", "8X"], b"'8X'"),
    ],
)
def test_wrong_options_are_a_message_and_status_2(words, named):
    run = retain(*words, stdin=b"abc")
    assert (run.stdout, run.returncode) == (b"", 2)
    assert run.stderr.startswith(b"retain: ")
    assert named in run.stderr


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("8192", 8192), ("8192B", 8192), ("8K", 8192), ("8k", 8192), ("8KiB", 8192), ("8KB", 8000),
     ("3M", 3 << 20), ("3MiB", 3 << 20), ("3MB", 3 * 10**6), ("2G", 2 << 30), ("1T", 1 << 40), ("1PB", 10**15),
     ("1E", 1 << 60), ("1EB", 10**18), ("9" * 30, int("9" * 30))],
)  # fmt: skip
def test_sizes(text, size):
    assert parse_size("--head", text) == size


@pytest.mark.parametrize(
    "text",
    ["", "K", "-1", "+1", "1.5K", "1_000", "8KK", "8KiBs", "8i", "8iB", "8 K", " 8", "8Z", "٣", "²", "0x1",
     "9" * 31, "9" * 5000],
)  # fmt: skip
def test_what_is_no_size_is_refused(text):
    with pytest.raises(UsageError, match="--head takes a size"):
        parse_size("--head", text)


def test_numbers():
    for text in ("0", "40", "0040", "9" * 30):
        assert parse_number("--lines", text) == int(text)


@pytest.mark.parametrize("text", ["", "-1", "+1", "1.5", "1_000", "4K", " 4", "٣", "²", "0x1", "9" * 31, "9" * 5000])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(UsageError, match="--lines takes a number"):
        parse_number("--lines", text)


def test_help_and_version_answer_without_reading():
    with subprocess.Popen([*RETAIN, "--help"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert b"usage: retain" in process.stdout.read()
        assert process.wait(SOON) == 0
    assert retain("-h").stdout == retain("--help").stdout
    run = retain("--version")
    assert run.stdout.startswith(b"retain 0.")
    assert run.returncode == 0


def test_early_stop_closes_the_pipe_on_the_source():
    # Without the stop, `yes` would not end; SIGPIPE says that the pipe was closed, and not read to any end.
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as source:
        run = subprocess.run([*RETAIN, "--head", "4", "--stop"], stdin=source.stdout, capture_output=True, timeout=SOON)
        source.stdout.close()
        assert source.wait(SOON) == -signal.SIGPIPE
    assert run.stdout == b"y\ny\n[More bytes were omitted.]\n"


def test_early_stop_closes_the_pipe_before_anybody_takes_the_output():
    with subprocess.Popen(
        [*RETAIN, "--head", "1M", "--stop"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        os.set_blocking(process.stdin.fileno(), False)

        def is_closed():
            try:
                return os.write(process.stdin.fileno(), bytes(64 << 10)) < 0
            except BlockingIOError:
                return False
            except BrokenPipeError:
                return True

        wait_for(is_closed)
        assert process.poll() is None
        assert process.stdout.read() == bytes(1 << 20) + b"\n[More bytes were omitted.]\n"


@pytest.mark.parametrize("words", [[], ["--json"], ["--help"]])
def test_a_closed_output_ends_quietly_with_status_141(words):
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen([*RETAIN, *words], stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        _, complaint = process.communicate(NUMBERS, timeout=SOON)
        assert (complaint, process.returncode) == (b"", 141)


def test_an_output_that_takes_a_little_at_a_time_gets_everything():
    # A pipe holds 64 KiB: the write of 100 KiB is taken in parts.
    run = retain("--head", "100K", "--no-marker", stdin=b"x" * (200 << 10))
    assert run.stdout == b"x" * (100 << 10)


def test_a_full_disk_is_a_message_and_status_1():
    with open("/dev/full", "wb") as full:
        run = subprocess.run([*RETAIN], input=b"abc", stdout=full, stderr=subprocess.PIPE, timeout=SOON)
    assert run.returncode == 1
    assert run.stderr.startswith(b"retain: ")


def test_a_closed_input_is_a_message_and_status_1():
    run = subprocess.run([*RETAIN], preexec_fn=lambda: os.close(0), capture_output=True, timeout=SOON)
    message = f"retain: {os.strerror(errno.EBADF)}\n".encode()
    assert (run.stdout, run.stderr, run.returncode) == (b"", message, 1)


@pytest.mark.parametrize("end", ["input", "output"])
def test_ends_that_somebody_made_non_blocking_are_waited_for(end):
    reader, writer = os.pipe()
    if end == "input":
        os.set_blocking(reader, False)
        with subprocess.Popen([*RETAIN], stdin=reader, stdout=subprocess.PIPE) as process:
            os.close(reader)
            for part in (b"slow ", b"input"):
                time.sleep(0.2)
                os.write(writer, part)
            os.close(writer)
            assert process.stdout.read() == b"slow input"
            assert process.wait(SOON) == 0
    else:
        os.set_blocking(writer, False)
        with subprocess.Popen([*RETAIN, "--head", "1M"], stdin=subprocess.PIPE, stdout=writer) as process:
            os.close(writer)
            process.stdin.write(b"x" * (1 << 20))
            process.stdin.close()
            time.sleep(0.2)
            with open(reader, "rb") as output:
                assert output.read() == b"x" * (1 << 20)
            assert process.wait(SOON) == 0


def test_ctrl_c_shows_what_has_come():
    with subprocess.Popen([*RETAIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"partial")
        process.stdin.flush()
        wait_until_read(process.stdin.fileno())
        process.send_signal(signal.SIGINT)
        assert (process.stdout.read(), process.stderr.read()) == (b"partial", b"")
        assert process.wait(SOON) == 130


def wait_until_read(pipe):
    # FIONREAD on the writing end tells what the reader has not taken yet.
    import fcntl
    import termios

    deadline = time.monotonic() + SOON
    while int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_memory_stays_flat_over_a_long_stream():
    script = (
        "import resource, subprocess, sys\n"
        "source = subprocess.Popen('yes | head -c 1G', shell=True, stdout=subprocess.PIPE)\n"
        "subprocess.run([sys.executable, '-m', 'retention', '--json'], stdin=source.stdout, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=SOON)
    answer, peak = run.stdout.splitlines()
    assert json.loads(answer)["seen"] == 1 << 30
    assert int(peak) < 64 << 10  # KiB; an interpreter alone takes about 12 MiB
