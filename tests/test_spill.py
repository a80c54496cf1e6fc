"""`spill`: the whole of an output in a file beside what is retained, by real processes and real files."""

import copy
import errno
import fcntl
import json
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import Holder, interpreter
from streams import byte_streams
from watch import SOON, descriptors

from retention import (
    CompletedRun,
    Spill,
    SpillResult,
    TextHead,
    TextRetainer,
    run,
    spill_notice,
)
from retention import _engine as engine
from retention.spill import SpillFile

pytestmark = pytest.mark.usefixtures("nothing_left")

NUMBERS = "".join(f"{number}\n" for number in range(1, 50_001)).encode()
EVERY_BYTE = bytes(range(256)) * 2000

# Writes its argument, in hexadecimal, by single bytes: each only when the one before it has been read.
BY_BYTES = """
import fcntl, os, sys, termios, time
for byte in bytes.fromhex(sys.argv[1]):
    os.write(1, bytes([byte]))
    while any(fcntl.ioctl(1, termios.FIONREAD, bytes(4))):
        time.sleep(0.0002)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "all"


def printing(stream: bytes) -> dict:
    """The arguments of a run that prints these bytes."""
    return {"args": ["cat"], "input": stream}


def capped(stream: bytes, cap: int) -> bytes:
    return stream if len(stream) <= cap else stream[: reference.divided(stream, cap)[0]]


# The whole output


@pytest.mark.parametrize("stream", [b"", b"a", NUMBERS, EVERY_BYTE], ids=["nothing", "a byte", "text", "binary"])
def test_the_whole_output_is_in_the_file(path, stream):
    result = run(**printing(stream), spill=path)
    assert path.read_bytes() == stream
    assert result.spill == SpillResult(path, len(stream), True, None)


def test_what_is_retained_is_the_same_with_a_file_beside_it(path):
    assert run(**printing(NUMBERS), spill=path).stdout == run(**printing(NUMBERS)).stdout


def test_without_a_spill_the_result_has_none():
    assert run(["true"]).spill is None


def test_a_path_means_a_spill_without_a_cap(path):
    run(["seq", "50000"], spill=Spill(path))
    assert path.read_bytes() == NUMBERS


@pytest.mark.parametrize("kind", [str, os.fsencode, Path], ids=["str", "bytes", "Path"])
def test_the_path_comes_back_as_it_was_given(path, kind):
    result = run(["echo", "text"], spill=kind(path))
    assert (result.spill.path, type(result.spill.path)) == (kind(path), type(kind(path)))
    assert path.read_text() == "text\n"


def test_a_path_is_relative_to_the_caller_and_not_to_the_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(["pwd"], spill="all", cwd="/")
    assert (tmp_path / "all").read_text() == "/\n"


def test_joined_standard_error_is_in_it_in_the_order_of_arrival(path):
    result = run(["sh", "-c", "echo one; echo two >&2; echo three"], spill=path, stderr=subprocess.STDOUT)
    assert path.read_text() == result.stdout.text == "one\ntwo\nthree\n"


def test_standard_error_of_its_own_is_not_in_it(path):
    result = run(["sh", "-c", "echo one; echo two >&2"], spill=path)
    assert (path.read_text(), result.stderr.text) == ("one\n", "two\n")


def test_what_the_program_itself_exits_with_does_not_matter(path):
    result = run(["sh", "-c", "echo text; exit 3"], spill=path)
    assert (result.returncode, result.spill.complete) == (3, True)


def test_the_result_of_a_failed_check_has_it(path):
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(["sh", "-c", "echo text; exit 3"], spill=path, check=True)
    assert caught.value.result.spill == SpillResult(path, 5, True, None)


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_only_the_owner_may_read_it_whatever_the_umask(path, umask):
    before = os.umask(umask)
    try:
        run(["echo"], spill=path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_program_does_not_inherit_it(path):
    # With the descriptors left open, only close-on-exec keeps it away.
    result = run(["sh", "-c", "ls -l /proc/$$/fd; :"], spill=path, close_fds=False)
    assert "-> " in result.stdout.text
    assert str(path) not in result.stdout.text


def test_it_grows_while_the_program_runs(path):
    # The program itself sees what it has printed.
    script = 'echo first; until grep -q first "$0"; do sleep 0.01; done; echo second'
    result = run(["sh", "-c", script, path], spill=path, timeout=SOON)
    assert (path.read_text(), result.timed_out) == ("first\nsecond\n", False)


def test_an_output_of_some_size_costs_no_memory(path):
    script = """
