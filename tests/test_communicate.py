"""retention.communicate: what `run` does, for a Popen that the caller made. With real programs."""

import errno
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from io import FileIO

import pytest
from processes import MIB, interpreter, kept
from watch import SLACK, SOON, is_there, unread, wait_for

from retention import Omitted, TextHead, TextHeadTail, TextRetainer, TextTail, communicate

pytestmark = pytest.mark.usefixtures("nothing_left")

PIPE = subprocess.PIPE
ALL = TextHead(100 * MIB)
FIRST_TEN = TextHead(10, stop="stop_when_full")


def shell(script, **arguments):
    """A shell in a session of its own, with pipes for its outputs."""
    return subprocess.Popen(
        ["sh", "-c", script], **{"stdout": PIPE, "stderr": PIPE, "start_new_session": True, **arguments}
    )


# The result


def test_a_result_has_status_and_both_texts():
    popen = shell("echo out; echo err >&2; exit 3")
    result = communicate(popen)
    assert (result.returncode, result.stdout.text, result.stderr.text) == (3, "out\n", "err\n")
    assert (result.timed_out, result.stopped, result.eof) == (False, False, True)
    assert result.args is popen.args


def test_by_default_both_outputs_keep_8192_bytes_of_either_end():
    result = communicate(shell("seq 20000; seq 20000 >&2"))
    stream = "".join(f"{number}\n" for number in range(1, 20_001))
    assert (result.stdout, result.stderr) == (kept(TextHeadTail(8192, 8192), stream),) * 2


def test_each_output_keeps_what_its_strategy_or_retainer_keeps():
    err = TextRetainer(TextTail(3), errors="ignore")
    result = communicate(shell(r"seq 100; printf 'abc\377d' >&2"), stdout=TextHead(5), stderr=err)
    assert result.stdout == kept(TextHead(5), "".join(f"{number}\n" for number in range(1, 101)))
    assert (result.stderr, result.stderr.text) == (err.finish(), "cd")


def test_the_popen_knows_the_status_afterwards():
    popen = shell("exit 3")
    communicate(popen)
    assert popen.returncode == 3


@pytest.mark.parametrize("bufsize", [-1, 0, 100])
def test_the_files_of_the_popen_are_closed(bufsize):
    popen = shell("cat; echo err >&2", stdin=PIPE, bufsize=bufsize)
    result = communicate(popen, input="text")
    assert (result.stdout.text, result.stderr.text) == ("text", "err\n")
    assert [file.closed for file in (popen.stdin, popen.stdout, popen.stderr)] == [True] * 3


def test_a_popen_without_pipes_is_waited_for():
    result = communicate(shell("sleep 0.2; exit 4", stdout=None, stderr=None))
    assert (result.returncode, result.stdout, result.stderr, result.eof) == (4, None, None, True)


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_only_the_pipes_that_there_are_are_read(name):
    other = {"stdout": "stderr", "stderr": "stdout"}[name]
    result = communicate(shell("echo out; echo err >&2", **{other: subprocess.DEVNULL}))
    assert getattr(result, name).text == f"{name[3:]}\n"
    assert getattr(result, other) is None


def test_joined_outputs_come_in_the_order_of_arrival():
    script = "for i in 1 2 3; do echo out $i; echo err $i >&2; done"
    result = communicate(shell(script, stderr=subprocess.STDOUT))
    assert result.stdout.text == "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"
    assert result.stderr is None


def test_the_blocking_mode_of_the_pipes_is_left_alone():
    # The program must not wait for the end of its input, which a copy of the pipe holds off.
    popen = shell(f"sleep 0.1; head -c {MIB}", stdin=PIPE)
    copies = [os.dup(file.fileno()) for file in (popen.stdin, popen.stdout, popen.stderr)]
    communicate(popen, input=b"x" * MIB)
    modes = [os.get_blocking(fd) for fd in copies]
    for fd in copies:
        os.close(fd)
    assert modes == [True] * 3


