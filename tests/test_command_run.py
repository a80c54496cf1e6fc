"""`retain -- COMMAND`: commands under the command, with signals, statuses and terminals."""

import contextlib
import errno
import fcntl
import json
import os
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from types import SimpleNamespace

import pytest
from compiling import shared_library
from processes import interpreter
from streams import text_of
from watch import SLACK, SOON, descriptors, is_running, line_in, program, wait_for

from retention import TextTail, running
from retention._options import HELP, TAKES_VALUE
from retention._spawn import Spawned
from retention.running import peak_memory, scaled, status_of

pytestmark = pytest.mark.usefixtures("nothing_left")

RETAIN = [sys.executable, "-m", "retention"]

NUMBERS = "".join(f"{number}\n" for number in range(1, 20_001)).encode()

# Says its own pid on standard error, and stays.
STAYING = ["sh", "-c", "ulimit -c 0; echo $$ >&2; exec sleep 1000"]

PASSED_ON = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]

# A timeout before which a command has begun, also on a slow and busy machine.
BEGUN = "3"


def retain(*words, stdin=b"", **options):
    """What is printed on both outputs, and the status."""
    done = subprocess.run([*RETAIN, *words], input=stdin, capture_output=True, timeout=SOON, **options)
    return done.stdout, done.stderr, done.returncode


@contextlib.contextmanager
def retaining(*words, **options):
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    # Unbuffered: what came with a line that was read would be lost to `communicate`.
    with subprocess.Popen([*RETAIN, *words], bufsize=0, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def finished(process):
    out, err = process.communicate(timeout=SOON)
    return out, err, process.returncode


# Statuses


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["true"], 0),
        (["false"], 1),
        (["sh", "-c", "exit 77"], 77),
        (["sh", "-c", "exit 255"], 255),
        (["sh", "-c", "kill -9 $$"], 128 + 9),
        (["sh", "-c", "kill -TERM $$"], 128 + 15),
        # What Python ignores, its children do not.
        (["sh", "-c", "kill -PIPE $$"], 128 + 13),
        (["sh", "-c", "ulimit -c 0; kill -XFSZ $$"], 128 + 25),
    ],
)
def test_the_status_is_that_of_the_command(command, status):
    assert retain("--", *command) == (b"", b"", status)


def test_a_status_other_than_0_keeps_nothing_from_being_shown():
    assert retain("--", "sh", "-c", "echo text; exit 3") == (b"text\n", b"", 3)


@pytest.mark.parametrize("name", ["no such program", "/no/such/program", ""])
def test_a_command_that_is_not_found_is_status_127(name):
    out, err, status = retain("--", name)
    assert (out, status) == (b"", 127)
    assert err == f"retain: {name}: No such file or directory\n".encode()