import re, retention, sys
result = retention.run(["head", "-c", "200M", "/dev/zero"], spill=sys.argv[1])
peak = re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())
print(result.spill.nbytes, result.spill.complete, peak[1])
"""
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=SOON)
    nbytes, complete, peak = done.stdout.split()
    assert (nbytes, complete, path.stat().st_size) == (str(200 << 20), "True", 200 << 20)
    assert int(peak) < 64 << 10  # KiB; an interpreter with subprocess takes about 20 MiB
    path.unlink()


# A part of it


def test_after_an_early_stop_it_has_what_was_read(path):
    result = run(["yes"], stdout=TextHead(1000, stop="stop_when_full"), spill=path)
    assert result.stopped
    assert result.spill == SpillResult(path, result.stdout.seen_bytes, False, None)
    assert path.read_bytes() == b"y\n" * (result.spill.nbytes // 2)


def test_after_an_early_stop_at_the_very_end_it_is_not_called_complete(path):
    result = run(["printf", "12345"], stdout=TextHead(4, stop="stop_when_full"), spill=path)
    assert (result.stopped, path.read_bytes(), result.spill.complete) == (True, b"12345", False)


def test_after_a_stop_that_standard_error_asked_for_it_is_not_complete(path):
    script = "echo text; exec >&-; exec yes >&2"
    result = run(["sh", "-c", script], stderr=TextHead(1000, stop="stop_when_full"), spill=path)
    assert (result.stopped, path.read_text(), result.spill.complete) == (True, "text\n", False)


@pytest.mark.usefixtures("started_when_it_speaks")
def test_after_a_timeout_it_has_what_was_read(path):
    result = run(["sh", "-c", "echo early; exec sleep 1000"], timeout=0.3, spill=path)
    assert (path.read_text(), result.spill) == ("early\n", SpillResult(path, 6, False, None))


def test_after_a_timeout_in_a_flood_it_has_all_that_was_counted(path):
    result = run(["yes"], timeout=0.1, grace=0.1, spill=path)
    assert path.stat().st_size == result.spill.nbytes == result.stdout.seen_bytes
    assert not result.spill.complete
    path.unlink()


def test_while_a_grandchild_holds_the_pipe_it_is_not_complete(path):
    with Holder() as holder:
        result = run(["sh", "-c", f"echo text; {holder.command} & :"], grace=0.1, spill=path, pass_fds=holder.fds)
    assert (result.eof, result.spill) == (False, SpillResult(path, 5, False, None))


def test_while_a_grandchild_holds_standard_error_alone_it_is_complete(path):
    with Holder() as holder:
        script = f"echo text; {holder.command} >/dev/null & :"
        result = run(["sh", "-c", script], grace=0.1, spill=path, pass_fds=holder.fds)
    assert (result.eof, result.spill) == (False, SpillResult(path, 5, True, None))


@pytest.mark.parametrize("broken", ["retention.child.Child.live", "os.set_blocking"], ids=["reading", "beginning"])
def test_after_an_exception_the_file_is_closed(path, monkeypatch, broken):
    def fail(*args):
        raise MemoryError

    monkeypatch.setattr(broken, fail)
    before = descriptors()
    with pytest.raises(MemoryError):
        run(["sleep", "1000"], spill=path)
    after = descriptors()
    for fd in after.keys() - before.keys():
        os.close(fd)
    assert after == before


# Capped

CHARACTERS = "aé€😀z".encode()  # 1 + 2 + 3 + 4 + 1 bytes
MALFORMED = b"\x80\xe2\x82(\xf0\x9f\x98\xff\xed\xa0\x80\xc3"


@pytest.mark.parametrize("cap", range(len(CHARACTERS) + 2))
def test_a_cap_divides_no_character(path, cap):
    result = run(**printing(CHARACTERS), spill=Spill(path, cap))
    expected = capped(CHARACTERS, cap)
    assert path.read_bytes() == expected
    assert result.spill == SpillResult(path, len(expected), cap >= len(CHARACTERS), None)
    assert result.stdout.seen_bytes == len(CHARACTERS)


@pytest.mark.parametrize("cap", range(len(CHARACTERS) + 2))
def test_a_cap_divides_no_character_that_comes_byte_by_byte(path, cap):
    result = run([sys.executable, "-c", BY_BYTES, CHARACTERS.hex()], spill=Spill(path, cap))
    expected = capped(CHARACTERS, cap)
    assert path.read_bytes() == expected
    assert result.spill == SpillResult(path, len(expected), cap >= len(CHARACTERS), None)


@pytest.mark.parametrize("cap", range(len(MALFORMED) + 1))
def test_a_cap_keeps_malformed_bytes(path, cap):
    result = run(**printing(MALFORMED), spill=Spill(path, cap))
    # None of these positions is inside a well-formed character, nor inside one that the end of the stream breaks off.
    assert path.read_bytes() == MALFORMED[:cap]
    assert result.spill == SpillResult(path, cap, cap == len(MALFORMED), None)


@given(st.data())
@settings(max_examples=300)
def test_caps_agree_with_the_model_however_the_output_arrives(tmp_path_factory, data):
    stream = data.draw(byte_streams)
    cap = data.draw(st.integers(0, len(stream) + 2) | st.just(10**30))
    sizes = data.draw(st.lists(st.integers(1, 5)) | st.just([1] * len(stream)))
    path = tmp_path_factory.getbasetemp() / "capped"
    reader, writer = os.pipe()
    with open(path, "wb", buffering=0) as file, open(reader, "rb") as _, open(writer, "wb", buffering=0) as pipe:
        pump = engine.Pump([(reader, TextRetainer(TextHead(0)), False)])
        pump.spill(file.fileno(), cap)
        rest = stream
        for size in [*sizes, len(stream)]:
            pipe.write(rest[:size])
            if rest[:size]:
                pump.run(0)
            rest = rest[size:]
        pipe.close()
        assert pump.run() == "done"
        nbytes, was_capped, error = pump.end_spill()
    assert path.read_bytes() == capped(stream, cap)
    assert (nbytes, was_capped, error) == (len(capped(stream, cap)), cap < len(stream), 0)


def test_a_cap_far_inside_an_output_is_exact(path):
    result = run(**printing(b"x" + "€".encode() * 200_000), spill=Spill(path, 300_000))
    assert path.read_bytes() == b"x" + "€".encode() * 99_999
    assert result.spill == SpillResult(path, 299_998, False, None)
    assert result.stdout.seen_bytes == 600_001


def test_a_cap_of_nothing_makes_an_empty_file(path):
    result = run(["seq", "3"], spill=Spill(path, 0))
    assert (path.read_bytes(), result.spill) == (b"", SpillResult(path, 0, False, None))


def test_a_cap_of_nothing_is_enough_for_nothing(path):
    result = run(["true"], spill=Spill(path, 0))
    assert (path.read_bytes(), result.spill) == (b"", SpillResult(path, 0, True, None))


# Where no file can be made


def refused(path, error):
    result = run(["seq", "50000"], spill=path)
    assert result.spill == SpillResult(path, 0, False, os.strerror(error))
    assert (result.returncode, result.eof, result.stdout.seen_bytes) == (0, True, len(NUMBERS))


def test_an_existing_file_is_not_touched(path):
    path.write_text("precious")
    refused(path, errno.EEXIST)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("there", [True, False], ids=["whole", "dangling"])
def test_a_planted_link_is_not_followed(path, tmp_path, there):
    target = tmp_path / "target"
    if there:
        target.write_text("precious")
    path.symlink_to(target)
    refused(path, errno.EEXIST)
    assert path.is_symlink()
    assert (target.read_text() == "precious") if there else not target.exists()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["directory", "fifo"])
def test_what_is_no_file_is_left_alone(path, make):
    # Opening a fifo that nobody reads would take for ever.
    make(path)
    refused(path, errno.EEXIST)


def test_a_missing_directory_is_not_made(tmp_path):
    refused(tmp_path / "missing" / "all", errno.ENOENT)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_a_file(path):
    path.write_text("precious")
    refused(path / "all", errno.ENOTDIR)
    assert path.read_text() == "precious"


def test_a_directory_that_cannot_be_written():
    # Nobody can, not even root.
    refused("/proc/all", errno.ENOENT)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_must_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    refused(tmp_path / "all", errno.EACCES)


def test_a_path_with_a_nul(tmp_path):
    result = run(["echo", "text"], spill=f"{tmp_path}/a\0ll")
    assert (result.spill.nbytes, result.spill.complete, result.stdout.text) == (0, False, "text\n")
    # The words are those of Python, and not always the same.
    assert "null" in result.spill.error
    assert list(tmp_path.iterdir()) == []


def test_no_descriptor_for_the_file(path, monkeypatch):
    def refuse(name, *args, open=os.open, **options):
        if name == path:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return open(name, *args, **options)

    monkeypatch.setattr(os, "open", refuse)
    refused(path, errno.EMFILE)


@pytest.mark.parametrize("kept", [None, subprocess.DEVNULL], ids=["the parent's", "DEVNULL"])
def test_an_output_that_is_not_read_cannot_be_spilled(path, kept):
    with pytest.raises(ValueError, match="stdout"):
        run(["echo"], stdout=kept, spill=path)
    assert not path.exists()


def test_without_a_program_the_file_is_removed_again(path):
    with pytest.raises(FileNotFoundError, match="no such program"):
        run(["no such program"], spill=path)
    assert not path.exists()


def test_without_a_program_an_existing_file_is_left_alone(path):
    path.write_text("precious")
    with pytest.raises(FileNotFoundError, match="no such program"):
        run(["no such program"], spill=path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("options", [{"text": True}, {"timeout": -1}, {"stderr": subprocess.PIPE}, {"nonsense": 1}])
def test_with_wrong_arguments_no_file_is_made(path, options):
    with pytest.raises((TypeError, ValueError)):
        run(["echo"], spill=path, **options)
    assert not path.exists()


# Where the disk is full


def full(result, path, error):
    """What holds of any run whose disk was full, or as good as that."""
    assert (result.spill.error, result.spill.complete) == (os.strerror(error), False)
    assert path.stat().st_size == result.spill.nbytes
    assert NUMBERS.startswith(path.read_bytes())
    assert (result.returncode, result.eof, result.stdout.seen_bytes) == (0, True, len(NUMBERS))
    assert result.stdout.tail.endswith("\n50000\n")


def test_a_device_that_is_full_from_the_beginning(path, monkeypatch):
    opened = []

    def open_full(name, flags, *args, open=os.open, **options):
        if name == path:
            opened.append(flags)
            return open("/dev/full", os.O_WRONLY | os.O_CLOEXEC)
        return open(name, flags, *args, **options)

    monkeypatch.setattr(os, "open", open_full)
    result = run(["seq", "50000"], spill=path)
    assert result.spill == SpillResult(path, 0, False, os.strerror(errno.ENOSPC))
    assert (result.returncode, result.eof, result.stdout.seen_bytes) == (0, True, len(NUMBERS))
    assert opened == [os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC]


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    try:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_disk_that_fills(small_disk):
    path = small_disk / "all"
    result = run(["seq", "50000"], spill=path)
    full(result, path, errno.ENOSPC)
    assert 0 < result.spill.nbytes <= 64 << 10


def test_a_disk_that_fills_before_the_cap(small_disk):
    path = small_disk / "all"
    full(run(["seq", "50000"], spill=Spill(path, 200_000)), path, errno.ENOSPC)


def test_a_disk_that_would_fill_after_the_cap(small_disk):
    result = run(["seq", "50000"], spill=Spill(small_disk / "all", 10_000))
    assert result.spill == SpillResult(small_disk / "all", 10_000, False, None)


@pytest.mark.parametrize("limit", [0, 1, 1000, 100_000])
def test_a_limit_on_the_size_of_files(path, limit):
    script = """
