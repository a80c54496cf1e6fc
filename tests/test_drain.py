"""TextRetainer.drain: every kind of source is read to its end, or to a stop, and nothing of it is lost."""

import errno
import gzip
import io
import os
import pickle
import pty
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty

import pytest
from processes import KIB, MIB, interpreter, kept
from watch import SLACK, SOON, unread, wait_for

from retention import DrainResult, Omitted, TextHead, TextHeadTail, TextRetainer, TextTail

pytestmark = pytest.mark.usefixtures("nothing_left")

ALL = TextHead(100 * MIB)
FIRST_TEN = TextHead(10, stop="stop_when_full")
NUMBERS = "".join(f"{number}\n" for number in range(1, 20_001)).encode()


@pytest.fixture
def retainer():
    return TextRetainer(ALL)


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(NUMBERS)
    return path


class Pipe:
    """A pipe with something in it; `reader` and `writer` are descriptors."""

    def __init__(self, content=b""):
        self.reader, self.writer = os.pipe()
        os.write(self.writer, content)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.close(self.reader)
        self.end()

    def end(self):
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1


def seq():
    """A program that writes NUMBERS."""
    return subprocess.Popen(["seq", "20000"], stdout=subprocess.PIPE)


# Sources with a descriptor


def test_a_descriptor_is_read_to_its_end(retainer):
    with seq() as source:
        assert retainer.drain(source.stdout.fileno()) == DrainResult("eof", len(NUMBERS))
    assert retainer.finish().text == NUMBERS.decode()


def test_the_file_of_a_pipe_is_read_to_its_end(retainer):
    with seq() as source:
        assert retainer.drain(source.stdout) == DrainResult("eof", len(NUMBERS))
        assert not source.stdout.closed
    assert retainer.finish().text == NUMBERS.decode()


@pytest.mark.parametrize("buffering", [0, -1, 10])
def test_a_file_is_read_to_its_end(buffering, retainer, numbers):
    with numbers.open("rb", buffering=buffering) as file:
        assert retainer.drain(file) == DrainResult("eof", len(NUMBERS))
        assert not file.closed
    assert retainer.finish().text == NUMBERS.decode()


def test_an_empty_file_is_at_its_end(retainer, tmp_path):
    (tmp_path / "empty").touch()
    with (tmp_path / "empty").open("rb") as file:
        assert retainer.drain(file) == DrainResult("eof", 0)


@pytest.mark.parametrize("strategy", [TextHead(100), TextTail(100), TextHeadTail(50, 50), TextHeadTail(0, 0)])
def test_what_is_kept_is_what_pushing_keeps(strategy):
    retainer = TextRetainer(strategy)
    with seq() as source:
        retainer.drain(source.stdout)
    assert retainer.finish() == kept(strategy, NUMBERS)


def test_a_file_is_read_from_where_its_reader_is(retainer, numbers):
    with numbers.open("rb") as file:
        file.read(3)
        assert retainer.drain(file) == DrainResult("eof", len(NUMBERS) - 3)
    assert retainer.finish().text == NUMBERS.decode()[3:]


def test_a_full_buffer_is_taken_first(retainer):
    with Pipe(b"x" * 20_000) as pipe, os.fdopen(os.dup(pipe.reader), "rb", buffering=8192) as file:
        assert file.peek() == b"x" * 8192
        pipe.end()
        assert retainer.drain(file) == DrainResult("eof", 20_000)


def test_a_partly_read_buffer_loses_nothing(retainer):
    with Pipe(NUMBERS[:20_000]) as pipe, os.fdopen(os.dup(pipe.reader), "rb", buffering=8192) as file:
        assert [file.readline() for _ in range(3)] == [b"1\n", b"2\n", b"3\n"]
        pipe.end()
        assert retainer.drain(file) == DrainResult("eof", 20_000 - 6)
    assert retainer.finish().text == NUMBERS[6:20_000].decode()


@pytest.mark.parametrize("read", [0, 3])
def test_an_empty_buffer_is_not_waited_for(read, retainer):
    with Pipe(b"abc"[:read]) as pipe, os.fdopen(os.dup(pipe.reader), "rb") as file:
        file.read(read)
        assert retainer.drain(file, timeout=0) == DrainResult("timeout", 0)