def test_a_command_that_is_not_executable_is_status_126(tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    for path in (script, tmp_path):
        assert retain("--", path) == (b"", f"retain: {path}: Permission denied\n".encode(), 126)


def test_a_command_that_is_no_program_is_status_126(tmp_path):
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF, but no more")
    path.chmod(0o755)
    out, err, status = retain("--", path)
    assert (out, status) == (b"", 126)
    assert err.startswith(f"retain: {path}: ".encode())


def test_after_stop_the_status_is_0():
    out, err, status = retain("--head", "4", "--stop", "--", "yes")
    assert (out, err, status) == (b"y\ny\n[More bytes were omitted.]\n", b"", 0)


def test_after_stop_the_status_is_0_also_for_a_command_that_has_to_be_killed():
    script = "trap '' TERM PIPE; while :; do echo y 2>/dev/null; done"
    assert retain("--head", "1", "--stop", "--no-marker", "--", "sh", "-c", script) == (b"y", b"", 0)


def test_with_a_stop_that_was_not_needed_the_status_is_that_of_the_command():
    assert retain("--head", "4", "--stop", "--", "sh", "-c", "echo a; exit 3") == (b"a\n", b"", 3)


@pytest.mark.parametrize("seconds", ["0.2", "2e-1", "0", ".1"])
def test_after_a_timeout_the_status_is_124(seconds):
    began = time.monotonic()
    assert retain("--timeout", seconds, "--", "sleep", "1000") == (b"", b"", 124)
    assert time.monotonic() - began < 0.2 + 0.5 + SLACK


def test_after_a_timeout_what_came_is_shown():
    script = "echo early; exec sleep 1000"
    assert retain(f"--timeout={BEGUN}", "--", "sh", "-c", script) == (b"early\n", b"", 124)


def test_a_timeout_ends_a_command_that_ignores_sigterm_and_its_children():
    script = "trap 'echo no' TERM; sleep 1000 & while :; do wait; done"
    began = time.monotonic()
    out, _, status = retain("--timeout", BEGUN, "--", "sh", "-c", script)
    assert (out, status) == (b"no\n", 124)
    assert time.monotonic() - began < float(BEGUN) + 0.5 + 1 + SLACK


def test_a_timeout_that_is_not_reached_changes_nothing():
    assert retain("--timeout", "60", "--", "sh", "-c", "echo text; exit 3") == (b"text\n", b"", 3)


@pytest.mark.parametrize("text", ["", "x", "-1", "nan", "inf", "1s", "1e999", "1,5", "1_0", "٣"])
def test_a_timeout_that_is_no_number_of_seconds_is_status_2(text):
    out, err, status = retain(f"--timeout={text}", "--", "echo")
    assert (out, status) == (b"", 2)
    assert err.startswith(b"retain: --timeout takes a number of seconds")


# Outputs and input


def test_standard_output_is_retained():
    out, err, status = retain("--head", "4", "--tail", "6", "--", "seq", "20000")
    assert (out, err, status) == (b"1\n2\n[Omitted 108884 bytes.]\n20000\n", b"", 0)


def test_standard_error_goes_through_untouched():
    # Whole, though longer than what is kept, and as the bytes that it is.
    script = "seq 1 20000 >&2; printf '\\377\\000' >&2; echo text"
    out, err, status = retain("--head", "4", "--no-marker", "--", "sh", "-c", script)
    assert (out, err, status) == (b"text", NUMBERS + b"\xff\0", 0)


def test_standard_error_goes_through_at_once():
    with retaining("--", *STAYING) as process:
        pid = int(process.stderr.readline())
        assert is_running(pid)
        os.kill(pid, signal.SIGKILL)
        assert finished(process) == (b"", b"", 128 + 9)


def test_merge_joins_it_in_the_order_of_arrival():
    script = "echo one; echo two >&2; echo three"
    assert retain("--merge", "--", "sh", "-c", script) == (b"one\ntwo\nthree\n", b"", 0)


def test_standard_input_is_passed_to_the_command():
    assert retain("--head", "1M", "--", "cat", stdin=NUMBERS) == (NUMBERS, b"", 0)


def test_json_tells_of_the_output_of_a_command():
    out, err, status = retain("--head", "2", "--json", "--", "sh", "-c", "seq 1000; exit 3")
    assert json.loads(out) == {
        "text": "1\n",
        "head": "1\n",
        "tail": "",
        "truncated": True,
        "omitted": {"kind": "exact", "count": 3891},
        "seen": 3893,
    }
    assert (err, status) == (b"", 3)


def test_a_grandchild_that_holds_the_pipe_does_not_keep_it_waiting():
    began = time.monotonic()
    out, err, status = retain("--", "sh", "-c", "sleep 1000 2>/dev/null & echo $! >&2; echo text")
    took = time.monotonic() - began
    os.kill(int(err), signal.SIGKILL)
    assert (out, status) == (b"text\n", 0)
    assert took < 0.5 + SLACK


def test_the_command_inherits_the_standard_descriptors_alone(tmp_path):
    out, _, _ = retain("--spill", tmp_path / "all", "--", "sh", "-c", "ls /proc/$$/fd; :")
    assert out == b"0\n1\n2\n"


def test_the_command_does_not_find_its_pipes_non_blocking():
    script = "import fcntl, os; print([fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK for fd in range(3)])"
    assert retain("--", sys.executable, "-c", script)[0] == b"[0, 0, 0]\n"


def test_without_a_terminal_there_is_no_progress():
    assert retain("--", "sh", "-c", "echo text; sleep 1.5") == (b"text\n", b"", 0)


# Options


def test_what_comes_after_the_dashes_belongs_to_the_command():
    out, err, status = retain("--head", "4", "--", "echo", "--head", "1", "--", "--json", "--help")
    assert (out, err, status) == (b"--he\n[Omitted 22 bytes.]\n", b"", 0)


def test_a_command_may_begin_with_a_dash():
    assert retain("--", "--json")[1:] == (b"retain: --json: No such file or directory\n", 127)


def test_the_dashes_may_be_the_value_of_an_option():
    out, _, status = retain("--head", "1", "--marker", "--", "--", "echo", "text")
    assert (out, status) == (b"t\n--\n", 0)


@pytest.mark.parametrize("words", [["--merge"], ["--timeout", "1"], ["--spill", "all"], ["--stats"], ["--foreground"],
                                   ["--no-progress"]])  # fmt: skip
def test_an_option_for_commands_without_a_command_is_status_2(words, tmp_path):
    out, err, status = retain(*words, cwd=tmp_path)
    assert (out, status) == (b"", 2)
    assert err.startswith(f"retain: {words[0]} goes with a command".encode())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["--"], ["--json", "--"]])
def test_the_dashes_without_a_command_are_status_2(words):
    out, err, status = retain(*words)
    assert (out, status) == (b"", 2)
    assert err.startswith(b"retain: no command after --\n")