import json, resource, sys
import retention
path, limit = sys.argv[1], int(sys.argv[2])
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
result = retention.run(["seq", "50000"], spill=path)
resource.setrlimit(resource.RLIMIT_FSIZE, before)
spill = result.spill
print(json.dumps([spill.nbytes, spill.complete, spill.error, result.stdout.seen_bytes, result.returncode]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, path, str(limit)], capture_output=True, text=True, timeout=SOON
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert json.loads(done.stdout) == [limit, False, os.strerror(errno.EFBIG), len(NUMBERS), 0]
    assert path.read_bytes() == NUMBERS[:limit]


def test_a_file_that_somebody_else_has_removed_is_missed_by_nobody(path, monkeypatch):
    def start(*args, **options):
        path.unlink()
        raise FileNotFoundError("no such program")

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(FileNotFoundError, match="no such program"):
        run(["seq", "3"], spill=path)
    assert not path.exists()


def test_a_file_that_is_given_up_is_closed(path):
    file = SpillFile(Spill(path))
    fd = file.fd
    assert os.path.samestat(os.fstat(fd), path.stat())
    del file
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        os.fstat(fd)


def test_a_file_without_a_character_of_which_it_has_a_part_cannot_be_made(path, monkeypatch):
    # A file that only grows has to keep the part that was written before the cap was known to divide it.
    grown = os.memfd_create("grows", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    fcntl.fcntl(grown, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)

    def open_grown(name, flags, *args, open=os.open, **options):
        return os.dup(grown) if name == path else open(name, flags, *args, **options)

    monkeypatch.setattr(os, "open", open_grown)
    try:
        result = run(**printing(CHARACTERS), spill=Spill(path, 4))
        assert result.spill == SpillResult(path, 4, False, os.strerror(errno.EPERM))
        assert os.pread(grown, 100, 0) == CHARACTERS[:4]
    finally:
        os.close(grown)


def test_a_file_may_be_descriptor_0(tmp_path):
    # Which it is for a service that has closed its own standard input.
    answers = interpreter(
        """
import os
from retention import Spill, run
from retention.spill import SpillFile

def closed():
    try:
        os.fstat(0)
    except OSError:
        return True
    return False

os.close(0)
result = run(["echo", "text"], spill=path)
print(result.spill.nbytes, result.spill.complete, result.spill.error, closed())
os.unlink(path)
try:
    run(["no such program"], spill=path)
except FileNotFoundError:
    print(os.path.exists(path), closed())
file = SpillFile(Spill(path))
print(file.fd)
del file
print(closed())
""",
        path=str(tmp_path / "all"),
    )
    assert answers == "5 True None True\nFalse True\n0\nTrue\n"


def test_a_file_that_fails_as_late_as_it_is_closed(path, monkeypatch):
    # As on a network's disk that is full.
    real, ours = os.close, []

    def close(fd):
        late = path.exists() and os.fstat(fd).st_ino == path.stat().st_ino
        real(fd)
        if late:
            ours.append(fd)
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "close", close)
    result = run(["seq", "50000"], spill=path)
    assert (result.spill, len(ours)) == (SpillResult(path, len(NUMBERS), False, os.strerror(errno.EDQUOT)), 1)
    assert path.read_bytes() == NUMBERS


# Spill


def test_a_spill_has_a_path_and_a_cap():
    match Spill("all", 5):
        case Spill(path, cap):
            assert (path, cap) == ("all", 5)
    assert Spill("all").max_bytes is None


def test_a_cap_may_be_any_integer():
    class Five:
        def __index__(self):
            return 5

    assert Spill("all", Five()) == Spill("all", max_bytes=5)


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ((None,), TypeError, "path"),
        ((3,), TypeError, "path"),
        (("all", 1.5), TypeError, "max_bytes"),
        (("all", "5"), TypeError, "max_bytes"),
        (("all", -1), ValueError, "max_bytes"),
    ],
)
def test_what_is_no_spill_is_refused(arguments, error, named):
    with pytest.raises(error, match=named):
        Spill(*arguments)


