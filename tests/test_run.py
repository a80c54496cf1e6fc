"""retention.run: what it answers, that it ends in time, and that nothing is lost or left behind. With real programs."""

import array
import errno
import gc
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
from processes import KIB, MIB, THOROUGH, Holder, interpreter, kept
from watch import SLACK, SOON, children, descriptors, is_there, stat, unread, wait_for

from retention import CompletedRun, Omitted, TextHead, TextHeadTail, TextRetainer, TextTail, child, run
from retention.child import TICK, Child

pytestmark = pytest.mark.usefixtures("nothing_left")

NUMBERS = "".join(f"{number}\n" for number in range(1, 20_001)).encode()
COUNT = ["seq", "20000"]
ALL = TextHead(100 * MIB)
FIRST_TEN = TextHead(10, stop="stop_when_full")
# By what `yes` may be ended when its pipe is closed and it is told to end, both at once.
EITHER_SIGNAL = (-signal.SIGPIPE, -signal.SIGTERM)


def shell(script, **arguments):
    return run(["sh", "-c", script], **arguments)


def python(program, **arguments):
    return run([sys.executable, "-c", program], **arguments)


# The result


def test_a_result_has_status_and_both_texts():
    result = shell("echo out; echo err >&2; exit 3")
    assert (result.returncode, result.stdout.text, result.stderr.text) == (3, "out\n", "err\n")


def test_a_run_that_ended_by_itself_is_neither_timed_out_nor_stopped_and_read_to_the_end():
    result = run(["true"])
    assert (result.returncode, result.timed_out, result.stopped, result.eof) == (0, False, False, True)


def test_the_arguments_are_those_that_were_given():
    command = ("echo", "a b")
    result = run(command)
    assert result.args is command
    assert result.stdout.text == "a b\n"


def test_elapsed_is_the_time_from_start_to_end():
    before = time.monotonic()
    result = shell("sleep 0.2")
    assert 0.2 <= result.elapsed <= time.monotonic() - before


def test_a_signal_that_ended_the_program_is_a_negative_status():
    assert shell("kill -KILL $$").returncode == -signal.SIGKILL


def test_a_program_that_closes_its_outputs_is_waited_for_all_the_same():
    result = shell("exec >&- 2>&-; sleep 0.2; exit 5")
    assert (result.returncode, result.eof) == (5, True)
    assert result.elapsed >= 0.2


def test_results_are_immutable_and_equal_by_value_and_survive_pickling():
    result = shell("echo a")
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is CompletedRun
    assert again == result
    with pytest.raises(AttributeError, match="immutable"):
        result.returncode = 1


# Where output goes


def test_by_default_both_outputs_keep_8192_bytes_of_either_end():
    result = shell("seq 20000; seq 20000 >&2")
    expected = kept(TextHeadTail(8192, 8192), NUMBERS)
    assert (result.stdout, result.stderr) == (expected, expected)


@pytest.mark.parametrize(
    "strategy",
    [
        TextHead(100),
        TextTail(100),
        TextHeadTail(0, 0),
        TextHeadTail(10, 10**30),
        TextHead(100, stop="stop_when_full", max_lines=10**9),
        TextHeadTail(1000, 1000, head_lines=3, tail_lines=4),
    ],
)
def test_each_output_keeps_what_its_strategy_keeps(strategy):
    stream = NUMBERS
    if getattr(strategy, "stop", None) == "stop_when_full":
        stream = NUMBERS[:100]
    result = shell(f"seq 20000 | head -c {len(stream)} >&2; echo b", stdout=TextTail(1), stderr=strategy)
    assert result.stderr == kept(strategy, stream)
    assert result.stdout == kept(TextTail(1), b"b\n")


def test_a_fresh_retainer_is_used_itself_with_all_its_options():
    out = TextRetainer(TextHeadTail(10, 10), errors="backslashreplace", whole_lines=True)
    result = shell(r"printf 'a\377\n'; seq 100", stdout=out)
    assert result.stdout == out.finish()
    assert (result.stdout.head, result.stdout.tail) == ("a\\xff\n1\n2\n3\n", "98\n99\n100\n")
    assert result.stdout.seen_lines == 101


def test_a_retainer_can_be_looked_at_while_the_program_runs(holder):
    out = TextRetainer(ALL)
    runner = threading.Thread(
        target=shell, args=[f"echo early; {holder.command}"], kwargs={"stdout": out, "pass_fds": holder.fds}
    )
    runner.start()
    try:
        wait_for(lambda: out.seen_bytes == 6)
        assert out.finish().text == "early\n"
    finally:
        holder.release()
        runner.join(SOON)
    assert not runner.is_alive()


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_used_retainer_is_refused(name, tmp_path):
    used = TextRetainer(ALL)
    used.push("abc")
    with pytest.raises(ValueError, match=rf"^{name} .*fresh.*3 bytes"):
        run(["touch", tmp_path / "started"], **{name: used})
    assert not (tmp_path / "started").exists()


def test_the_same_retainer_for_both_outputs_is_refused(tmp_path):
    retainer = TextRetainer(ALL)
    with pytest.raises(ValueError, match=r"two retainers.*STDOUT"):
        run(["touch", tmp_path / "started"], stdout=retainer, stderr=retainer)
    assert not (tmp_path / "started").exists()


def test_output_to_devnull_is_no_result():
    result = shell("seq 100000; echo err >&2", stdout=subprocess.DEVNULL)
    assert (result.stdout, result.stderr.text, result.eof) == (None, "err\n", True)
    result = shell("echo out; seq 100000 >&2", stderr=subprocess.DEVNULL)
    assert (result.stdout.text, result.stderr, result.eof) == ("out\n", None, True)