def test_a_command_without_the_dashes_is_taken_for_files(tmp_path):
    out, err, status = retain("--head", "4", "echo", "two words", cwd=tmp_path)
    assert (out, status) == (b"", 1)
    first, second = err.decode().splitlines()
    assert first == "retain: echo: No such file or directory (as a command: -- echo 'two words')"
    assert second == "retain: two words: No such file or directory"


def test_a_command_is_suggested_only_for_a_name_that_is_one(tmp_path):
    (tmp_path / "seq").write_text("1\n")
    out, err, status = retain("seq", "10", "ls", cwd=tmp_path)
    assert (out, status) == (b"==> seq <==\n1\n", 1)
    assert err == b"retain: 10: No such file or directory\nretain: ls: No such file or directory\n"
    assert retain("no-such-command", cwd=tmp_path)[1] == b"retain: no-such-command: No such file or directory\n"


def test_wrong_options_start_nothing(tmp_path):
    _, _, status = retain("--head", "x", "--spill", tmp_path / "all", "--", "touch", tmp_path / "touched")
    assert status == 2
    assert list(tmp_path.iterdir()) == []


def test_the_help_tells_of_every_option_and_status():
    for word in [*TAKES_VALUE, "-- COMMAND", "124", "126", "127", "128+N", "141"]:
        assert word in HELP


def test_a_command_costs_no_import_that_it_does_not_need():
    script = "import sys; from retention.command import main; main(['--', 'true']); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=SOON).stdout
    unneeded = {"argparse", "asyncio", "dataclasses", "inspect", "json", "logging", "selectors", "subprocess",
                "tempfile", "threading", "typing"}  # fmt: skip
    assert unneeded.isdisjoint(modules.split())


# --spill and --stats


def test_spill_keeps_the_whole_output_and_says_nothing(tmp_path):
    out, err, status = retain("--head", "2", "--no-marker", "--spill", tmp_path / "all", "--", "seq", "20000")
    assert (out, err, status) == (b"1\n", b"", 0)
    assert (tmp_path / "all").read_bytes() == NUMBERS
    assert (tmp_path / "all").stat().st_mode & 0o777 == 0o600


def test_spill_keeps_merged_standard_error_too(tmp_path):
    retain("--merge", f"--spill={tmp_path}/all", "--", "sh", "-c", "echo one; echo two >&2")
    assert (tmp_path / "all").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    ("name", "error"), [("there", errno.EEXIST), ("link", errno.EEXIST), ("missing/all", errno.ENOENT)]
)
def test_where_spill_fails_a_line_says_so_and_the_command_is_run(tmp_path, name, error):
    (tmp_path / "there").write_text("precious")
    (tmp_path / "link").symlink_to("target")
    out, err, status = retain("--spill", tmp_path / name, "--", "sh", "-c", "echo text; exit 3")
    assert (out, status) == (b"text\n", 3)
    assert err == f"retain: --spill {tmp_path / name}: {os.strerror(error)}\n".encode()
    assert (tmp_path / "there").read_text() == "precious"
    assert not (tmp_path / "target").exists()


def test_where_the_disk_fills_a_line_says_how_much_is_saved(tmp_path):
    path = tmp_path / "all"
    out, err, status = retain(
        "--tail", "6", "--json", "--spill", path, "--", "seq", "20000",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )  # fmt: skip
    assert err == f"retain: --spill {path}: File too large; the first 1000 bytes are saved\n".encode()
    assert (json.loads(out)["seen"], json.loads(out)["text"], status) == (len(NUMBERS), "20000\n", 0)
    assert path.read_bytes() == NUMBERS[:1000]


@pytest.mark.parametrize("name", ["no such program", "/", ""])
def test_without_a_command_to_run_spill_leaves_no_file(tmp_path, name):
    retain("--spill", tmp_path / "all", "--", name)
    assert list(tmp_path.iterdir()) == []


def statistics(err):
    found = re.fullmatch(rb"retain: (\d+) bytes in ([\d.]+) s, ([\d.]+) GB/s, peak memory ([\d.]+) MiB\n", err)
    assert found, err
    return [float(group) for group in found.groups()]


def test_stats_are_a_line_on_standard_error():
    out, err, status = retain("--stats", "--tail", "6", "--no-marker", "--", "sh", "-c", "seq 20000; sleep 0.5; exit 3")
    assert (out, status) == (b"20000\n", 3)
    nbytes, seconds, _, _ = statistics(err)
    assert nbytes == len(NUMBERS)
    assert 0.5 <= seconds < 0.5 + SLACK


def test_stats_of_a_large_output_are_consistent():
    nbytes, seconds, rate, _ = statistics(retain("--stats", "--", "head", "-c", "300MB", "/dev/zero")[1])
    assert nbytes == 300_000_000
    # All are rounded.
    assert rate == pytest.approx(nbytes / seconds / 1e9, rel=0.05, abs=0.0006)