def test_a_buffer_is_taken_although_the_time_is_over(retainer):
    with Pipe(b"abc\ndef") as pipe, os.fdopen(os.dup(pipe.reader), "rb") as file:
        file.readline()
        assert retainer.drain(file, timeout=0) == DrainResult("timeout", 3)
    assert retainer.finish().text == "def"


def test_a_file_can_be_read_on_after_a_drain(retainer):
    with Pipe(b"abc") as pipe, os.fdopen(os.dup(pipe.reader), "rb") as file:
        retainer.drain(file, timeout=0)
        os.write(pipe.writer, b"def\nghi")
        pipe.end()
        assert file.readline() == b"def\n"
        assert file.read() == b"ghi"


def test_a_buffer_that_fills_the_head_stops_before_the_descriptor_is_read():
    retainer = TextRetainer(FIRST_TEN)
    with Pipe(NUMBERS[:20_000]) as pipe, os.fdopen(os.dup(pipe.reader), "rb", buffering=100) as file:
        file.read(1)
        assert retainer.drain(file) == DrainResult("stopped", 99)
        pipe.end()
        assert file.read() == NUMBERS[100:20_000]


def test_a_socket_is_read_to_its_end(retainer):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"abc")
        theirs.shutdown(socket.SHUT_WR)
        assert retainer.drain(ours) == DrainResult("eof", 3)
    assert retainer.finish().text == "abc"


@pytest.mark.parametrize("timeout", [0, 0.01, 1000])
def test_a_socket_with_a_timeout_of_its_own_is_waited_for_all_the_same(timeout, retainer):
    ours, theirs = socket.socketpair()
    ours.settimeout(timeout)
    sender = threading.Thread(target=lambda: (time.sleep(0.2), theirs.sendall(b"abc"), theirs.close()))
    with ours:
        sender.start()
        assert retainer.drain(ours) == DrainResult("eof", 3)
        sender.join()
        assert ours.gettimeout() == timeout


def test_a_flood_through_a_socket_is_counted_exactly():
    retainer = TextRetainer(TextTail(10))
    ours, theirs = socket.socketpair()
    with ours, subprocess.Popen(["head", "-c", str(30 * MIB), "/dev/zero"], stdout=theirs):
        theirs.close()
        assert retainer.drain(ours) == DrainResult("eof", 30 * MIB)


def test_the_binary_file_of_a_socket_loses_nothing(retainer):
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("rb") as file:
        theirs.sendall(b"abc\ndef")
        assert file.readline() == b"abc\n"
        assert retainer.drain(file, timeout=0) == DrainResult("timeout", 3)
        theirs.sendall(b"ghi")
        theirs.close()
        assert retainer.drain(file, timeout=SOON) == DrainResult("eof", 3)
    assert retainer.finish().text == "defghi"


def test_a_connection_that_was_reset_is_an_error(retainer):
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        # No lingering: closing resets.
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        theirs.close()
        with ours, pytest.raises(ConnectionResetError):
            retainer.drain(ours)


def test_a_terminal_ends_when_nobody_has_its_other_side(retainer):
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    try:
        with subprocess.Popen(["seq", "20000"], stdin=theirs, stdout=theirs):
            os.close(theirs)
            assert retainer.drain(ours) == DrainResult("eof", len(NUMBERS))
    finally:
        os.close(ours)
    assert retainer.finish().text == NUMBERS.decode()


def test_an_output_that_ends_inside_a_character_is_decoded_as_one_that_does(retainer):
    with subprocess.Popen(["printf", r"a\342\202"], stdout=subprocess.PIPE) as source:
        assert retainer.drain(source.stdout) == DrainResult("eof", 3)
    assert retainer.finish().text == "a\ufffd"


def test_a_character_in_two_drains_is_put_together(retainer):
    for part in (b"a\xe2", b"\x82\xac"):
        with Pipe(part) as pipe:
            pipe.end()
            retainer.drain(pipe.reader)
    assert retainer.finish().text == "a€"


# Sources that are read by their own methods


def test_a_buffer_in_memory_is_read_to_its_end(retainer):
    assert retainer.drain(io.BytesIO(NUMBERS)) == DrainResult("eof", len(NUMBERS))
    assert retainer.finish().text == NUMBERS.decode()