def test_with_no_pipe_at_all_the_end_of_the_program_is_the_end():
    result = shell("sleep 0.2; exit 4", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert (result.returncode, result.stdout, result.stderr, result.eof) == (4, None, None, True)


def test_none_leaves_an_output_to_the_parents_own():
    out = interpreter(
        """
        import os, subprocess, sys
        from retention import run
        os.dup2(1, 2)
        result = run(["sh", "-c", "echo out; echo err >&2"], stdout=None, stderr=None)
        print(result.returncode, result.stdout, result.stderr, result.eof)
        """
    )
    assert out == "out\nerr\n0 None None True\n"


def test_stderr_joined_comes_in_the_order_of_arrival():
    script = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done"
    result = shell(script, stderr=subprocess.STDOUT)
    assert result.stdout.text == "".join(f"out {i}\nerr {i}\n" for i in range(1, 6))
    assert result.stderr is None


def test_stderr_goes_where_stdout_goes():
    result = shell("echo err >&2", stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    assert (result.stdout, result.stderr) == (None, None)


@pytest.mark.parametrize("name", ["stdout", "stderr"])
@pytest.mark.parametrize(
    "wrong", [subprocess.PIPE, 1, True, "head", TextHead, 8192.0, sys.__stdout__, object()], ids=repr
)
def test_other_destinations_are_refused_and_those_taken_are_named(name, wrong, tmp_path):
    with pytest.raises(TypeError, match=rf"^{name} must be .*strategy.*TextRetainer.*DEVNULL.*None"):
        run(["touch", tmp_path / "started"], **{name: wrong})
    assert not (tmp_path / "started").exists()


def test_a_file_is_refused(tmp_path):
    with (tmp_path / "log").open("wb") as file, pytest.raises(TypeError, match=r"^stdout must be .*TextRetainer"):
        run(["true"], stdout=file)


def test_stdout_cannot_be_joined_with_itself():
    with pytest.raises(TypeError, match=r"^stdout must be"):
        run(["true"], stdout=subprocess.STDOUT)


def test_what_is_taken_for_stderr_names_the_joining():
    with pytest.raises(TypeError, match=r"^stderr must be subprocess\.STDOUT"):
        run(["true"], stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("keyword", "value", "reason"),
    [
        ("capture_output", True, "retained"),
        ("text", True, "bytes"),
        ("universal_newlines", True, "bytes"),
        ("encoding", "utf-8", "UTF-8"),
        ("errors", "ignore", r"TextRetainer\(.*errors="),
        ("bufsize", 0, "blocks"),
    ],
)
def test_keywords_without_a_meaning_here_are_refused_with_the_reason(keyword, value, reason, tmp_path):
    with pytest.raises(TypeError, match=rf"{keyword}: .*{reason}"):
        run(["touch", tmp_path / "started"], **{keyword: value})
    assert not (tmp_path / "started").exists()


def test_a_keyword_that_popen_does_not_know_is_refused():
    with pytest.raises(TypeError, match="colour"):
        run(["true"], colour=3)


# What Popen is given


def test_the_working_directory_is_passed_on(tmp_path):
    assert run(["pwd"], cwd=tmp_path).stdout.text == f"{tmp_path}\n"


def test_the_environment_is_passed_on():
    assert shell("echo $WORD", env={**os.environ, "WORD": "given"}).stdout.text == "given\n"


def test_a_shell_runs_a_command_line():
    assert run("echo a; echo b | cat", shell=True).stdout.text == "a\nb\n"


def test_a_path_is_a_program(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho started\n")
    program.chmod(0o755)
    assert run(program).stdout.text == "started\n"


def test_standard_input_is_inherited(tmp_path):
    (tmp_path / "text").write_text("from the parent\n")
    with (tmp_path / "text").open() as file:
        out = interpreter('import retention; print(retention.run(["cat"]).stdout.text, end="")', stdin=file)
    assert out == "from the parent\n"


def test_standard_input_may_be_a_file(tmp_path):
    (tmp_path / "text").write_text("from a file\n")
    with (tmp_path / "text").open() as file:
        assert run(["cat"], stdin=file).stdout.text == "from a file\n"
        assert not file.closed


@pytest.mark.parametrize("stdin", [subprocess.DEVNULL, subprocess.PIPE])
def test_standard_input_may_be_empty(stdin):
    assert run(["cat"], stdin=stdin).stdout.text == ""


def test_the_program_gets_a_session_of_its_own():
    program = "import os; print(os.getsid(0) == os.getpgid(0) == os.getpid())"
    assert python(program).stdout.text == "True\n"


def test_the_session_is_the_parents_where_that_is_asked_for():
    program = f"import os; print(os.getsid(0) == {os.getsid(0)}, os.getpgid(0) == {os.getpgid(0)})"
    assert python(program, start_new_session=False).stdout.text == "True True\n"


def test_the_program_may_get_a_group_of_its_own_in_the_parents_session():
    program = f"import os; print(os.getsid(0) == {os.getsid(0)}, os.getpgid(0) == os.getpid())"
    assert python(program, process_group=0).stdout.text == "True True\n"


@pytest.mark.parametrize("data", [None, b"some input"])
def test_the_program_never_sees_a_non_blocking_descriptor(data):
    program = "import fcntl, os; print([fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK for fd in (0, 1, 2)])"
    assert python(program, input=data).stdout.text == "[0, 0, 0]\n"


def test_a_program_that_does_not_exist_is_an_error_that_names_it():
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        run(["no-such-program"], input=b"abc", check=True)


def test_a_program_that_may_not_be_started_is_an_error(tmp_path):
    (tmp_path / "text").write_text("no program")
    with pytest.raises(PermissionError):
        run([tmp_path / "text"])


def test_a_directory_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        run(["true"], cwd=tmp_path / "missing")


# Input


@pytest.mark.parametrize(
    ("data", "stream"),
    [
        ("a€😀\n", "a€😀\n".encode()),
        (b"a\0\xff", b"a\0\xff"),
        (bytearray(b"abc"), b"abc"),
        (memoryview(b"abc"), b"abc"),
        (array.array("H", [0x6161, 0x6262]), b"aabb"),
        (b"", b""),
        ("", b""),
    ],
    ids=repr,
)
def test_input_is_text_or_bytes(data, stream):
    out = TextRetainer(ALL)
    result = run(["cat"], input=data, stdout=out)
    assert out.finish_bytes().head == stream
    assert (result.returncode, result.eof) == (0, True)


def test_a_bytearray_given_as_input_can_be_resized_afterwards():
    data = bytearray(b"abc")
    run(["cat"], input=data)
    data.append(0)


@pytest.mark.parametrize("wrong", [5, 1.5, ["a"], object(), memoryview(b"abcdef")[::2]], ids=repr)
def test_other_input_is_refused(wrong, tmp_path):
    with pytest.raises(TypeError, match=r"^input must be a str or a bytes-like object"):
        run(["touch", tmp_path / "started"], input=wrong)
    assert not (tmp_path / "started").exists()


def test_text_that_utf8_cannot_say_is_refused(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        run(["touch", tmp_path / "started"], input="\ud800")
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("stdin", [subprocess.DEVNULL, subprocess.PIPE, 0])
def test_input_together_with_stdin_is_refused(stdin):
    with pytest.raises(ValueError, match="stdin"):
        run(["cat"], input=b"abc", stdin=stdin)


def test_4_mib_go_through_cat():
    data = bytes(range(256)) * (4 * MIB // 256)
    out = TextRetainer(ALL)
    result = run(["cat"], input=data, stdout=out)
    assert out.finish_bytes().head == data
    assert (result.returncode, result.eof) == (0, True)


def test_input_and_both_outputs_flow_at_once():
    data = b"x" * (4 * MIB)
    result = run(["tee", "/dev/stderr"], input=data, stdout=TextTail(5), stderr=TextTail(5))
    assert (result.stdout, result.stderr) == (kept(TextTail(5), data),) * 2


def test_a_program_that_never_reads_its_input_is_no_error():
    result = run(["true"], input=bytes(4 * MIB))
    assert (result.returncode, result.eof) == (0, True)


def test_a_program_that_closes_its_input_early_is_no_error():
    result = shell("read word; exec 0<&-; echo $word; sleep 0.2; echo later", input="first\n" + "x" * (4 * MIB))
    assert (result.returncode, result.stdout.text) == (0, "first\nlater\n")


def test_input_that_is_taken_slowly_is_taken_whole():
    program = (
        "import os, time\n"
        "total = 0\n"
        "while block := os.read(0, 30_000):\n"
        "    total += len(block)\n"
        "    time.sleep(0.001)\n"
        "print(total)\n"
    )
    assert python(program, input=bytes(MIB + 1)).stdout.text == f"{MIB + 1}\n"


def test_input_that_nobody_takes_does_not_hold_the_timeout(holder):
    result = shell(holder.command, input=bytes(4 * MIB), pass_fds=holder.fds, timeout=0.2)
    assert result.timed_out
    assert result.elapsed < 0.2 + 0.5 + 1 + SLACK


def test_input_that_a_grandchild_does_not_take_does_not_hold_the_call(holder):
    result = shell(
        f"setsid {holder.command} <&0 >/dev/null 2>&1 & exit 3", input=bytes(4 * MIB), pass_fds=holder.fds, grace=0.2
    )
    assert (result.returncode, result.timed_out) == (3, False)
    assert result.elapsed < SOON


# check


def test_check_raises_for_a_status_with_the_texts_and_the_whole_result():
    with pytest.raises(subprocess.CalledProcessError) as caught:
        shell("seq 20000; echo err >&2; exit 3", check=True)
    error = caught.value
    assert (error.returncode, error.cmd) == (3, ["sh", "-c", "seq 20000; echo err >&2; exit 3"])
    assert error.output == kept(TextHeadTail(8192, 8192), NUMBERS).text
    assert error.stderr == "err\n"
    assert error.result.stdout.omitted_bytes == Omitted("exact", len(NUMBERS) - 16384)


def test_check_raises_for_a_signal():
    with pytest.raises(subprocess.CalledProcessError, match="SIGKILL"):
        shell("kill -KILL $$", check=True)


def test_check_raises_for_a_timeout_with_the_texts_and_the_whole_result(holder, started_when):
    started_when(lambda process: unread(process.stdout) == unread(process.stderr) == 4)
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        shell(
            f"echo out; echo err >&2; {holder.command}",
            check=True, timeout=0.3, stdout=TextHead(2), pass_fds=holder.fds,
        )  # fmt: skip
    error = caught.value
    assert (error.timeout, error.output, error.stderr) == (0.3, "ou", "err\n")
    assert (error.cmd[0], error.result.timed_out, error.result.stdout.seen_bytes) == ("sh", True, 4)


def test_check_returns_a_good_run():
    assert run(["echo", "a"], check=True).stdout.text == "a\n"


def test_check_does_not_raise_for_a_stopped_run():
    assert run(["yes"], stdout=FIRST_TEN, check=True).stopped


def test_without_check_nothing_is_raised():
    assert shell("exit 3").returncode == 3


def test_errors_have_no_texts_of_outputs_that_were_not_read():
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(["false"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    assert (caught.value.output, caught.value.stderr) == (None, None)


# Floods


@pytest.mark.parametrize("flooded", ["stdout", "stderr"])
def test_a_flood_on_one_output_loses_nothing_of_the_other(flooded):
    flood, other = (">&1", ">&2") if flooded == "stdout" else (">&2", ">&1")
    result = shell(f"head -c {30 * MIB} /dev/zero {flood}; printf abc {other}")
    many, few = (result.stdout, result.stderr) if flooded == "stdout" else (result.stderr, result.stdout)
    assert (few.text, few.seen_bytes) == ("abc", 3)
    assert (many.seen_bytes, many.omitted_bytes) == (30 * MIB, Omitted("exact", 30 * MIB - 16384))


def test_floods_on_both_outputs_at_once_are_counted_exactly():
    result = shell(f"head -c {20 * MIB} /dev/zero & head -c {20 * MIB} /dev/zero >&2; wait")
    assert (result.stdout.seen_bytes, result.stderr.seen_bytes) == (20 * MIB, 20 * MIB)


def test_one_line_of_200_kb_comes_whole():
    result = shell("head -c 200000 /dev/zero | tr '\\0' x; echo", stdout=ALL)
    assert result.stdout.text == "x" * 200_000 + "\n"


def test_many_small_writes_are_counted_exactly():
    result = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i; done", stdout=TextTail(20))
    assert result.stdout == kept(TextTail(20), NUMBERS)


# Timeout


def test_a_timeout_returns_what_had_come_although_it_ends_inside_a_character(holder, started_when):
    started_when(lambda process: unread(process.stdout) == unread(process.stderr) == 3)
    result = shell(rf"printf 'a\342\202'; printf err >&2; {holder.command}", timeout=0.3, pass_fds=holder.fds)
    assert (result.timed_out, result.stopped, result.eof) == (True, False, False)
    assert result.returncode == -signal.SIGTERM
    assert (result.stdout.text, result.stdout.seen_bytes, result.stderr.text) == ("a\ufffd", 3, "err")
    assert 0.3 <= result.elapsed < 0.3 + 0.5 + 1 + SLACK


def test_a_flood_that_never_ends_is_ended_in_time():
    result = run(["yes"], timeout=0.3)
    assert (result.timed_out, result.eof, result.returncode) == (True, False, -signal.SIGTERM)
    assert 0.3 <= result.elapsed < 0.3 + 0.5 + 1 + SLACK
    assert result.stdout.omitted_bytes == Omitted("exact", result.stdout.seen_bytes - 16384)


def test_floods_on_both_outputs_are_ended_in_time():
    result = shell("yes & yes >&2", timeout=0.3)
    assert result.timed_out
    assert result.elapsed < 0.3 + 0.5 + 1 + SLACK


@pytest.mark.usefixtures("started_when_it_speaks")
def test_a_program_that_ignores_sigterm_is_killed_at_the_end_of_the_grace(holder):
    result = shell(f"trap '' TERM; echo ready; {holder.command}", timeout=0.2, grace=0.3, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out) == (-signal.SIGKILL, True)
    assert 0.2 + 0.3 <= result.elapsed < 0.2 + 0.3 + 1 + SLACK


@pytest.mark.usefixtures("started_when_it_speaks")
def test_a_flood_that_ignores_sigterm_is_killed_at_the_end_of_the_grace():
    result = shell("trap '' TERM; exec yes", timeout=0.2, grace=0.3)
    assert (result.returncode, result.timed_out) == (-signal.SIGKILL, True)
    assert 0.2 + 0.3 <= result.elapsed < 0.2 + 0.3 + 1 + SLACK


@pytest.mark.usefixtures("started_when_it_speaks")
def test_without_a_grace_a_program_is_killed_at_once(holder):
    result = shell(f"trap '' TERM; echo ready; {holder.command}", timeout=0.2, grace=0, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out) == (-signal.SIGKILL, True)
    assert result.elapsed < 0.2 + 1 + SLACK


@pytest.mark.usefixtures("started_when_it_speaks")
def test_what_a_program_says_during_the_grace_is_read(holder):
    result = shell(
        f"trap 'echo bye; seq 20000 >&2; exit 7' TERM; echo ready; {holder.command} & wait; wait",
        timeout=0.3, grace=SOON, stderr=ALL, pass_fds=holder.fds,
    )  # fmt: skip
    assert (result.returncode, result.timed_out, result.eof) == (7, True, False)
    assert (result.stdout.text, result.stderr.text) == ("ready\nbye\n", NUMBERS.decode())
    assert result.elapsed < SOON


@pytest.mark.usefixtures("started_when_it_speaks")
def test_what_a_grandchild_says_during_the_grace_is_read():
    # The program ends at once.
    script = "(trap 'sleep 0.2; echo bye; exit' TERM; echo ready; while :; do sleep 0.1; done) & wait"
    result = shell(script, timeout=0.2, grace=SOON)
    assert (result.returncode, result.timed_out, result.stdout.text) == (-signal.SIGTERM, True, "ready\nbye\n")
    assert result.elapsed < SOON


def test_a_program_that_closed_its_outputs_has_its_grace(started_when, tmp_path):
    ready = tmp_path / "ready"
    started_when(lambda process: ready.exists())
    script = f"trap 'sleep 0.2; exit 7' TERM; exec >&- 2>&-; >{ready}; while :; do sleep 0.1; done"
    result = shell(script, timeout=0.2, grace=SOON)
    assert (result.returncode, result.timed_out) == (7, True)
    assert result.elapsed < SOON


def test_a_stopped_process_is_killed(started_when):
    started_when(lambda process: stat(process.pid)[0] == "T")
    result = shell("kill -STOP $$", timeout=0.2, grace=0.2)
    assert (result.returncode, result.timed_out) == (-signal.SIGKILL, True)
    assert result.elapsed < 0.2 + 0.2 + 1 + SLACK


def test_a_program_that_closed_its_outputs_is_ended_in_time():
    result = shell("exec >&- 2>&-; exec sleep 60", timeout=0.2)
    assert (result.returncode, result.timed_out, result.eof) == (-signal.SIGTERM, True, False)


def test_a_timeout_of_0_is_over_at_once(holder):
    result = shell(holder.command, timeout=0, pass_fds=holder.fds)
    assert result.timed_out
    assert result.elapsed < 0.5 + 1 + SLACK


@pytest.mark.parametrize("timeout", [SOON, 1e300, float("inf"), 10**15, pytest.param(10**400, id="huge")])
def test_a_timeout_that_does_not_come_changes_nothing(timeout):
    result = run(["echo", "a"], timeout=timeout)
    assert (result.returncode, result.timed_out, result.eof, result.stdout.text) == (0, False, True, "a\n")


@pytest.mark.parametrize("name", ["timeout", "grace"])
@pytest.mark.parametrize("wrong", [-1, -0.001, float("-inf"), float("nan")])
def test_a_time_that_is_negative_or_no_number_is_refused(name, wrong, tmp_path):
    with pytest.raises(ValueError, match=f"^{name} must be a .*{wrong}"):
        run(["touch", tmp_path / "started"], **{name: wrong})
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("name", ["timeout", "grace"])
@pytest.mark.parametrize("wrong", ["soon", "1", b"1", [1], 1j, object()], ids=repr)
def test_a_time_of_another_type_is_refused(name, wrong, tmp_path):
    with pytest.raises(TypeError, match=f"^{name} must be a "):
        run(["touch", tmp_path / "started"], **{name: wrong})
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("wrong", [float("inf"), None])
def test_a_grace_without_end_is_refused(wrong):
    with pytest.raises((ValueError, TypeError), match=r"^grace must be a finite number"):
        run(["true"], grace=wrong)


# Grandchildren


@pytest.mark.parametrize("start", ["", "setsid "])
def test_a_grandchild_that_holds_the_pipes_is_waited_for_during_the_grace_and_not_signalled(start, holder):
    result = shell(f"{start}{holder.command} & echo out; exit 3", grace=0.3, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out, result.stopped, result.eof) == (3, False, False, False)
    assert result.stdout.text == "out\n"
    assert 0.3 <= result.elapsed < 0.3 + 1 + SLACK
    assert holder.stays()


def test_a_grandchild_that_ends_during_the_grace_is_read_to_its_end():
    result = shell("(sleep 0.2; echo late) & echo early", grace=SOON)
    assert (result.stdout.text, result.eof) == ("early\nlate\n", True)
    assert result.elapsed < SOON


def test_a_grandchild_that_floods_does_not_hold_the_call():
    result = shell("setsid yes & exit 3", grace=0.3)
    assert (result.returncode, result.timed_out, result.eof) == (3, False, False)
    assert result.elapsed < 0.3 + 1 + SLACK


def test_a_grandchild_that_holds_no_pipe_does_not_matter(holder):
    result = shell(f"{holder.command} >/dev/null 2>&1 & exit 3", grace=SOON, pass_fds=holder.fds)
    assert (result.returncode, result.eof) == (3, True)
    assert result.elapsed < SOON
    assert holder.stays()


def test_a_grandchild_that_holds_one_pipe_holds_the_call_for_the_grace(holder):
    result = shell(f"{holder.command} >/dev/null & exit 3", grace=0.2, pass_fds=holder.fds)
    assert (result.returncode, result.eof) == (3, False)
    assert 0.2 <= result.elapsed < 0.2 + 1 + SLACK


@pytest.mark.parametrize("size", [5, 64 * KIB])
def test_without_a_grace_what_is_in_the_pipe_is_still_read(size, holder):
    script = f"head -c {size} /dev/zero; {holder.command} & exit 3"
    result = shell(script, grace=0, stdout=TextTail(1), pass_fds=holder.fds)
    assert (result.returncode, result.stdout.seen_bytes, result.eof) == (3, size, False)
    assert result.elapsed < 1 + SLACK


@pytest.fixture
def started_when_ended(started_when):
    started_when(lambda process: stat(process.pid)[0] == "Z")


@pytest.mark.usefixtures("started_when_ended")
def test_at_the_deadline_all_that_is_in_a_large_pipe_is_still_read(holder):
    script = f"{holder.command} & exit 3"
    result = python(
        f"""
import fcntl, os
fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, {MIB})
os.write(1, bytes({MIB}))
os.execvp("sh", ["sh", "-c", {script!r}])
""",
        timeout=0,
        stdout=TextTail(1),
        pass_fds=holder.fds,
    )
    assert (result.returncode, result.timed_out, result.eof) == (3, False, False)
    assert result.stdout.seen_bytes == MIB


@pytest.mark.usefixtures("started_when_ended")
def test_the_wait_for_a_grandchild_ends_at_the_deadline_which_is_no_timeout(holder):
    result = shell(f"echo out; {holder.command} & exit 3", timeout=0.3, grace=SOON, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out, result.eof) == (3, False, False)
    assert result.stdout.text == "out\n"
    assert result.elapsed < 0.3 + 1 + SLACK
    assert holder.stays()


@pytest.mark.usefixtures("started_when_ended")
def test_the_wait_for_a_flooding_grandchild_ends_at_the_deadline():
    result = shell("setsid yes & exit 3", timeout=0.3, grace=SOON)
    assert (result.returncode, result.timed_out, result.eof) == (3, False, False)
    assert result.elapsed < 0.3 + 1 + SLACK


def test_check_does_not_raise_for_a_grandchild_that_holds_the_pipes(holder):
    assert not shell(f"{holder.command} & exit 0", check=True, grace=0.1, pass_fds=holder.fds).eof


def test_a_timeout_ends_the_grandchildren_too(holder):
    result = shell(f"{holder.command} & wait", timeout=0.2, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out) == (-signal.SIGTERM, True)
    assert holder.is_gone(SOON)


@pytest.mark.usefixtures("started_when_it_speaks")
def test_a_timeout_kills_a_whole_group_that_ignores_sigterm(holder):
    script = f"trap '' TERM; echo ready; {holder.command} & {holder.command}"
    result = shell(script, timeout=0.2, grace=0.2, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out) == (-signal.SIGKILL, True)
    assert result.elapsed < 0.2 + 0.2 + 1 + SLACK
    assert holder.is_gone(SOON)


@pytest.mark.usefixtures("started_when_it_speaks")
def test_a_grandchild_that_ignores_sigterm_is_killed_although_the_program_has_ended(holder):
    # The subshell ignores the signal, the program does not: the group gets its last one before the program is reaped.
    script = f"(trap '' TERM; echo ready; {holder.command}) & wait"
    result = shell(script, timeout=0.2, grace=0.2, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out) == (-signal.SIGTERM, True)
    assert result.elapsed < 0.2 + 0.2 + 1 + SLACK
    assert holder.is_gone(SOON)


@pytest.mark.usefixtures("started_when_it_speaks")
@pytest.mark.parametrize("ignoring", ["", "trap '' TERM; "])
def test_a_grandchild_in_another_session_cannot_hold_a_timeout(ignoring, holder):
    script = f"{ignoring}setsid sh -c 'echo ready; exec {holder.command}' & {holder.command}"
    result = shell(script, timeout=0.2, grace=0.2, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out, result.eof) == (
        -signal.SIGKILL if ignoring else -signal.SIGTERM,
        True,
        False,
    )
    assert result.elapsed < 0.2 + 0.2 + 1 + SLACK
    assert holder.stays()


def test_a_timeout_in_a_group_of_its_own_ends_the_group(holder):
    result = shell(f"{holder.command} & wait", timeout=0.2, process_group=0, pass_fds=holder.fds)
    assert result.timed_out
    assert holder.is_gone(SOON)


# Early stop


def test_a_full_head_ends_the_program():
    result = run(["yes"], stdout=FIRST_TEN)
    assert (result.stopped, result.timed_out, result.eof) == (True, False, False)
    assert result.returncode in EITHER_SIGNAL
    assert result.stdout.text == "y\n" * 5
    assert result.stdout.omitted_bytes == Omitted("at_least", result.stdout.seen_bytes - 10)
    assert result.elapsed < SOON


def test_a_full_head_of_stderr_ends_the_program():
    result = shell("echo out; exec yes >&2", stderr=FIRST_TEN)
    assert (result.stopped, result.eof, result.stdout.text) == (True, False, "out\n")
    assert result.returncode in EITHER_SIGNAL
    assert (result.stderr.text, result.stderr.omitted_bytes.kind) == ("y\n" * 5, "at_least")


def test_full_heads_of_both_outputs_end_the_program():
    result = shell("yes & yes >&2", stdout=FIRST_TEN, stderr=FIRST_TEN)
    assert result.stopped
    assert "y\n" * 5 in (result.stdout.text, result.stderr.text)


def test_the_first_byte_beyond_is_what_stops():
    result = shell("printf 0123456789; sleep 0.1; exit 3", stdout=FIRST_TEN)
    assert (result.stopped, result.returncode, result.eof) == (False, 3, True)
    assert result.stdout.omitted_bytes == Omitted("none")
    assert shell("printf 0123456789; sleep 0.1; printf x; exit 3", stdout=FIRST_TEN).stopped


def test_the_pipe_is_closed_at_the_probe_and_the_other_one_read_on():
    # Neither the shell nor `yes` takes SIGTERM: it is the closed pipe that ends `yes`, as under `head`.
    result = shell("trap '' TERM; yes; echo after >&2; exit 5", stdout=FIRST_TEN, grace=SOON)
    assert (result.stopped, result.returncode, result.stderr.text) == (True, 5, "after\n")
    assert result.elapsed < SOON


def test_a_program_that_minds_neither_signal_is_killed_at_the_end_of_the_grace(holder):
    result = shell(f"trap '' TERM; seq 100; {holder.command}", stdout=FIRST_TEN, grace=0.3, pass_fds=holder.fds)
    assert (result.stopped, result.returncode) == (True, -signal.SIGKILL)
    assert 0.3 <= result.elapsed < 0.3 + 1 + 1 + SLACK


def test_an_early_stop_ends_the_grandchildren_too(holder):
    result = shell(f"{holder.command} & exec yes", stdout=FIRST_TEN, pass_fds=holder.fds)
    assert result.stopped
    assert holder.is_gone(SOON)


def test_a_grandchild_in_another_session_cannot_hold_an_early_stop(holder):
    result = shell(f"setsid {holder.command} & exec yes", stdout=FIRST_TEN, grace=0.2, pass_fds=holder.fds)
    assert result.stopped
    assert result.elapsed < 0.2 + 1 + 1 + SLACK


def test_a_grandchild_may_fill_the_head_after_the_program_has_ended():
    result = shell("(sleep 0.2; exec yes) & exit 3", stdout=FIRST_TEN, grace=SOON)
    assert (result.stopped, result.returncode, result.eof) == (True, 3, False)
    assert result.elapsed < SOON


def test_a_head_that_reads_to_the_end_does_not_end_the_program():
    result = shell("yes | head -c 1000000", stdout=TextHead(10))
    assert (result.stopped, result.returncode, result.eof) == (False, 0, True)
    assert result.stdout.omitted_bytes == Omitted("exact", 999_990)


# Signals, to the program and to us


def test_the_parents_own_group_is_never_signalled():
    # An interpreter that leads a group of its own, and would die of a signal to it.
    out = interpreter(
        """
        import os, signal
        from retention import TextHead, run
        assert os.getpgrp() == os.getpid()
        own = {"start_new_session": False, "grace": 0.2}
        print(run(["sleep", "100"], timeout=0.2, **own).returncode)
        # What is ignored here is ignored by those who are started.
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(run(["sleep", "100"], timeout=0.2, **own).returncode)
        signal.signal(signal.SIGTERM, before)
        print(run(["yes"], stdout=TextHead(10, stop="stop_when_full"), **own).stopped)
        """
    )
    assert out == "-15\n-9\nTrue\n"


@pytest.fixture
def no_signals(monkeypatch):
    """No signal may be sent, as to a program that has become another user's. What is put in here is called for each."""
    told = []

    def refused(pid, number):
        for tell in told:
            tell()
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    with monkeypatch.context() as patched:
        patched.setattr(os, "kill", refused)
        patched.setattr(os, "killpg", refused)
        yield told


def reap(result, holder):
    """End a program that the call has left, whose pid is its output, and reap it; `subprocess` does not mind."""
    gc.collect()
    assert holder.stays()
    holder.release()
    os.waitpid(int(result.stdout.text), 0)
    subprocess._cleanup()


@pytest.mark.usefixtures("no_signals", "started_when_it_speaks")
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_program_that_must_not_be_signalled_is_left_in_time(monkeypatch, holder):
    # It is not waited for.
    monkeypatch.setattr(child, "KILL_PATIENCE", 10 * SOON)
    result = shell(f"echo $$; exec {holder.command}", timeout=0.2, grace=0.2, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out, result.eof) == (None, True, False)
    assert result.elapsed < 0.2 + 0.2 + 1 + SLACK
    reap(result, holder)


@pytest.mark.usefixtures("no_signals", "started_when_it_speaks")
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_check_raises_the_timeout_of_a_program_that_must_not_be_signalled(holder):
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        shell(f"echo $$; exec {holder.command}", timeout=0.2, grace=0, check=True, pass_fds=holder.fds)
    result = caught.value.result
    assert result.returncode is None
    del caught
    reap(result, holder)


def test_a_program_that_must_not_be_signalled_may_end_during_the_grace(no_signals, holder):
    no_signals.append(holder.release)
    result = shell(f"{holder.command}; exit 3", timeout=0.2, grace=SOON, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out) == (3, True)
    assert result.elapsed < SOON


@pytest.mark.usefixtures("started_when_it_speaks")
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_program_that_does_not_die_of_its_signals_is_left_in_time(monkeypatch, holder):
    # As one that waits for a disk.
    with monkeypatch.context() as patched:
        patched.setattr(os, "killpg", lambda group, number: None)
        result = shell(f"echo $$; exec {holder.command}", timeout=0.2, grace=0.2, pass_fds=holder.fds)
    assert (result.returncode, result.timed_out, result.eof) == (None, True, False)
    assert 0.4 + child.KILL_PATIENCE <= result.elapsed < 0.4 + child.KILL_PATIENCE + SLACK
    reap(result, holder)


def test_a_program_that_may_be_signalled_later_is_waited_for(monkeypatch, holder):
    # As one that has been another user's, and takes its time to die.
    killers = []

    def killpg(group, number, real=os.killpg):
        if number != signal.SIGKILL:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        killers.append(threading.Timer(0.3, real, [group, number]))
        killers[0].start()

    monkeypatch.setattr(os, "killpg", killpg)
    monkeypatch.setattr(child, "KILL_PATIENCE", SOON)
    result = shell(holder.command, timeout=0.2, grace=0.2, pass_fds=holder.fds)
    killers[0].join()
    assert (result.returncode, result.timed_out) == (-signal.SIGKILL, True)
    assert result.elapsed < SOON


def missing(pid, flags=0):
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def test_a_pidfd_is_asked_for_of_the_program(monkeypatch):
    asked = []

    def pidfd_open(pid, flags=0):
        asked.append(pid)
        return missing(pid)

    monkeypatch.setattr(os, "pidfd_open", pidfd_open, raising=False)
    assert asked == [int(shell("echo $$").stdout.text)]


@pytest.fixture(params=["of the system", "of Python"])
def no_pidfd(request, monkeypatch):
    if request.param == "of the system":
        monkeypatch.setattr(os, "pidfd_open", missing, raising=False)
    else:
        monkeypatch.delattr(os, "pidfd_open", raising=False)


@pytest.mark.usefixtures("no_pidfd")
class TestWithoutPidfd:
    @pytest.mark.parametrize("timeout", [None, 2 * SOON], ids=["without a deadline", "before a deadline"])
    def test_the_end_of_a_program_is_seen(self, timeout):
        result = shell("echo out; exec >&- 2>&-; sleep 0.2; exit 3", timeout=timeout)
        assert (result.returncode, result.stdout.text, result.eof) == (3, "out\n", True)
        assert 0.2 <= result.elapsed < SOON

    def test_a_grandchild_is_waited_for_during_the_grace(self, holder):
        result = shell(f"{holder.command} & echo out; exit 3", grace=0.3, pass_fds=holder.fds)
        assert (result.returncode, result.stdout.text, result.eof) == (3, "out\n", False)
        assert 0.3 <= result.elapsed < 0.3 + 1 + SLACK
        assert holder.stays()

    def test_a_grandchild_that_floods_does_not_hold_the_call(self):
        result = shell("setsid yes & exit 3", grace=0.3)
        assert (result.returncode, result.timed_out, result.eof) == (3, False, False)
        assert result.elapsed < 0.3 + 1 + SLACK

    @pytest.mark.usefixtures("started_when_it_speaks")
    def test_a_timeout_comes_in_time(self, holder):
        result = shell(f"trap '' TERM; echo ready; {holder.command}", timeout=0.2, grace=0.2, pass_fds=holder.fds)
        assert (result.returncode, result.timed_out) == (-signal.SIGKILL, True)
        assert 0.4 <= result.elapsed < 0.2 + 0.2 + 1 + SLACK

    def test_a_full_head_ends_the_program(self):
        result = run(["yes"], stdout=FIRST_TEN)
        assert (result.stopped, result.returncode in EITHER_SIGNAL) == (True, True)


# What is put before a program that interrupts us: it waits until we write to it, when we do nothing else any more.
INTERRUPTING = """
import os, select, signal, subprocess, sys, time
from retention import TextHead, TextRetainer, run

def gone(out):
    pid = int(out.finish().text.split()[0])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False

out = TextRetainer(TextHead(1000))
fds = len(os.listdir("/dev/fd"))
start = time.monotonic()
"""

# The same, which goes on with a program only when that has said something.
PATIENT = """
real = subprocess.Popen

def patient(*args, **options):
    process = real(*args, **options)
    select.select([process.stdout], [], [])
    return process

subprocess.Popen = patient
"""


@pytest.mark.parametrize("then", ["exec sleep 60", "exec yes", "exec yes >&2"])
def test_ctrl_c_is_raised_promptly_and_the_program_is_gone(then):
    answers = interpreter(
        INTERRUPTING
        + """
try:
    run(["sh", "-c", "echo $$; read go; sleep 0.2; kill -INT $PPID; " + then], input="go\\n", stdout=out, grace=30)
except KeyboardInterrupt:
    print(gone(out), time.monotonic() - start < 10, len(os.listdir("/dev/fd")) == fds)
""",
        then=then,
    )
    assert answers == "True True True\n"


@pytest.mark.parametrize("then", ["sleep 60", "exec yes"])
def test_a_second_ctrl_c_during_the_grace_kills_at_once(then):
    answers = interpreter(
        INTERRUPTING
        + """
# When we tell the program to end, which is after the first one, the second one comes. Only the subshell takes notice.
script = "trap '' TERM; echo $$; read go; "
script += "(trap 'kill -INT $PPID' TERM; kill -INT $PPID; while :; do sleep 0.05; done) & "
try:
    run(["sh", "-c", script.replace("$PPID", str(os.getpid())) + then], input="go\\n", stdout=out, grace=60)
except KeyboardInterrupt:
    print(gone(out), time.monotonic() - start < 15, len(os.listdir("/dev/fd")) == fds)
""",
        then=then,
    )
    assert answers == "True True True\n"


def test_ctrl_c_ends_a_program_that_ignores_sigterm_at_the_end_of_the_grace():
    answers = interpreter(
        INTERRUPTING
        + """
script = "trap '' TERM; echo $$; read go; sleep 0.2; kill -INT $PPID; sleep 60"
try:
    run(["sh", "-c", script], input="go\\n", stdout=out, grace=0.5)
except KeyboardInterrupt:
    print(gone(out), 0.7 <= time.monotonic() - start < 10)
"""
    )
    assert answers == "True True\n"


def test_ctrl_c_during_the_grace_of_a_timeout_kills_at_once():
    answers = interpreter(
        INTERRUPTING
        + PATIENT
        + """
# When its time is over, and not before it can hear that, the program is told to end; then we get the signal.
script = "(trap 'kill -INT %d' TERM; echo $$; while :; do sleep 0.05; done) & trap '' TERM; wait" % os.getpid()
try:
    run(["sh", "-c", script], stdout=out, timeout=0.3, grace=60)
except KeyboardInterrupt:
    print(gone(out), 0.3 <= time.monotonic() - start < 15)
"""
    )
    assert answers == "True True\n"


def test_ctrl_c_during_the_grace_of_a_timeout_begins_no_other_grace():
    answers = interpreter(
        INTERRUPTING
        + PATIENT
        + """
# What nobody signals, as it is in another session, holds the pipes as long as this program is there.
reader, _ = os.pipe()
script = "setsid cat /dev/fd/%d & "
script += "(trap 'kill -INT %d' TERM; echo $$; while :; do sleep 0.05; done) & trap '' TERM; wait"
try:
    run(["sh", "-c", script % (reader, os.getpid())], stdout=out, timeout=0.3, grace=60, pass_fds=[reader])
except KeyboardInterrupt:
    print(gone(out), 0.3 <= time.monotonic() - start < 15)
"""
    )
    assert answers == "True True\n"


def test_ctrl_c_while_a_grandchild_is_waited_for_is_raised_promptly():
    answers = interpreter(
        INTERRUPTING
        + """
script = "echo $$; (sleep 0.4; kill -INT %d; sleep 60) & exit 0" % os.getpid()
try:
    run(["sh", "-c", script], stdout=out, grace=60)
except KeyboardInterrupt:
    print(gone(out), time.monotonic() - start < 15)
"""
    )
    assert answers == "True True\n"


@pytest.mark.parametrize("then", ["exec sleep 60", "exec yes"])
def test_what_a_signal_handler_raises_is_raised_and_the_program_is_gone(then):
    answers = interpreter(
        INTERRUPTING
        + """
class Enough(Exception):
    pass

def handler(number, frame):
    raise Enough(number)

signal.signal(signal.SIGUSR1, handler)
try:
    run(["sh", "-c", "echo $$; read go; sleep 0.2; kill -USR1 $PPID; " + then], input="go\\n", stdout=out)
except Enough as error:
    print(error.args[0] == signal.SIGUSR1, gone(out), len(os.listdir("/dev/fd")) == fds)
""",
        then=then,
    )
    assert answers == "True True True\n"


@pytest.mark.parametrize(
    ("script", "seen"),
    [
        ("for i in 1 2 3 4 5; do echo $i; sleep 0.1; done", 10),
        (f"head -c {100 * MIB} /dev/zero", 100 * MIB),
        ("sleep 0.4; seq 20000", len(NUMBERS)),
    ],
)
def test_signals_whose_handlers_return_disturb_nothing(script, seen):
    handled, *answers = interpreter(
        """
        import signal
        from retention import run
        handled = 0

        def handler(number, frame):
            global handled
            handled += 1

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
        result = run(["sh", "-c", script], input=bytes(50_000))
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(handled, result.stdout.seen_bytes, result.returncode, result.eof, result.timed_out)
        """,
        script=script,
    ).split()
    assert int(handled) > 0
    assert answers == [str(seen), "0", "True", "False"]


def test_signals_do_not_postpone_a_deadline():
    answers = interpreter(
        """
        import signal
        from retention import run
        signal.signal(signal.SIGALRM, lambda number, frame: None)
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
        idle = run(["sleep", "60"], timeout=0.3)
        flooded = run(["yes"], timeout=0.3)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print([result.timed_out and 0.3 <= result.elapsed < 0.3 + 0.5 + 1 + SLACK for result in (idle, flooded)])
        """,
        SLACK=SLACK,
    )
    assert answers == "[True, True]\n"


def test_signal_handlers_run_while_data_flows():
    # A flooded loop waits for nothing, and sees no interrupted call. It is the handler that ends the flood.
    answers = interpreter(
        """
        import os, signal
        from retention import TextHead, TextRetainer, run
        out = TextRetainer(TextHead(100))

        def handler(number, frame):
            if out.seen_bytes > 1 << 20:
                os.kill(int(out.finish().text.split()[0]), signal.SIGKILL)

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        result = run(["sh", "-c", "echo $$; exec yes"], stdout=out)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(result.returncode)
        """
    )
    assert answers == "-9\n"


@pytest.mark.parametrize(
    "prepare",
    [
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "signal.signal(signal.SIGCHLD, lambda number, frame: reap_all())",
    ],
)
def test_children_that_others_reap_hang_nothing(prepare):
    # Their status is lost: what is said of it is up to subprocess.
    out = interpreter(
        f"""
        import os, signal
        from retention import TextHead, run

        def reap_all():
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass

        {prepare}
        result = run(["sh", "-c", "echo out; echo err >&2; exit 3"])
        print(result.stdout.text + result.stderr.text, result.timed_out, result.eof)
        result = run(["sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 3"])
        print(result.elapsed >= 0.2, result.timed_out, result.eof)
        result = run(["yes"], timeout=0.3)
        print(result.timed_out, result.elapsed < 0.3 + 0.5 + 1 + SLACK)
        print(run(["yes"], stdout=TextHead(10, stop="stop_when_full")).stopped)
        """,
        SLACK=SLACK,
    )
    assert out == "out\nerr\n False True\nTrue False True\nTrue True\nTrue\n"


# Nothing is left behind, however often


def one_of_many(number, holder):
    """A run of another kind for each number, ended in another way."""
    kind = number % 10
    if kind == 0:
        assert shell("echo a; exit 3").returncode == 3
    elif kind == 1:
        assert run(["yes"], stdout=FIRST_TEN).stopped
    elif kind == 2:
        assert run(["yes"], timeout=0.01, grace=0.1).timed_out
    elif kind == 3:
        with pytest.raises(FileNotFoundError):
            run(["no-such-program"], input=b"abc")
    elif kind == 4:
        with pytest.raises(subprocess.CalledProcessError):
            run(["false"], check=True)
    elif kind == 5:
        assert run(["true"], input=bytes(MIB)).returncode == 0
    elif kind == 6:
        assert run(["cat"], input=bytes(100_000)).stdout.seen_bytes == 100_000
    elif kind == 7:
        assert not shell(f"{holder.command} & exit 0", grace=0, pass_fds=holder.fds).eof
    elif kind == 8:
        with pytest.raises(subprocess.TimeoutExpired):
            shell(holder.command, timeout=0.01, check=True, pass_fds=holder.fds)
    else:
        with pytest.raises(TypeError):
            run(["true"], text=True)


def test_many_runs_leave_no_zombie_and_no_descriptor(holder):
    before = descriptors(), children()
    for number in range(500 if THOROUGH else 100):
        one_of_many(number, holder)
        assert (descriptors(), children()) == before


def test_32_runs_at_once(holder):
    results = {}

    def one(number):
        data = f"{number}\n" * 20_000
        results[number] = run(["cat"], input=data, stdout=TextRetainer(TextTail(20))), kept(TextTail(20), data)

    threads = [threading.Thread(target=one, args=[number]) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert sorted(results) == list(range(32))
    for result, expected in results.values():
        assert (result.returncode, result.stdout, result.eof) == (0, expected, True)


def test_runs_in_other_threads_end_in_time():
    results = []
    threads = [threading.Thread(target=lambda: results.append(run(["yes"], timeout=0.3))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert [result.timed_out and result.elapsed < 0.3 + 0.5 + 1 + SLACK for result in results] == [True] * 4


def test_a_lack_of_descriptors_is_a_clear_error_and_leaks_none():
    *failures, last = interpreter(
        """
        import errno, os, resource
        from retention import run

        def descriptors():
            # Asked for one by one: listing them takes one.
            taken = []
            for fd in range(100):
                try:
                    os.fstat(fd)
                except OSError:
                    continue
                taken.append(fd)
            return taken

        assert run(["true"], input="abc").returncode == 0
        before = descriptors()
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        for spare in range(20):
            resource.setrlimit(resource.RLIMIT_NOFILE, (before[-1] + 1 + spare, hard))
            try:
                result = run(["cat"], input="abc")
            except OSError as error:
                assert error.errno == errno.EMFILE, error
                print("failed")
            else:
                assert (result.returncode, result.stdout.text, result.eof) == (0, "abc", True), result
                print("ran")
            assert descriptors() == before, (spare, descriptors())
        """
    ).split()
    assert failures[0] == "failed"
    assert last == "ran"


def test_without_a_standard_input_of_our_own_no_descriptor_is_left():
    # What a run opens then is descriptor 0 at one time or another.
    answers = interpreter(
        """
        import os
        from retention import run

        os.close(0)
        for options in {}, {"input": "text"}:
            result = run(["cat"] if options else ["echo", "text"], **options)
            try:
                os.fstat(0)
            except OSError:
                print(result.stdout.text.strip(), "and closed")
        """
    )
    assert answers == "text and closed\ntext and closed\n"


@pytest.mark.parametrize(
    ("name", "error"), [("set_blocking", OSError(errno.EIO, "failing")), ("pidfd_open", MemoryError("failing"))]
)
def test_an_error_while_the_child_is_set_up_ends_it(monkeypatch, holder, name, error):
    def failing(*args):
        raise error

    monkeypatch.setattr(os, name, failing, raising=False)
    with pytest.raises(type(error), match="failing"):
        shell(holder.command, pass_fds=holder.fds)
    assert holder.is_gone(SOON)


@pytest.mark.usefixtures("started_when_it_speaks")
def test_nothing_of_a_program_is_there_when_the_call_returns():
    out = TextRetainer(ALL)
    run(["sh", "-c", "echo $$; exec yes"], stdout=out, timeout=0.2)
    assert not is_there(int(out.finish().head.split("\n", 1)[0]))


def ticking(tick, seconds, command, **options):
    """A child that has been attended to, how often it called `tick`, and in how many seconds."""
    calls = itertools.count(1)
    child = Child(None, None, 0, ours=True, tick=lambda: tick(next(calls)))
    start = time.monotonic()
    child.process = subprocess.Popen(command, start_new_session=True, **options)
    child.attend(None, None if seconds is None else start + seconds)
    return child, next(calls) - 1, time.monotonic() - start


@pytest.mark.parametrize("seconds", [None, 1000], ids=["no deadline", "a later deadline"])
def test_who_shows_that_something_goes_on_is_called_until_the_end(seconds, holder):
    def tick(count):
        if count == 2:
            holder.release()

    child, count, elapsed = ticking(tick, seconds, ["sh", "-c", holder.command], pass_fds=holder.fds)
    assert (child.timed_out, child.process.returncode) == (False, 0)
    assert 2 <= count <= elapsed / TICK


def test_who_shows_that_something_goes_on_does_not_hold_the_deadline():
    child, count, elapsed = ticking(lambda count: None, 2.5 * TICK, ["sleep", "1000"])
    assert child.timed_out
    assert count <= elapsed / TICK
    assert elapsed < 2.5 * TICK + 1 + SLACK


def test_subprocess_is_imported_at_first_use():
    out = interpreter(
        """
        import sys
        import retention
        before = "subprocess" in sys.modules
        retention.run
        print(before, "subprocess" in sys.modules)
        """
    )
    assert out == "False True\n"


def test_holders_end_with_their_test():
    with Holder() as holder:
        process = subprocess.Popen(["sh", "-c", holder.command], pass_fds=holder.fds)
        assert holder.stays()
    assert process.wait(SOON) == 0