@pytest.mark.parametrize("size", [0, 200 << 20], ids=["small parent", "large parent"])
def test_the_peak_memory_is_that_of_retain_alone(size):
    # What the system counts for a process may begin with the memory of the one that started it.
    script = f"""
import subprocess, sys
ballast = b"x" * {size}
subprocess.run([sys.executable, "-m", "retention", "--stats", "--", "head", "-c", "300MB", "/dev/zero"],
               stdout=subprocess.DEVNULL)
"""
    # That one is started by a shell, which is small.
    words = ["sh", "-c", '"$@"; :', "-", sys.executable, "-c", script]
    done = subprocess.run(words, stderr=subprocess.PIPE, timeout=SOON)
    assert 5 < statistics(done.stderr)[3] < 64


def test_the_peak_memory_is_in_bytes():
    (nbytes,) = interpreter(
        """
        from retention.running import peak_memory
        large = bytearray(200 << 20)
        large[::4096] = bytes(len(large) // 4096)
        del large
        print(peak_memory())
        """
    ).split()
    # AddressSanitizer has memory of its own.
    assert 200 << 20 <= int(nbytes) < (1 << 40 if "ASAN_OPTIONS" in os.environ else 300 << 20)


@pytest.mark.parametrize(("platform", "unit"), [("darwin", 1), ("freebsd14", 1 << 10)])
def test_the_peak_memory_is_in_bytes_whatever_the_unit_of_the_system(platform, unit, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=1000))
    assert peak_memory() == 1000 * unit


def test_stats_are_told_after_a_timeout_too():
    out, err, status = retain("--stats", "--timeout", BEGUN, "--", "sh", "-c", "echo text; exec sleep 1000")
    assert (out, status) == (b"text\n", 124)
    assert statistics(err)[0] == 5


# Signals


@pytest.mark.parametrize("number", PASSED_ON)
def test_a_signal_ends_the_command_and_the_status_says_which(number, tmp_path):
    with retaining("--", *STAYING, cwd=tmp_path) as process:
        pid = int(process.stderr.readline())
        process.send_signal(number)
        assert finished(process) == (b"", b"", 128 + number)
        assert not is_running(pid)


@pytest.mark.parametrize("number", PASSED_ON)
def test_a_signal_reaches_the_command_and_what_that_prints_is_shown(number, tmp_path):
    name = number.name.removeprefix("SIG")
    script = f"trap 'seq 20000; exit 7' {name}; echo first; echo ready >&2; while :; do sleep 0.05; done"
    with retaining("--tail", "6", "--json", "--", "sh", "-c", script, cwd=tmp_path) as process:
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(number)
        # The shell may say on standard error that the signal has ended `sleep`, too.
        out, _, status = finished(process)
    answer = json.loads(out)
    assert (answer["seen"], answer["text"], status) == (len(b"first\n") + len(NUMBERS), "20000\n", 7)


def test_a_signal_that_the_command_survives_does_not_end_the_reading():
    script = "trap 'echo heard >&2' TERM; echo ready >&2; for _ in 1 2 3 4; do sleep 0.1; done; echo more"
    with retaining("--", "sh", "-c", script) as process:
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        out, err, status = finished(process)
        # The shell may say first that it ended `sleep`.
        assert (out, err.endswith(b"heard\n"), status) == (b"more\n", True, 0)


def test_every_signal_is_passed_on():
    script = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [1, 2, 3, 15])