def test_a_compressed_file_gives_its_content(retainer, tmp_path):
    with gzip.open(tmp_path / "numbers.gz", "wb") as file:
        file.write(NUMBERS)
    with gzip.open(tmp_path / "numbers.gz") as file:
        assert retainer.drain(file) == DrainResult("eof", len(NUMBERS))
    assert retainer.finish().text == NUMBERS.decode()


def test_a_buffered_reader_of_a_compressed_file_gives_its_content(retainer, tmp_path):
    with gzip.open(tmp_path / "numbers.gz", "wb") as file:
        file.write(NUMBERS)
    with gzip.open(tmp_path / "numbers.gz") as file, io.BufferedReader(file) as reader:
        reader.readline()
        assert retainer.drain(reader) == DrainResult("eof", len(NUMBERS) - 2)
    assert retainer.finish().text == NUMBERS.decode()[2:]


def test_a_file_of_a_subclass_gives_what_its_methods_give(retainer, numbers):
    class Upper(io.FileIO):
        def readinto(self, block):
            data = self.read(min(len(block), 1000)).replace(b"1", b"I")
            block[: len(data)] = data
            return len(data)

    with Upper(numbers) as file:
        assert retainer.drain(file) == DrainResult("eof", len(NUMBERS))
    assert retainer.finish().text == NUMBERS.decode().replace("1", "I")


def test_a_file_open_for_reading_and_writing_loses_nothing(retainer, numbers):
    with numbers.open("r+b") as file:
        file.readline()
        assert retainer.drain(file) == DrainResult("eof", len(NUMBERS) - 2)
    assert retainer.finish().text == NUMBERS.decode()[2:]


def test_a_temporary_file_is_read_by_its_wrapper(retainer):
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"abc")
        file.seek(0)
        assert retainer.drain(file) == DrainResult("eof", 3)


class OnlyRead:
    def __init__(self, *chunks):
        self.chunks = list(chunks)

    def read(self, size):
        return self.chunks.pop(0)


class OnlyReadinto:
    def __init__(self, data):
        self.file = io.BytesIO(data)

    def readinto(self, block):
        return self.file.readinto(memoryview(block)[:3])


@pytest.mark.parametrize("end", [b"", bytearray(), memoryview(b"")])
def test_an_object_with_only_read_is_read_to_its_end(end, retainer):
    source = OnlyRead(b"abc", bytearray(b"de"), memoryview(b"f"), end, b"beyond")
    assert retainer.drain(source) == DrainResult("eof", 6)
    assert retainer.finish().text == "abcdef"


def test_an_object_with_only_readinto_is_read_to_its_end(retainer):
    assert retainer.drain(OnlyReadinto(b"abcdefgh")) == DrainResult("eof", 8)
    assert retainer.finish().text == "abcdefgh"


@pytest.mark.parametrize("source", [OnlyRead(b"abc", b"defghijkl", b"beyond"), OnlyReadinto(b"abcdefghijklmno")])
def test_an_object_is_read_no_further_than_the_probe(source):
    retainer = TextRetainer(FIRST_TEN)
    assert retainer.drain(source) == DrainResult("stopped", 12)
    assert retainer.finish().text == "abcdefghij"


class Waiting(io.BufferedIOBase):
    """As a response of http.client: asked for a whole block it would wait for one."""

    def __init__(self):
        self.chunks = [b"abc", b"def", b""]

    def readinto(self, block):
        raise AssertionError("it waits")

    read = readinto


class WaitingUnlessRead1(Waiting):
    def read1(self, size=-1):
        return self.chunks.pop(0)


class WaitingUnlessReadinto1(Waiting):
    def readinto1(self, block):
        chunk = self.chunks.pop(0)
        block[: len(chunk)] = chunk
        return len(chunk)


@pytest.mark.parametrize("source", [WaitingUnlessRead1, WaitingUnlessReadinto1])
def test_an_object_is_not_made_to_wait_for_a_whole_block(source, retainer):
    assert retainer.drain(source()) == DrainResult("eof", 6)
    assert retainer.finish().text == "abcdef"


