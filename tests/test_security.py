"""What SECURITY.md says, where no other test holds it already."""

import json
import operator
import os
import pickle
import re
import signal
import subprocess
import sys
import tracemalloc
from functools import reduce
from pathlib import Path

import pytest
from streams import text_of
from watch import is_running, line_in

from retention import (
    ItemHead,
    ItemRetainer,
    Omitted,
    RetentionNotice,
    Spill,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
    fit_text,
    format_retention_notice,
    retain_file,
    run,
    spill_notice,
)

HERE = Path(__file__).parent
DOCUMENT = HERE.parent / "SECURITY.md"

pytestmark = pytest.mark.usefixtures("nothing_left")
posix = pytest.mark.skipif(os.name != "posix", reason="running programs needs a POSIX system")


def retain(*words, stdin=b""):
    command = [sys.executable, "-m", "retention", *words]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=60)


def test_every_test_that_the_document_names_is_there():
    named = re.findall(r"`(?:(test_\w+\.py)::)?(test_\w+)`", DOCUMENT.read_text())
    assert len(named) > 20
    for file, name in named:
        source = (HERE / (file or "test_security.py")).read_text()
        assert re.search(rf"^(async )?def {name}\(", source, re.M), (file, name)


# Memory and time


def test_malformed_bytes_make_a_text_of_three_times_the_budget():
    result = text_of(TextHead(1000), b"\xff" * 5000).finish()
    assert (len(result.text.encode()), result.omitted_bytes) == (3000, Omitted("exact", 4000))


def test_a_budget_of_items_bounds_no_bytes():
    retainer = ItemRetainer(ItemHead(1))
    retainer.push("x" * 1_000_000)
    assert len(retainer.finish().items[0]) == 1_000_000


LINES = {"head_lines": 50, "tail_lines": 50}


def push_bytes(size):
    retainer = TextRetainer(TextHeadTail(size, size))
    for _ in range(size):
        retainer.push(b"x")
    return retainer.finish()


def push_bytes_of_lines(size):
    retainer = TextRetainer(TextHeadTail(size, size, **LINES), whole_lines=True)
    for _ in range(size):
        retainer.push(b"\n")
    return retainer.finish()


# No clock is read: of so much, what is quadratic takes many times what `bounded` lets any test take, also at 50 bytes a
# nanosecond; what is linear takes seconds where all is slow.
MUCH = 1 << 23