print("ready", file=sys.stderr, flush=True)
print(sorted(int(signal.sigwait([1, 2, 3, 15])) for _ in range(4)))
"""
    with retaining("--", sys.executable, "-c", script) as process:
        assert process.stderr.readline() == b"ready\n"
        for number in (1, 2, 3, 15):
            process.send_signal(number)
            time.sleep(0.05)
        assert finished(process) == (b"[1, 2, 3, 15]\n", b"", 0)


def test_a_signal_reaches_the_children_of_the_command():
    with retaining("--", "sh", "-c", "trap : TERM; sleep 1000 & echo $! >&2; wait; echo gone") as process:
        pid = int(process.stderr.readline())
        # Until it is `sleep`, it may not have been told yet what to do with signals.
        wait_for(lambda: program(pid) == "sleep")
        process.send_signal(signal.SIGTERM)
        assert finished(process) == (b"gone\n", b"", 0)
        assert not is_running(pid)


@pytest.mark.parametrize("number", PASSED_ON)
def test_a_signal_that_is_ignored_stays_ignored(number):
    script = f"kill -{int(number)} $$; echo alive; echo ready >&2; read line; echo $line"
    ignoring = {"preexec_fn": lambda: signal.signal(number, signal.SIG_IGN)}
    with retaining("--", "sh", "-c", script, stdin=subprocess.PIPE, **ignoring) as process:
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(number)
        time.sleep(0.1)
        out, _ = process.communicate(b"still\n", timeout=SOON)
        assert (out, process.returncode) == (b"alive\nstill\n", 0)


def test_a_signal_during_the_grace_does_not_shorten_it():
    # Told to end, the command itself sends the signal; when that has come back it goes on for a while, and ends.
    patient = "import sys; from retention import command, running; running.GRACE = 20; sys.exit(command.main())"
    heard = "trap 'echo asked; kill -HUP $PPID' TERM; trap 'sleep 0.2; echo again; exit' HUP; "
    words = ["--timeout", BEGUN, "--", "sh", "-c", heard + "while :; do sleep 0.05; done"]
    done = subprocess.run([sys.executable, "-c", patient, *words], stdout=subprocess.PIPE, timeout=SOON)
    assert (done.stdout, done.returncode) == (b"asked\nagain\n", 124)


def test_a_signal_while_the_command_is_started_is_passed_on_to_it():
    answers = interpreter(
        """
        import signal
        from retention import TextRetainer, TextTail, running

        class Signalled(running.Spawned):
            def __init__(self, *args, **options):
                super().__init__(*args, **options)
                signal.raise_signal(signal.SIGTERM)

        running.Spawned = Signalled
        print(running.run_command(TextRetainer(TextTail(9)), ["sleep", "20"], {}))
        """
    )
    assert answers == f"{128 + signal.SIGTERM}\n"


RAISE_BEFORE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

/* The making of the pipe that tells of signals, or else the first poll() of several descriptors, is preceded by a
   signal: as late as one may come and not be told of, and not interrupt it. */
static void raise_once(const char *before)
{
    char *number = getenv(before);
    if (number) {
        int raised = atoi(number);
        unsetenv(before);
        raise(raised);
    }
}

int pipe2(int ends[2], int flags)
{
    int (*real)(int[2], int) = dlsym(RTLD_NEXT, "pipe2");
    if (flags & O_NONBLOCK)
        raise_once("RAISE_BEFORE_PIPE");
    return real(ends, flags);
}

int poll(struct pollfd *polled, nfds_t count, int milliseconds)
{
    int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
    if (count > 3)
        raise_once("RAISE_BEFORE_POLL");
    return real(polled, count, milliseconds);
}
"""


@pytest.fixture(params=["PIPE", "POLL"])
def raising_before_it_waits(tmp_path, request):
    """The environment of a process that a signal reaches just before it waits."""
    (tmp_path / "shim.c").write_text(RAISE_BEFORE)
    shared_library(tmp_path / "shim.c", tmp_path / "shim.so")
    return lambda number: {
        **os.environ,
        # Behind what is preloaded already: a sanitizer insists on being the first.
        "LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')} {tmp_path / 'shim.so'}",
        f"RAISE_BEFORE_{request.param}": str(int(number)),
    }


@pytest.mark.parametrize("number", PASSED_ON)
def test_a_signal_just_before_it_waits_is_passed_on_at_once(number, raising_before_it_waits):
    # Not only when the command prints something, which may take for ever.
    began = time.monotonic()
    command = ["sh", "-c", "ulimit -c 0; exec sleep 50"]
    assert retain("--", *command, env=raising_before_it_waits(number))[2] == 128 + number
    assert time.monotonic() - began < SLACK


def test_ctrl_c_just_before_run_waits_ends_it_at_once(raising_before_it_waits):
    script = "import retention\ntry: retention.run(['sleep', '50'])\nexcept KeyboardInterrupt: print('interrupted')"
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script], env=raising_before_it_waits(signal.SIGINT), capture_output=True, timeout=SOON
    )
    assert (done.stdout, done.stderr) == (b"interrupted\n", b"")
    assert time.monotonic() - began < SLACK


def test_a_signal_after_the_command_has_ended_ends_retain():
    # Nobody reads what it prints, and a pipe does not hold all of it.
    with retaining("--head", "1M", "--", "seq", "200000") as process:
        wait_for(lambda: select.select([process.stdout], [], [], 0)[0])
        process.send_signal(signal.SIGTERM)
        assert process.wait(SOON) != 0


# Sessions


SESSION = ["sh", "-c", 'cut -d" " -f 6 /proc/$$/stat; echo $$']


def test_the_command_has_a_session_of_its_own():
    session, pid = retain("--", *SESSION)[0].split()
    assert session == pid


def test_in_the_foreground_the_command_is_in_the_session_of_the_caller():
    with retaining("--foreground", "--", *SESSION, start_new_session=True) as process:
        out, err, status = finished(process)
    assert (int(out.split()[0]), err, status) == (process.pid, b"", 0)