@pytest.mark.parametrize("method", ["read", "readinto"])
def test_what_a_base_class_would_call_is_not_asked_for(method, retainer):
    # io.BufferedIOBase has readinto1 and read1, which a class that has only the other two does not serve.
    class Plain(io.BufferedIOBase):
        file = io.BytesIO(b"abcdef")

    setattr(Plain, method, lambda self, asked: getattr(self.file, method)(asked))
    assert retainer.drain(Plain()) == DrainResult("eof", 6)
    assert retainer.finish().text == "abcdef"


def test_what_a_method_raises_is_raised_and_what_came_before_stays(retainer):
    class Failing(OnlyRead):
        def read(self, size):
            return super().read(size) or 1 / 0

    with pytest.raises(ZeroDivisionError):
        retainer.drain(Failing(b"abc", b""))
    assert retainer.finish().text == "abc"


def test_an_object_that_has_nothing_now_is_an_error_and_not_the_end(retainer):
    with pytest.raises(BlockingIOError):
        retainer.drain(OnlyRead(b"abc", None))
    assert retainer.finish().text == "abc"


def test_read_that_returns_text_is_refused(retainer):
    with pytest.raises(TypeError, match="binary"):
        retainer.drain(OnlyRead("abc"))


@pytest.mark.parametrize("kind", ["file", "memory", "standard input", "temporary"])
def test_a_text_file_is_refused_with_what_to_pass_instead(kind, retainer, numbers):
    if kind == "file":
        with numbers.open() as file, pytest.raises(TypeError, match=r"binary.*\.buffer.*'rb'"):
            retainer.drain(file)
    elif kind == "memory":
        with pytest.raises(TypeError, match="binary"):
            retainer.drain(io.StringIO("abc"))
    elif kind == "standard input":
        with pytest.raises(TypeError, match=r"binary.*\.buffer"):
            retainer.drain(sys.__stdin__)
    else:
        with tempfile.NamedTemporaryFile("w+") as file, pytest.raises(TypeError, match="binary"):
            retainer.drain(file)


@pytest.mark.parametrize("wrong", [None, object(), "text", b"bytes", [b"abc"], 1.5, True, TextHead, -1], ids=repr)
def test_what_cannot_be_read_is_refused_and_what_is_taken_is_named(wrong, retainer):
    with pytest.raises((TypeError, ValueError), match=r"^source must be .*descriptor"):
        retainer.drain(wrong)


# Time


def test_without_a_wait_nothing_is_there(retainer):
    with Pipe() as pipe:
        assert retainer.drain(pipe.reader, timeout=0) == DrainResult("timeout", 0)


def test_without_a_wait_what_is_there_is_taken(retainer):
    with Pipe(b"abc") as pipe:
        assert retainer.drain(pipe.reader, timeout=0) == DrainResult("timeout", 3)
    assert retainer.finish().text == "abc"


def test_without_a_wait_the_end_is_seen(retainer):
    with Pipe() as pipe:
        pipe.end()
        assert retainer.drain(pipe.reader, timeout=0) == DrainResult("eof", 0)


def test_draining_again_and_again_without_a_wait_comes_to_the_end(retainer):
    with Pipe(b"abc") as pipe:
        pipe.end()
        answers = [retainer.drain(pipe.reader, timeout=0) for _ in range(3)]
    assert answers[-1] == DrainResult("eof", 0)
    assert sum(answer.nbytes for answer in answers) == 3


def test_without_a_wait_the_end_of_a_file_is_seen(retainer, numbers):
    with numbers.open("rb") as file:
        file.seek(0, io.SEEK_END)
        assert retainer.drain(file, timeout=0) == DrainResult("eof", 0)


def test_without_a_wait_a_full_head_is_said():
    with Pipe(b"x" * 100) as pipe:
        assert TextRetainer(FIRST_TEN).drain(pipe.reader, timeout=0) == DrainResult("stopped", 100)


def test_a_timeout_keeps_what_had_come(retainer):
    with subprocess.Popen(["sh", "-c", "echo early; read word; echo $word"], stdin=-1, stdout=-1) as source:
        wait_for(lambda: unread(source.stdout) == 6)
        start = time.monotonic()
        assert retainer.drain(source.stdout, timeout=0.3) == DrainResult("timeout", 6)
        assert 0.3 <= time.monotonic() - start < SOON
        assert retainer.finish().text == "early\n"
        source.stdin.write(b"late\n")
        source.stdin.flush()
        assert retainer.drain(source.stdout, timeout=SOON) == DrainResult("eof", 5)
    assert retainer.finish().text == "early\nlate\n"