@pytest.mark.parametrize("spill", [3, True, ["all"], b"all".hex])
def test_run_refuses_what_is_no_path(spill):
    with pytest.raises(TypeError, match="path"):
        run(["echo"], spill=spill)


@pytest.mark.parametrize("value", [Spill("all", 5), SpillResult("all", 5, False, "why")])
def test_they_are_values(value):
    fields = [getattr(value, name) for name in value.__match_args__]
    for same in (type(value)(*fields), pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert (same, hash(same), repr(same)) == (value, hash(value), repr(value))
    assert type(value)("other", *fields[1:]) != value
    with pytest.raises(AttributeError):
        value.path = "other"


def test_they_say_what_they_are():
    assert repr(Spill("all", 5)) == "Spill(path='all', max_bytes=5)"
    assert repr(SpillResult("all", 5, True, None)) == "SpillResult(path='all', nbytes=5, complete=True, error=None)"


# The sentence


def noticed(spill):
    return spill_notice(CompletedRun(["true"], 0, None, None, False, False, True, 0.1, spill))


@pytest.mark.parametrize(
    ("spill", "sentence"),
    [
        (SpillResult("/tmp/all", 12345, True, None), "Full output (12345 bytes) saved to /tmp/all."),
        (SpillResult("/tmp/all", 12345, False, None), "Partial output (12345 bytes) saved to /tmp/all."),
        (SpillResult("/tmp/all", 1, True, None), "Full output (1 byte) saved to /tmp/all."),
        (SpillResult("all", 7, False, "No space left on device"), "Partial output (7 bytes) saved to all."),
        (SpillResult(b"all", 7, True, None), "Full output (7 bytes) saved to all."),
        (SpillResult(Path("all"), 7, True, None), "Full output (7 bytes) saved to all."),
        (SpillResult("all", 0, False, "File exists"), ""),
        (SpillResult("all", 0, False, None), ""),
        (SpillResult("all", 0, True, None), ""),
        (None, ""),
    ],
)
def test_the_sentence_for_a_footer(spill, sentence):
    assert noticed(spill) == sentence


def test_the_sentence_of_a_run(path):
    assert spill_notice(run(["seq", "3"], spill=path)) == f"Full output (6 bytes) saved to {path}."
    # The file is there, and is not that of this run.
    assert spill_notice(run(["seq", "3"], spill=path)) == ""