def test_in_the_foreground_a_timeout_still_ends_the_command():
    script = "echo $$ >&2; exec sleep 1000"
    out, err, status = retain("--foreground", "--timeout", BEGUN, "--", "sh", "-c", script)
    assert (out, status) == (b"", 124)
    assert not is_running(int(err))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_in_the_foreground_what_a_terminal_sends_is_not_passed_on(number):
    script = "echo ready >&2; read line; echo $line"
    with retaining("--foreground", "--", "sh", "-c", script, stdin=subprocess.PIPE) as process:
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(number)
        time.sleep(0.1)
        assert process.communicate(b"alive\n", timeout=SOON) == (b"alive\n", b"")
        assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_in_the_foreground_other_signals_are_for_retain_alone(number):
    with retaining("--foreground", "--", *STAYING) as process:
        pid = int(process.stderr.readline())
        try:
            process.send_signal(number)
            assert process.wait(SOON) == -number
            assert is_running(pid)
        finally:
            os.kill(pid, signal.SIGKILL)


# An output that nobody reads


def closed_output(*words, after=0):
    """Start retain, and close its output `after` the command has said its pid.

    Returns the pid, the status, what was on standard error, and how long it took.
    """
    reader, writer = os.pipe()
    with retaining(*words, stdout=writer) as process:
        os.close(writer)
        pid = int(process.stderr.readline())
        time.sleep(after)
        os.close(reader)
        began = time.monotonic()
        status = process.wait(SOON)
        took = time.monotonic() - began
        return pid, status, process.stderr.read(), took


def test_a_closed_output_ends_a_command_that_would_not_end():
    pid, status, complaint, took = closed_output("--", "sh", "-c", "echo $$ >&2; exec yes", after=0.3)
    assert (status, complaint) == (141, b"")
    assert took < 0.5 + SLACK
    assert not is_running(pid)


def test_a_closed_output_ends_a_command_that_has_printed_nothing():
    pid, status, complaint, took = closed_output("--", *STAYING)
    assert took < 0.5 + SLACK
    assert not is_running(pid)
    assert (status, complaint) == (141, b"")


def test_retain_yes_into_true_ends():
    script = '"$@" | true; echo ${PIPESTATUS[0]}'
    done = subprocess.run(["bash", "-c", script, "-", *RETAIN, "--", "yes"], capture_output=True, timeout=SOON)
    assert (done.stdout, done.stderr) == (b"141\n", b"")


def test_retain_yes_into_head_ends_at_the_timeout():
    script = '"$@" | head -1; echo ${PIPESTATUS[0]}'
    words = [*RETAIN, "--timeout", BEGUN, "--", "yes"]
    done = subprocess.run(["bash", "-c", script, "-", *words], capture_output=True, timeout=SOON)
    line, status = done.stdout.splitlines()
    # Whether head has gone before all is written, is a race.
    assert (line, done.stderr, int(status) in (124, 141)) == (b"y", b"", True)


def test_an_output_to_a_file_or_a_socket_is_written_at_the_end(tmp_path):
    import socket

    ours, theirs = socket.socketpair()
    with ours, theirs, open(tmp_path / "out", "wb") as file:
        for output in (theirs, file):
            assert subprocess.run([*RETAIN, "--", "seq", "3"], stdout=output, timeout=SOON).returncode == 0
        assert ours.recv(100) == (tmp_path / "out").read_bytes() == b"1\n2\n3\n"


def test_with_a_closed_standard_input_and_error_it_runs_all_the_same():
    def close():
        os.close(0)
        os.close(2)

    done = subprocess.run([*RETAIN, "--", "seq", "3"], stdout=subprocess.PIPE, preexec_fn=close, timeout=SOON)
    assert (done.stdout, done.returncode) == (b"1\n2\n3\n", 0)


def test_with_a_closed_standard_output_the_command_is_run_and_a_line_says_that_it_cannot_be_shown(tmp_path):
    done = subprocess.run(
        [*RETAIN, "--", "sh", "-c", 'echo text | tee "$0"', tmp_path / "said"],
        stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1), timeout=SOON,
    )  # fmt: skip
    assert (done.stderr, done.returncode) == (f"retain: {os.strerror(errno.EBADF)}\n".encode(), 1)
    assert (tmp_path / "said").read_text() == "text\n"


def test_the_pipe_of_a_command_is_beside_the_standard_descriptors_whichever_of_them_are_closed():
    answers = interpreter(
        """
        import itertools, os
        from retention._spawn import pipe_beside_standard

        def is_open(fd):
            try:
                return bool(os.fstat(fd))
            except OSError:
                return False

        def is_beside():
            reader, writer = pipe_beside_standard()
            os.write(writer, b"data")
            return min(reader, writer) > 2 and os.read(reader, 9) == b"data" and not any(map(is_open, closed))

        for closed in itertools.chain.from_iterable(itertools.combinations(range(3), size) for size in range(4)):
            if (pid := os.fork()) == 0:
                for fd in closed:
                    os.close(fd)
                os._exit(0 if is_beside() else 1)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), end="")
        """
    )
    assert answers == "0" * 8