def test_an_output_may_be_a_socket_also_after_a_timeout():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        popen = shell("echo text; exec sleep 60", stdout=theirs, stderr=None)
        popen.stdout = ours.makefile("rb")
        select.select([ours], [], [])
        result = communicate(popen, timeout=0.1)
    assert (result.stdout.text, result.timed_out, popen.stdout.closed) == ("text\n", True, True)


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_a_pipe_that_fails_as_it_is_closed_concerns_nobody(name):
    popen = shell("cat; echo err >&2", stdin=PIPE, bufsize=0)
    file = getattr(popen, name)
    real = file.close

    def close():
        real()
        raise OSError("too late")

    file.close = close
    result = communicate(popen, input="text")
    assert (result.returncode, result.stdout.text, result.stderr.text) == (0, "text", "err\n")
    assert [file.closed for file in (popen.stdin, popen.stdout, popen.stderr)] == [True] * 3


# What the caller has read and written before


def test_what_the_caller_has_read_is_left_out_and_what_was_buffered_is_not():
    popen = shell("seq 20000")
    assert [popen.stdout.readline() for _ in range(3)] == [b"1\n", b"2\n", b"3\n"]
    result = communicate(popen, stdout=ALL)
    assert result.stdout.text == "".join(f"{number}\n" for number in range(4, 20_001))


def test_a_short_output_that_was_buffered_whole_is_not_lost():
    popen = shell("printf 'first\nrest'")
    assert popen.stdout.readline() == b"first\n"
    popen.wait(SOON)
    assert communicate(popen).stdout.text == "rest"


def test_what_was_buffered_may_fill_the_head():
    popen = shell("seq 1000; exec sleep 100")
    popen.stdout.readline()
    result = communicate(popen, stdout=FIRST_TEN)
    assert (result.stopped, result.returncode, result.stdout.text) == (True, -signal.SIGTERM, "2\n3\n4\n5\n6\n")
    assert result.elapsed < SOON


def test_input_comes_after_what_the_caller_has_written():
    popen = shell("cat", stdin=PIPE)
    popen.stdin.write(b"before ")
    assert communicate(popen, input="after").stdout.text == "before after"


def test_without_input_what_the_caller_has_written_arrives():
    popen = shell("cat", stdin=PIPE)
    popen.stdin.write(b"before")
    assert communicate(popen).stdout.text == "before"


def test_a_standard_input_that_the_caller_has_closed_is_no_error():
    popen = shell("cat", stdin=PIPE)
    popen.stdin.write(b"before")
    popen.stdin.close()
    assert communicate(popen).stdout.text == "before"


@pytest.mark.parametrize("data", [None, b"after"])
def test_a_program_that_does_not_want_what_the_caller_has_written_is_no_error(data):
    popen = shell("exec <&-; echo out", stdin=PIPE)
    popen.wait(SOON)
    popen.stdin.write(b"before")
    result = communicate(popen, input=data)
    assert (result.returncode, result.stdout.text) == (0, "out\n")
    assert popen.stdin.closed


@pytest.mark.parametrize("data", [None, b"after"])
def test_a_standard_input_that_the_caller_has_filled_does_not_hold_the_timeout(data):
    # The pipe is full and its file has more to write, which nobody will take.
    answers = interpreter(
        """
        import os, subprocess
        from retention import communicate
        popen = subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE, start_new_session=True)
        os.set_blocking(popen.stdin.fileno(), False)
        try:
            while True:
                os.write(popen.stdin.fileno(), bytes(1024))
        except BlockingIOError:
            os.set_blocking(popen.stdin.fileno(), True)
        popen.stdin.write(b"before")
        result = communicate(popen, input=data, timeout=0.2)
        print(result.timed_out, result.elapsed < 0.2 + 0.5 + 1 + SLACK)
        """,
        data=data,
        SLACK=SLACK,
    )
    assert answers == "True True\n"


def test_the_standard_input_is_closed_although_somebody_else_may_still_take_it():
    reader, writer = os.pipe()
    with subprocess.Popen(["sleep", "60"], stdin=reader, start_new_session=True) as popen:
        popen.stdin = FileIO(writer, "w")
        result = communicate(popen, input=bytes(MIB), timeout=0)
        assert (result.timed_out, popen.stdin.closed) == (True, True)
    os.close(reader)