def test_a_timeout_comes_while_a_slow_writer_goes_on(retainer):
    with subprocess.Popen(["sh", "-c", "while echo a; do sleep 0.05; done"], stdout=-1, stderr=-3) as source:
        wait_for(lambda: unread(source.stdout))
        start = time.monotonic()
        answer = retainer.drain(source.stdout, timeout=0.3)
        assert 0.3 <= time.monotonic() - start < 0.3 + SLACK
        source.stdout.close()
    assert answer.status == "timeout"
    assert answer.nbytes == retainer.seen_bytes >= 2


def test_a_timeout_comes_in_a_flood():
    retainer = TextRetainer(TextTail(10))
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as source:
        start = time.monotonic()
        answer = retainer.drain(source.stdout, timeout=0.3)
        assert 0.3 <= time.monotonic() - start < 0.3 + SLACK
        source.stdout.close()
    assert answer == DrainResult("timeout", retainer.seen_bytes)


def test_an_end_before_the_timeout_is_the_end(retainer):
    with seq() as source:
        assert retainer.drain(source.stdout, timeout=SOON) == DrainResult("eof", len(NUMBERS))


@pytest.mark.parametrize("timeout", [1e300, float("inf"), 10**15, pytest.param(10**400, id="huge")])
def test_a_timeout_that_does_not_come_changes_nothing(timeout, retainer):
    with Pipe(b"abc") as pipe:
        pipe.end()
        assert retainer.drain(pipe.reader, timeout=timeout) == DrainResult("eof", 3)


@pytest.mark.parametrize("wrong", [-1, -0.001, float("-inf"), float("nan")])
def test_a_timeout_that_is_negative_or_no_number_is_refused(wrong, retainer):
    with Pipe(b"abc") as pipe, pytest.raises(ValueError, match=f"^timeout must be a .*{wrong}"):
        retainer.drain(pipe.reader, timeout=wrong)
    assert retainer.seen_bytes == 0


@pytest.mark.parametrize("wrong", ["soon", "1", b"1", [1], 1j], ids=repr)
def test_a_timeout_of_another_type_is_refused(wrong, retainer):
    with Pipe(b"abc") as pipe, pytest.raises(TypeError, match=r"^timeout must be a "):
        retainer.drain(pipe.reader, timeout=wrong)
    assert retainer.seen_bytes == 0


@pytest.mark.parametrize("source", [io.BytesIO(b"abc"), OnlyRead(b"abc", b""), OnlyReadinto(b"abc")])
@pytest.mark.parametrize("timeout", [0, 1.5])
def test_a_source_without_a_descriptor_takes_no_timeout(source, timeout, retainer):
    with pytest.raises(ValueError, match=r"^timeout needs a source .*descriptor"):
        retainer.drain(source, timeout=timeout)
    assert retainer.seen_bytes == 0


# Descriptors that fail


def test_a_closed_descriptor_is_an_error(retainer):
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)
    with pytest.raises(OSError, match="descriptor") as caught:
        retainer.drain(reader)
    assert caught.value.errno == errno.EBADF


def test_descriptor_0_is_one_like_any_other():
    program = "from retention import *; kept = TextRetainer(TextTail(9)); print(kept.drain(0), kept.finish().text)"
    done = subprocess.run([sys.executable, "-c", program], input="zero", capture_output=True, text=True, timeout=SOON)
    assert (done.stdout, done.stderr) == ("DrainResult(status='eof', nbytes=4) zero\n", "")


@pytest.mark.parametrize("number", [2**31 - 1, 2**31, 2**63, 10**30])
def test_a_number_that_is_no_descriptor_is_an_error(number, retainer):
    with pytest.raises((OSError, OverflowError)):
        retainer.drain(number)


def test_a_descriptor_that_is_only_written_is_an_error(retainer):
    with open(os.devnull, "wb", buffering=0) as file, pytest.raises(OSError, match="descriptor"):
        retainer.drain(file.fileno())


@pytest.mark.parametrize("buffering", [0, -1])
def test_a_closed_file_is_an_error(buffering, retainer, numbers):
    file = numbers.open("rb", buffering=buffering)
    file.close()
    with pytest.raises(ValueError, match="closed"):
        retainer.drain(file)