def test_a_command_without_output_needs_no_standard_output():
    command = ["sh", "-c", "sleep 0.2; exit 3"]
    done = subprocess.run(
        [*RETAIN, "--", *command], stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1), timeout=SOON
    )
    assert (done.stderr, done.returncode) == (b"", 3)


def test_a_command_that_cannot_be_started_leaves_no_descriptor():
    before = descriptors()
    with pytest.raises(FileNotFoundError):
        Spawned(["/no such program"], merge=False, new_session=True)
    assert descriptors() == before


def test_a_command_is_asked_for_its_status_without_waiting():
    process = Spawned(["sleep", "60"], merge=False, new_session=True)
    with process.stdout:
        assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        wait_for(lambda: process.poll() is not None)
    # Reaped, and not asked for again: its pid may be somebody else's by now.
    assert (process.poll(), process.returncode) == (-signal.SIGKILL, -signal.SIGKILL)


# In a terminal


class Terminal:
    """A pseudo-terminal with retain in it, as the leader of the terminal's session."""

    def __init__(self, *words, **options):
        self.master, terminal = os.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.shown = b""
        self.process = subprocess.Popen([*RETAIN, *words], preexec_fn=lambda: take(terminal, options))
        os.close(terminal)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self):
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def type(self, text):
        os.write(self.master, text)

    def read(self):
        """Wait for more to be shown; False at the end."""
        assert select.select([self.master], [], [], SOON)[0], "nothing was shown any more"
        try:
            self.shown += os.read(self.master, 65536)
        except OSError as error:
            # So the system says that nobody has the terminal any more.
            if error.errno != errno.EIO:
                raise
            return False
        return True

    def read_until(self, text):
        while text not in self.shown:
            assert self.read(), self.shown

    def finish(self):
        while self.read():
            pass
        return self.process.wait(SOON)


def take(terminal, redirected):
    os.login_tty(terminal)
    for fd, path in redirected.items():
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, {"stdout": 1, "stderr": 2}[fd])


PROGRESS = re.compile(rb"\r\x1b\[Kretain: ([\d.]+ [KMGT]?B), ([\d.]+ [KMGT]?B)/s")
CLEARED = b"\r\x1b[K"


@pytest.fixture
def go(tmp_path):
    """A path that has a line, for a command to read, when this is called."""
    path = tmp_path / "go"
    os.mkfifo(path)

    def go():
        path.write_text("go\n")

    go.path = path
    return go


def test_a_run_of_more_than_a_second_shows_its_progress_and_clears_it(go):
    with Terminal("--", "sh", "-c", f"printf 123456; read line <{go.path}; printf 789") as terminal:
        terminal.read_until(b"retain: 6 B")
        go()
        assert terminal.finish() == 0
    progress, _, output = terminal.shown.rpartition(CLEARED)
    assert PROGRESS.sub(b"", progress) == b""
    assert output == b"123456789"


@pytest.mark.parametrize(
    ("what", "returncode", "status"),
    [("woken", 0, 141), ("timed_out", -15, 124), ("stopped", -15, 0), ("", 3, 3), ("", -15, 143), ("", None, 137)],
)
def test_the_status_is_that_of_what_ended_the_command_or_its_own(what, returncode, status):
    facts = dict.fromkeys(["woken", "timed_out", "stopped"], False) | ({what: True} if what else {})
    assert status_of(SimpleNamespace(process=SimpleNamespace(returncode=returncode), **facts)) == status


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (999.4, "999 B"),
        (999.5, "1 KB"),
        (1000, "1 KB"),
        (12_345, "12.3 KB"),
        (999_499, "999 KB"),
        (999_501, "1 MB"),
        (6.5e8, "650 MB"),
        (9e9, "9 GB"),
        (1e15, "1000 TB"),
    ],
)
def test_progress_is_told_in_units_of_a_thousand(number, text):
    assert scaled(number) == text


def test_progress_begins_after_a_second_and_goes_away(monkeypatch):
    written = []
    now = iter([0, 0.99, 1, 4])
    monkeypatch.setattr(running, "monotonic", lambda: next(now))
    monkeypatch.setattr(running, "write", lambda fd, text: written.append(text))
    progress = running.Progress(text_of(TextTail(9), b"x" * 2000), 0)
    progress.show()
    progress.show()
    progress.clear()
    assert written == []
    progress.show()
    progress.show()
    progress.clear()
    assert written == ["\r\x1b[Kretain: 2 KB, 2 KB/s", "\r\x1b[Kretain: 2 KB, 500 B/s", "\r\x1b[K"]