def test_4_mib_of_input_go_through_cat():
    data = bytes(range(256)) * (4 * MIB // 256)
    out = TextRetainer(ALL)
    result = communicate(shell("cat", stdin=PIPE), input=data, stdout=out)
    assert out.finish_bytes().head == data
    assert (result.returncode, result.eof) == (0, True)


def test_input_and_both_outputs_flow_at_once():
    # Here the pipe to the program is a blocking one: it must not be written more than it has room for.
    data = b"x" * (4 * MIB)
    result = communicate(shell("exec tee /dev/stderr", stdin=PIPE), input=data, stdout=TextTail(5), stderr=TextTail(5))
    assert (result.stdout, result.stderr) == (kept(TextTail(5), data),) * 2


def test_a_program_that_never_reads_its_input_is_no_error():
    assert communicate(shell("true", stdin=PIPE), input=bytes(4 * MIB)).returncode == 0


# Programs that have ended


def test_a_program_that_was_waited_for_already_is_read_all_the_same():
    popen = shell("echo out; echo err >&2; exit 3")
    assert popen.wait(SOON) == 3
    result = communicate(popen)
    assert (result.returncode, result.stdout.text, result.stderr.text, result.eof) == (3, "out\n", "err\n", True)


def test_a_program_that_was_waited_for_already_may_have_left_a_grandchild(holder):
    popen = shell(f"echo out; {holder.command} & exit 3", pass_fds=holder.fds)
    assert popen.wait(SOON) == 3
    result = communicate(popen, grace=0.2)
    assert (result.returncode, result.stdout.text, result.timed_out, result.eof) == (3, "out\n", False, False)
    assert 0.2 <= result.elapsed < 0.2 + 1 + SLACK
    assert holder.stays()


def test_a_program_that_was_waited_for_already_may_fill_the_head():
    answers = interpreter(
        """
        import subprocess
        from retention import TextHead, communicate
        popen = subprocess.Popen(["seq", "100"], stdout=subprocess.PIPE, start_new_session=True)
        popen.wait()
        result = communicate(popen, stdout=TextHead(10, stop="stop_when_full"))
        print(result.stopped, result.returncode, result.eof)
        """
    )
    assert answers == "True 0 False\n"


def test_a_program_that_has_ended_but_was_not_waited_for_is_reaped():
    popen = shell("echo out; exit 3")
    os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
    result = communicate(popen)
    assert (result.returncode, result.stdout.text) == (3, "out\n")


def test_a_program_that_another_thread_is_just_reaping_has_its_status():
    popen = shell("exit 3")
    os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
    # As Popen.wait has it in a thread.
    popen._waitpid_lock.acquire()
    reaping = threading.Timer(0.2, popen._waitpid_lock.release)
    reaping.start()
    assert communicate(popen).returncode == 3
    reaping.join()


@pytest.mark.parametrize(
    ("reap", "uses"),
    [
        (subprocess.Popen.wait, ["kill", "killpg", "pidfd_open"]),
        # That somebody else has done so is seen only by asking for it.
        (lambda popen: os.waitpid(popen.pid, 0), ["kill", "killpg"]),
    ],
    ids=["by its Popen", "by somebody else"],
)
def test_the_number_of_a_program_that_has_been_reaped_is_not_used(reap, uses, monkeypatch, holder):
    popen = shell(f"echo more than ten; {holder.command} & exit 3", pass_fds=holder.fds)
    reap(popen)
    # As if another program had it by now.
    used = []
    monkeypatch.setattr(os, "getpgid", lambda pid: pid)
    for name in uses:
        monkeypatch.setattr(os, name, lambda pid, *args: used.append(pid), raising=False)
    assert communicate(popen, stdout=FIRST_TEN).stopped
    assert used == []


def test_a_second_call_finds_the_files_closed():
    popen = shell("exit 3")
    communicate(popen)
    with pytest.raises(ValueError, match="closed"):
        communicate(popen)


# Time, stops and groups


def test_a_timeout_counts_from_the_call(holder):
    popen = shell(f"echo out; {holder.command}", pass_fds=holder.fds)
    wait_for(lambda: unread(popen.stdout))
    time.sleep(0.3)
    result = communicate(popen, timeout=0.3)
    assert (result.timed_out, result.returncode, result.stdout.text) == (True, -signal.SIGTERM, "out\n")
    assert 0.3 <= result.elapsed < 0.3 + 0.5 + 1 + SLACK
    assert holder.is_gone(SOON)


def test_a_flood_is_ended_in_time():
    popen = subprocess.Popen(["yes"], stdout=PIPE)
    result = communicate(popen, timeout=0.3)
    assert (result.timed_out, result.returncode) == (True, -signal.SIGTERM)
    assert result.elapsed < 0.3 + 0.5 + 1 + SLACK


@pytest.mark.parametrize(
    ("name", "path", "mode", "number"),
    [("stdin", "/dev/full", "w", errno.ENOSPC), ("stdout", "/proc/self/mem", "r", errno.EIO)],
)
def test_a_pipe_that_fails_does_not_cost_the_program_its_grace(name, path, mode, number):
    script = "trap 'echo bye >&2; exit 3' TERM; echo ready >&2; while :; do sleep 0.01; done"
    popen = shell(script, stdin=PIPE, bufsize=0, start_new_session=False)
    assert popen.stderr.readline() == b"ready\n"
    getattr(popen, name).close()
    setattr(popen, name, FileIO(path, mode))
    err = TextRetainer(ALL)
    with pytest.raises(OSError, match=os.strerror(number)):
        communicate(popen, input="text", stderr=err)
    # Were it asked again, it would fail again.
    assert (popen.returncode, err.finish().text) == (3, "bye\n")


def test_a_full_head_ends_the_program():
    popen = subprocess.Popen(["yes"], stdout=PIPE)
    result = communicate(popen, stdout=FIRST_TEN)
    assert (result.stopped, result.eof, result.stdout.text) == (True, False, "y\n" * 5)
    assert result.stdout.omitted_bytes == Omitted("at_least", result.stdout.seen_bytes - 10)
    assert result.returncode in (-signal.SIGPIPE, -signal.SIGTERM)


def test_a_program_in_our_own_group_is_ended_alone():
    answers = interpreter(
        """
        import os, signal, subprocess
        from retention import communicate
        assert os.getpgrp() == os.getpid()
        sleep = ["sleep", "100"]
        for words, action in (sleep, signal.SIG_DFL), (sleep, signal.SIG_IGN), (["yes"], signal.SIG_DFL):
            # What is ignored here is ignored by those who are started.
            signal.signal(signal.SIGTERM, action)
            popen = subprocess.Popen(words, stdout=subprocess.PIPE)
            assert os.getpgid(popen.pid) == os.getpgrp()
            result = communicate(popen, timeout=0.2, grace=0.2)
            print(result.timed_out, result.returncode, result.elapsed < 0.2 + 0.2 + 1 + SLACK)
        """,
        SLACK=SLACK,
    )
    assert answers == "True -15 True\nTrue -9 True\nTrue -15 True\n"


def test_a_program_in_a_group_that_it_does_not_lead_is_ended_alone(holder):
    # The leader of the group is a program of the caller's, which has nothing to do with the other one.
    leader = subprocess.Popen(["sh", "-c", holder.command], pass_fds=holder.fds, process_group=0)
    popen = subprocess.Popen(["yes"], stdout=PIPE, process_group=leader.pid)
    assert os.getpgid(popen.pid) == leader.pid
    assert communicate(popen, timeout=0.1).timed_out
    assert holder.stays()
    holder.release()
    assert leader.wait(SOON) == 0


def test_check_raises_with_the_whole_result():
    with pytest.raises(subprocess.CalledProcessError) as caught:
        communicate(shell("echo out; exit 3"), check=True)
    assert (caught.value.output, caught.value.result.returncode) == ("out\n", 3)
    popen = shell("echo out; exec sleep 60")
    wait_for(lambda: unread(popen.stdout))
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        communicate(popen, check=True, timeout=0.2)
    assert (caught.value.output, caught.value.result.returncode) == ("out\n", -signal.SIGTERM)


def test_an_exception_ends_the_program_and_closes_its_files():
    answers = interpreter(
        """
        import os, subprocess, sys
        from retention import communicate
        before = len(os.listdir("/dev/fd"))
        script = "read go; sleep 0.2; kill -INT $PPID; sleep 60"
        popen = subprocess.Popen(["sh", "-c", script], stdin=-1, stdout=-1, stderr=-1, start_new_session=True)
        try:
            communicate(popen, input="go\\n")
        except KeyboardInterrupt:
            print(popen.returncode, popen.stdin.closed, popen.stdout.closed, popen.stderr.closed)
            print(len(os.listdir("/dev/fd")) == before)
        """
    )
    assert answers == "-15 True True True\nTrue\n"


def test_what_comes_right_before_the_last_signal_is_read(monkeypatch):
    reader, writer = os.pipe()

    def killpg(group, number, real=os.killpg):
        if number == signal.SIGKILL:
            os.write(writer, b"late")
        real(group, number)

    monkeypatch.setattr(os, "killpg", killpg)
    popen = subprocess.Popen(["sleep", "60"], stdout=writer, start_new_session=True)
    popen.stdout = FileIO(reader)
    result = communicate(popen, timeout=0, grace=0.2)
    os.close(writer)
    assert (result.returncode, result.stdout.text) == (-signal.SIGTERM, "late")


# Arguments


@pytest.fixture
def popen():
    """A program that a refused call leaves running, with its files open."""
    with shell("cat", stdin=PIPE) as popen:
        yield popen
        assert popen.poll() is None
        assert is_there(popen.pid)
        assert not any(file.closed for file in (popen.stdin, popen.stdout, popen.stderr))


@pytest.mark.parametrize("wrong", [None, 5, ["true"], "true", subprocess.Popen], ids=repr)
def test_what_is_no_popen_is_refused(wrong):
    with pytest.raises(TypeError, match=r"^popen must be a subprocess\.Popen"):
        communicate(wrong)


@pytest.mark.parametrize("mode", [{"text": True}, {"encoding": "utf-8"}, {"universal_newlines": True}])
def test_a_popen_in_text_mode_is_refused(mode):
    with shell("cat", stdin=PIPE, **mode) as popen:
        with pytest.raises(TypeError, match=r"binary.*text"):
            communicate(popen)
        assert popen.poll() is None


@pytest.mark.parametrize("name", ["stdout", "stderr"])
@pytest.mark.parametrize("wrong", [subprocess.PIPE, subprocess.DEVNULL, None, 5, "head", TextHead], ids=repr)
def test_other_destinations_are_refused_and_those_taken_are_named(name, wrong, popen):
    with pytest.raises(TypeError, match=rf"^{name} must be .*strategy.*TextRetainer"):
        communicate(popen, **{name: wrong})


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_used_retainer_is_refused(name, popen):
    used = TextRetainer(ALL)
    used.push("abc")
    with pytest.raises(ValueError, match=rf"^{name} .*fresh.*3 bytes"):
        communicate(popen, **{name: used})


def test_the_same_retainer_for_both_outputs_is_refused(popen):
    retainer = TextRetainer(ALL)
    with pytest.raises(ValueError, match="two retainers"):
        communicate(popen, stdout=retainer, stderr=retainer)


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_strategy_for_a_pipe_that_is_not_there_is_refused(name):
    with shell("cat", stdin=PIPE, **{name: None}) as popen:
        with pytest.raises(ValueError, match=rf"^{name} needs .*{name}=subprocess\.PIPE"):
            communicate(popen, **{name: TextHead(5)})
        assert popen.poll() is None


def test_input_without_a_pipe_is_refused(holder):
    with shell(holder.command, pass_fds=holder.fds) as popen:
        with pytest.raises(ValueError, match=r"stdin=subprocess\.PIPE"):
            communicate(popen, input="abc")
        holder.release()


@pytest.mark.parametrize(
    ("name", "wrong", "error"),
    [
        ("input", 5, TypeError),
        ("input", "\ud800", UnicodeEncodeError),
        ("timeout", -1, ValueError),
        ("timeout", float("nan"), ValueError),
        ("timeout", "soon", TypeError),
        ("grace", -1, ValueError),
        ("grace", float("inf"), ValueError),
        ("grace", "soon", TypeError),
        ("cwd", "/", TypeError),
        ("text", True, TypeError),
    ],
)
def test_wrong_arguments_leave_the_program_alone(name, wrong, error, popen):
    with pytest.raises(error):
        communicate(popen, **{name: wrong})


def test_a_subclass_of_popen_is_taken():
    class Special(subprocess.Popen):
        pass

    assert communicate(Special([sys.executable, "-c", "print(5)"], stdout=PIPE)).stdout.text == "5\n"