def test_a_file_of_no_descriptor_is_read_by_its_methods_where_nobody_has_imported_sockets():
    answers = interpreter(
        """
        import io, sys
        from retention import TextHead, TextRetainer
        sys.modules.pop("socket", None)
        retainer = TextRetainer(TextHead(10))
        print(retainer.drain(io.BytesIO(b"text")).nbytes, retainer.finish().text)
        """
    )
    assert answers == "4 text\n"


@pytest.mark.parametrize("how", ["close", "detach"])
def test_a_closed_socket_is_an_error_and_does_not_hang(how):
    answers = interpreter(
        """
        import os, socket
        from retention import TextHead, TextRetainer
        ours, theirs = socket.socketpair()
        getattr(ours, how)()
        try:
            print(TextRetainer(TextHead(10)).drain(ours))
        except (OSError, ValueError):
            print("refused")
        """,
        how=how,
    )
    assert answers == "refused\n"


def test_a_directory_is_an_error(retainer, tmp_path):
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(IsADirectoryError):
            retainer.drain(fd)
    finally:
        os.close(fd)


# Blocking and not


def test_a_non_blocking_descriptor_is_waited_for(retainer):
    with subprocess.Popen(["sh", "-c", "echo a; sleep 0.2; echo b"], stdout=subprocess.PIPE) as source:
        os.set_blocking(source.stdout.fileno(), False)
        assert retainer.drain(source.stdout) == DrainResult("eof", 4)
    assert retainer.finish().text == "a\nb\n"


@pytest.mark.parametrize("blocking", [True, False])
def test_the_blocking_mode_is_left_alone(blocking, retainer):
    with Pipe(b"abc") as pipe:
        os.set_blocking(pipe.reader, blocking)
        retainer.drain(pipe.reader, timeout=0)
        assert os.get_blocking(pipe.reader) is blocking
        pipe.end()
        retainer.drain(pipe.reader)
        assert os.get_blocking(pipe.reader) is blocking


def test_another_reader_that_takes_everything_is_no_end_and_no_error(retainer):
    # Both are woken by each write, and one finds nothing there.
    with Pipe() as pipe:
        os.set_blocking(pipe.reader, False)
        other = TextRetainer(ALL)
        thread = threading.Thread(target=other.drain, args=[pipe.reader])
        thread.start()
        writer = threading.Thread(target=lambda: [os.write(pipe.writer, b"x" * 10) for _ in range(5000)] + [pipe.end()])
        writer.start()
        assert retainer.drain(pipe.reader).status == "eof"
        writer.join(SOON)
        thread.join(SOON)
    assert retainer.seen_bytes + other.seen_bytes == 50_000


# Early stop


def test_a_full_head_leaves_the_rest_in_the_pipe():
    retainer = TextRetainer(FIRST_TEN)
    with subprocess.Popen(["seq", "1000000"], stdout=subprocess.PIPE, bufsize=0) as source:
        answer = retainer.drain(source.stdout)
        assert answer == DrainResult("stopped", retainer.seen_bytes)
        assert 10 < answer.nbytes <= 64 * KIB
        rest = TextRetainer(TextTail(8))
        assert rest.drain(source.stdout).nbytes == 6_888_896 - answer.nbytes
    assert retainer.finish().text == "1\n2\n3\n4\n5\n"
    assert retainer.finish().omitted_bytes == Omitted("at_least", answer.nbytes - 10)
    assert rest.finish().text == "1000000\n"


def test_a_head_that_is_filled_to_the_last_byte_waits_for_the_probe():
    retainer = TextRetainer(FIRST_TEN)
    with Pipe(b"0123456789") as pipe:
        assert retainer.drain(pipe.reader, timeout=0.1) == DrainResult("timeout", 10)
        os.write(pipe.writer, b"x")
        assert retainer.drain(pipe.reader) == DrainResult("stopped", 1)


def test_a_head_that_reads_to_the_end_does():
    retainer = TextRetainer(TextHead(10))
    with seq() as source:
        assert retainer.drain(source.stdout) == DrainResult("eof", len(NUMBERS))
    assert retainer.finish().omitted_bytes == Omitted("exact", len(NUMBERS) - 10)


# More than one