def test_progress_goes_on_in_a_flood():
    with Terminal("--head", "2", "--no-marker", "--", "yes") as terminal:
        while len(PROGRESS.findall(terminal.shown)) < 3:
            assert terminal.read()
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.finish() == 128 + 15
    found = PROGRESS.findall(terminal.shown)
    assert found == sorted(set(found), key=found.index)
    assert terminal.shown.endswith(CLEARED + b"y\r\n")


def test_progress_is_cleared_when_the_command_is_ended_by_a_signal():
    with Terminal("--", "sh", "-c", "echo text; exec sleep 1000") as terminal:
        terminal.read_until(b"retain: 5 B")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.finish() == 128 + 15
    assert terminal.shown.endswith(CLEARED + b"text\r\n")


def test_a_run_of_less_than_a_second_shows_no_progress():
    def run():
        with Terminal("--stats", "--", "sh", "-c", "echo text; sleep 0.5") as terminal:
            assert terminal.finish() == 0
        return terminal.shown

    # A slow machine may take more than a second, as it says: then once more.
    while b" bytes in 0." not in (shown := run()):
        pass
    assert re.fullmatch(rb"retain: 5 bytes in 0\..*\r\ntext\r\n", shown)


def test_no_progress_shows_none():
    with Terminal("--no-progress", "--", "sh", "-c", "echo text; sleep 1.4") as terminal:
        assert terminal.finish() == 0
    assert terminal.shown == b"text\r\n"


def test_progress_is_shown_where_only_standard_error_is_a_terminal(tmp_path, go):
    with Terminal("--", "sh", "-c", f"echo text; read line <{go.path}", stdout=tmp_path / "out") as terminal:
        terminal.read_until(b"retain: ")
        go()
        assert terminal.finish() == 0
    assert PROGRESS.match(terminal.shown)
    assert terminal.shown.endswith(CLEARED)
    assert (tmp_path / "out").read_bytes() == b"text\n"


def test_progress_is_not_shown_where_standard_error_is_no_terminal(tmp_path):
    with Terminal("--", "sh", "-c", "echo text; sleep 1.4", stderr=tmp_path / "err") as terminal:
        assert terminal.finish() == 0
    assert terminal.shown == b"text\r\n"
    assert (tmp_path / "err").read_bytes() == b""


def test_ctrl_c_ends_the_command_and_shows_what_came(tmp_path):
    script = f"echo partial; echo $$ > {tmp_path}/pid; exec sleep 1000"
    with Terminal("--no-progress", "--", "sh", "-c", script) as terminal:
        pid = int(line_in(tmp_path / "pid"))
        terminal.type(b"\x03")
        assert terminal.finish() == 130
        assert not is_running(pid)
    assert terminal.shown == b"^Cpartial\r\n"


def test_ctrl_c_in_the_foreground_reaches_the_command_by_itself(tmp_path):
    script = f"trap 'echo trapped; exit 9' INT; echo $$ > {tmp_path}/pid; while :; do sleep 0.05; done"
    with Terminal("--foreground", "--no-progress", "--", "sh", "-c", script) as terminal:
        line_in(tmp_path / "pid")
        terminal.type(b"\x03")
        assert terminal.finish() == 9
    # Once: it is not passed on as well.
    assert terminal.shown == b"^Ctrapped\r\n"


@pytest.mark.parametrize("words", [[], ["--foreground"]], ids=["own session", "foreground"])
def test_closing_the_terminal_ends_the_command(tmp_path, words):
    with Terminal(*words, "--", "sh", "-c", f"echo partial; echo $$ > {tmp_path}/pid; exec sleep 1000") as terminal:
        pid = int(line_in(tmp_path / "pid"))
        terminal.close()
        terminal.process.wait(SOON)
        wait_for(lambda: not is_running(pid))


def test_closing_the_terminal_while_progress_is_shown_ends_the_command(tmp_path):
    with Terminal("--", "sh", "-c", f"echo $$ > {tmp_path}/pid; exec yes") as terminal:
        pid = int(line_in(tmp_path / "pid"))
        terminal.read_until(b"retain: ")
        terminal.close()
        terminal.process.wait(SOON)
        wait_for(lambda: not is_running(pid))


def test_in_the_foreground_the_command_reads_the_terminal():
    with Terminal("--foreground", "--", "sh", "-c", "echo ready >&2; read line </dev/tty; echo got $line") as terminal:
        terminal.read_until(b"ready")
        terminal.type(b"abc\n")
        assert terminal.finish() == 0
    assert terminal.shown.endswith(b"got abc\r\n")


def test_in_a_session_of_its_own_the_command_has_no_terminal():
    with Terminal("--no-progress", "--", "sh", "-c", "(: </dev/tty) 2>/dev/null || echo none") as terminal:
        assert terminal.finish() == 0
    assert terminal.shown == b"none\r\n"