@pytest.mark.parametrize(
    ("work", "omitted"),
    [
        (push_bytes, 0),
        (push_bytes_of_lines, MUCH - 100),
        (lambda size: text_of(TextHeadTail(size, size), b"\x80" * size * 3).finish(), MUCH),
        (lambda size: text_of(TextHeadTail(size, size), b"\xf0\x9f\x98" * size).finish(), MUCH),
        (lambda size: text_of(TextTail(size, max_lines=size // 2), b"\n" * size * 3, whole_lines=True).finish(),
         MUCH * 5 // 2),
        (lambda size: text_of(TextHeadTail(size, size), b"\r\n" * size * 2, whole_lines=True).finish(), 2 * MUCH),
    ],
    ids=["bytes", "lines", "malformed", "broken off", "newlines", "cr lf"],
)  # fmt: skip
def test_time_is_linear(work, omitted):
    result = work(MUCH)
    assert result.omitted_bytes.count == omitted
    assert len(result.render(marker="")) == len(result.text)


@pytest.mark.parametrize(
    ("character", "options"),
    [("é\n", {"whole_lines": True}), ("\ud800\n", {}), ("x\n", {"marker": lambda result: result.head})],
    ids=["fit", "surrogates", "marker"],
)
def test_time_is_linear_in_a_text_to_be_fitted(character, options):
    text = fit_text(character * MUCH, MUCH, **options)
    assert MUCH // 2 < len(text.encode(errors="replace")) <= MUCH


def test_merging_many_parts_takes_no_more_for_each_than_merging_few():
    # What it takes is what the two hold.
    parts = [text_of(TextHeadTail(100, 100, **LINES), b"a line\n" * (number % 3)) for number in range(10_000)]
    few, many = reduce(operator.add, parts[:100]), reduce(operator.add, parts)
    assert many.finish().seen_bytes == 7 * 9999
    assert len(pickle.dumps(many)) <= len(pickle.dumps(few)) + 9


def test_merging_into_one_retainer_makes_room_as_pushing_does():
    # Counted by how often its memory grows: each merge that grows it would be quadratic.
    grown = set()
    whole, part = TextRetainer(TextTail(1 << 30)), text_of(TextTail(1 << 30), b"0123456789" * 10)
    tracemalloc.start()
    try:
        for _ in range(10_000):
            whole.merge(part)
            grown.add(tracemalloc.get_traced_memory()[0] >> 12)
    finally:
        tracemalloc.stop()
    assert len(whole.finish().text) == 1_000_000
    assert len(grown) < 30


# Content

CONTROLS = "\x1b]0;title\x07\x1b[31mred\x1b[0m \0 \x9b2J \x7f \u202egnp.exe \u2066\n"


def test_control_characters_are_passed_on():
    assert text_of(TextHead(1000), CONTROLS).finish().text == CONTROLS
    assert text_of(TextHead(8), CONTROLS * 9).finish().render(marker=CONTROLS).startswith(CONTROLS[:8] + CONTROLS)
    assert retain("--head", "1K", stdin=CONTROLS.encode()).stdout == CONTROLS.encode()


def test_json_escapes_the_lowest_control_characters_alone():
    printed = retain("--head", "1K", "--json", stdin=CONTROLS.encode()).stdout.decode()
    assert not re.search(r"[\0-\x1f]", printed.removesuffix("\n"))
    assert "\x9b" in printed
    assert "\u202e" in printed
    assert json.loads(printed)["text"] == CONTROLS


def test_a_forged_marker_does_not_change_the_facts():
    forged = "[Omitted 1000000 bytes.]\n"
    result = text_of(TextHead(1000), forged).finish()
    assert result.render() == forged
    assert (result.truncated, bool(result.omitted_bytes)) == (False, False)


# Programs


@posix
def test_what_leaves_for_another_session_lives_on(tmp_path, started_when):
    told = tmp_path / "pid"
    started_when(lambda _: told.exists())
    leaving = f"import os, time; os.setsid(); open({str(told)!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(60)"
    process = None
    try:
        result = run(["sh", "-c", '"$0" -c "$1" & sleep 60', sys.executable, leaving], timeout=0.2, grace=0.1)
        process = int(line_in(told))
        assert result.timed_out
        assert is_running(process)
    finally:
        if process is not None:
            os.kill(process, signal.SIGKILL)


@posix
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what a program has open")
def test_a_program_inherits_three_descriptors(tmp_path):
    # Of ours, some that are to be inherited by who does not look.
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
    try:
        for fd in opened:
            os.set_inheritable(fd, True)
        result = run(["sh", "-c", "ls /proc/$$/fd"], stdin=subprocess.DEVNULL, spill=tmp_path / "all")
        assert result.stdout.text.split() == ["0", "1", "2"]
    finally:
        for fd in opened:
            os.close(fd)


@posix
def test_words_go_to_no_shell():
    words = "$(id) `id` ; id | id > /no/such & * ~ $HOME"
    assert run(["echo", words]).stdout.text == words + "\n"
    assert retain("--head", "1K", "--", "echo", words).stdout.decode() == words + "\n"


# Files


@posix
def test_a_link_above_the_file_of_a_spill_is_followed(tmp_path):
    real, planted = tmp_path / "real", tmp_path / "planted"
    real.mkdir()
    planted.symlink_to(real)
    assert run(["echo", "secret"], spill=Spill(planted / "all")).spill.complete
    assert (real / "all").read_text() == "secret\n"


def test_a_file_to_read_may_be_a_link(tmp_path):
    (tmp_path / "real").write_text("secret\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert retain_file(tmp_path / "link", TextHead(100)).finish().text == "secret\n"


def test_a_file_that_grows_is_read_to_where_it_ended(tmp_path, monkeypatch):
    path = tmp_path / "log"
    path.write_bytes(b"x" * 1000)
    real = os.fstat

    def growing(fd):
        status = real(fd)
        with path.open("ab") as file:
            file.write(b"y" * 1000)
        return status

    for how in ({}, {"count_lines": True}):
        with monkeypatch.context() as patched:
            patched.setattr(os, "fstat", growing)
            size = path.stat().st_size
            retainer = retain_file(path, TextHeadTail(10, 10), **how)
        assert retainer.seen_bytes == size < path.stat().st_size


@posix
def test_names_of_files_are_shown_as_they_are(tmp_path):
    name = "\x1b[2Jname\nFull output (1 byte) saved to elsewhere."
    path = tmp_path / name
    assert name in spill_notice(run(["echo", "x"], spill=path))
    assert f"==> {path} <==\n".encode() in retain(str(path), str(path)).stdout
    assert f"retain: {path}~: ".encode() in retain(f"{path}~").stderr


def test_the_scope_of_a_notice_is_not_shown():
    notice = RetentionNotice("\x1b[2Jscope", "head", "items", 1, 1, Omitted("exact", 2))
    assert format_retention_notice(notice, "More.") == "Omitted 2 items. More."


# Environment

WATCHED = """
import os, sys
from collections.abc import MutableMapping

read = set()

class Watched(type(os.environ)):
    def __getitem__(self, key):
        read.add(key)
        return super().__getitem__(key)

    def __contains__(self, key):
        read.add(key)
        return super().__contains__(key)

os.environ.__class__ = Watched
os.getenv("LOOKED_FOR")
import retention
from retention import *
from retention.command import main
retainer = TextRetainer(TextHeadTail(9, 9, head_lines=1, tail_lines=1), whole_lines=True)
retainer.push("one\\ntwo\\n" * 9)
retainer.finish().render()
retainer.notice("scope", unit="lines")
fit_text("x" * 99, 50)
retention.run(["true"])
retention.communicate(__import__("subprocess").Popen(["true"], stdout=-1))
__import__("asyncio").run(retention.arun(["true"]))
main(["--head", "3", os.devnull])
main(["--no-progress", "--", "true"])
print(*sorted(map(os.fsdecode, read)))
"""


@posix
def test_no_variable_is_read_but_path():
    # What is set is read as a whole to be handed on; what is looked for and not set shows.
    env = {name: os.environ[name] for name in os.environ if name.startswith(("PATH", "LD_", "ASAN_", "UBSAN_"))}
    # CPython sets it by itself where it is not.
    env["LC_CTYPE"] = "C.UTF-8"
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    read = set(done.stdout.split())
    assert "LOOKED_FOR" in read
    # The last is asyncio's.
    assert read - env.keys() <= {"LOOKED_FOR", "PYTHONASYNCIODEBUG"}