def test_drains_and_pushes_go_on_one_after_another(retainer):
    retainer.push("pushed ")
    retainer.drain(io.BytesIO(b"first "))
    with Pipe(b"second ") as pipe:
        pipe.end()
        assert retainer.drain(pipe.reader) == DrainResult("eof", 7)
    retainer.push("third")
    assert retainer.finish().text == "pushed first second third"


def test_options_of_the_retainer_hold():
    retainer = TextRetainer(TextHeadTail(10, 10), errors="backslashreplace", whole_lines=True, count_lines=True)
    with subprocess.Popen(["sh", "-c", r"printf 'a\377\n'; seq 100"], stdout=subprocess.PIPE) as source:
        retainer.drain(source.stdout)
    result = retainer.finish()
    assert (result.head, result.tail) == ("a\\xff\n1\n2\n3\n", "98\n99\n100\n")
    assert (result.seen_lines, result.omitted_lines) == (101, Omitted("exact", 94))


def test_a_program_that_raises_by_its_error_handler_raises_at_finish_only():
    retainer = TextRetainer(ALL, errors="strict")
    with Pipe(b"\xff") as pipe:
        pipe.end()
        assert retainer.drain(pipe.reader) == DrainResult("eof", 1)
    with pytest.raises(UnicodeDecodeError):
        retainer.finish()


# Results


def test_results_are_immutable_and_equal_by_value():
    result = DrainResult("eof", 5)
    assert (result.status, result.nbytes) == ("eof", 5)
    assert result == DrainResult("eof", 5)
    assert hash(result) == hash(DrainResult(status="eof", nbytes=5))
    assert result != DrainResult("timeout", 5)
    assert result != DrainResult("eof", 6)
    with pytest.raises(AttributeError, match="immutable"):
        result.nbytes = 6


def test_results_show_their_fields():
    assert repr(DrainResult("eof", 5)) == "DrainResult(status='eof', nbytes=5)"


def test_results_survive_pickling():
    assert pickle.loads(pickle.dumps(DrainResult("stopped", 5))) == DrainResult("stopped", 5)


def test_results_match_by_position():
    match TextRetainer(ALL).drain(io.BytesIO(b"abc")):
        case DrainResult(status, nbytes):
            assert (status, nbytes) == ("eof", 3)


# Signals


def test_ctrl_c_is_raised_promptly_and_what_had_come_stays():
    answers = interpreter(
        """
        import os, subprocess, threading, time
        from retention import TextHead, TextRetainer

        def go_on():
            while retainer.seen_bytes < 6:
                time.sleep(0.01)
            source.stdin.write(b"go\\n")
            source.stdin.flush()

        for then in ("exec sleep 60", "exec yes"):
            retainer = TextRetainer(TextHead(100))
            script = "echo early; read go; sleep 0.2; kill -INT $PPID; " + then
            with subprocess.Popen(["sh", "-c", script], stdin=-1, stdout=-1) as source:
                threading.Thread(target=go_on).start()
                start = time.monotonic()
                try:
                    retainer.drain(source.stdout)
                except KeyboardInterrupt:
                    print(time.monotonic() - start < SLACK, retainer.finish().text[:6], end="")
                source.terminate()
        """,
        SLACK=SLACK,
    )
    assert answers == "True early\n" * 2


def test_signals_whose_handlers_return_disturb_nothing():
    answers = interpreter(
        """
        import signal, subprocess
        from retention import TextHead, TextRetainer
        handled = []
        signal.signal(signal.SIGALRM, lambda number, frame: handled.append(number))
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)

        def drain(source, timeout):
            handled.clear()
            print(TextRetainer(TextHead(100)).drain(source.stdout, timeout=timeout), len(handled) > 0)

        for script in ("for i in 1 2 3; do echo $i; sleep 0.1; done", "head -c 100000000 /dev/zero"):
            with subprocess.Popen(["sh", "-c", script], stdout=-1) as source:
                drain(source, 50)
        with subprocess.Popen(["sleep", "60"], stdout=-1) as source:
            drain(source, 0.3)
            source.kill()
        signal.setitimer(signal.ITIMER_REAL, 0)
        """
    )
    assert answers.splitlines() == [
        f"{DrainResult('eof', 6)} True",
        f"{DrainResult('eof', 100_000_000)} True",
        f"{DrainResult('timeout', 0)} True",
    ]
