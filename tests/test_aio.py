"""`arun`: `run` from an event loop, by real processes."""

import asyncio
import contextlib
import gc
import inspect
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from processes import Holder
from watch import SLACK, SOON, descriptors, is_running, is_there, unread, wait_for

from retention import Spill, TextHead, TextHeadTail, TextRetainer, TextTail, arun, run
from retention.child import Child

pytestmark = pytest.mark.usefixtures("nothing_left")

# Says its own pid and that of a child of its own, and stays.
TREE = ["sh", "-c", "sleep 1000 & echo $$ $!; wait"]
# The same, and never ends.
FLOODING = ["sh", "-c", "sleep 1000 & echo $$ $!; exec yes"]
# The same as the first, where nobody heeds SIGTERM.
STUBBORN = ["sh", "-c", "trap '' TERM; sleep 1000 & echo $$ $!; while :; do wait; done"]
# The same, and says that it was told to end.
TELLING = [
    "sh", "-c", "trap '' TERM; sleep 1000 & trap 'echo told' TERM; echo $$ $!; while :; do wait; done"
]  # fmt: skip


def in_loop(body):
    """What a coroutine function returns; a loop that complains of anything is a failure."""
    complaints = []

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
        return await body()

    try:
        return asyncio.run(main())
    finally:
        gc.collect()
        assert complaints == []


async def pids(retainer):
    """Those that the program has printed."""
    while "\n" not in (text := retainer.finish().text):
        await asyncio.sleep(0.01)
    return [int(pid) for pid in text.partition("\n")[0].split()]


async def start(args, **options):
    """A task that runs a program, once that has said its pids; and those."""
    retainer = TextRetainer(TextHead(1000))
    task = asyncio.create_task(arun(args, stdout=retainer, **options))
    return task, await pids(retainer)


async def cancel(task):
    """Returns how long it took until CancelledError came out."""
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return time.monotonic() - began


def assert_gone(child, *others):
    # The child is ours, and must have been reaped; its children are not, and may be zombies for a moment.
    assert not is_there(child)
    for pid in others:
        wait_for(lambda pid=pid: not is_running(pid))


def outcome(result):
    return [getattr(result, name) for name in result.__match_args__ if name != "elapsed"]


# The call


def test_it_takes_what_run_takes():
    def taken(function):
        parameters = inspect.signature(function).parameters.values()
        return [(parameter.name, parameter.kind, parameter.default) for parameter in parameters]

    assert taken(arun) == taken(run)


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (["sh", "-c", "seq 20000; echo problem >&2; exit 3"], {}),
        (["sh", "-c", "echo one; echo two >&2"], {"stderr": subprocess.STDOUT}),
        (["cat"], {"input": "é" * 100_000, "stdout": TextTail(99)}),
        ("echo $0 $NAME; pwd", {"shell": True, "cwd": "/", "env": {"NAME": "value"}}),
        (["sh", "-c", "kill -9 $$"], {"stdout": subprocess.DEVNULL}),
        (["sh", "-c", "echo early; exec sleep 1000"], {"timeout": 0.3}),
    ],
)
def test_the_result_is_that_of_run(args, options, started_when):
    if "timeout" in options:
        started_when(lambda process: unread(process.stdout))
    expected = outcome(run(args, **options))
    assert outcome(in_loop(lambda: arun(args, **options))) == expected


def test_it_stops_early_as_run_does():
    result = in_loop(lambda: arun(["yes"], stdout=TextHead(3, stop="stop_when_full")))
    assert (result.stopped, result.eof, result.stdout.text) == (True, False, "y\ny")
    assert result.stdout.omitted_bytes.kind == "at_least"


def test_it_spills_as_run_does(tmp_path):
    result = in_loop(lambda: arun(["seq", "1000"], spill=Spill(tmp_path / "all", 10)))
    assert (tmp_path / "all").read_bytes() == b"1\n2\n3\n4\n5\n"
    assert (result.spill.nbytes, result.spill.complete) == (10, False)


@pytest.mark.parametrize(
    ("args", "options", "error"),
    [
        (["no such program"], {}, FileNotFoundError),
        (["true"], {"text": True}, TypeError),
        (["true"], {"stdout": subprocess.PIPE}, TypeError),
        (["true"], {"timeout": -1}, ValueError),
        (["true"], {"input": b"", "stdin": subprocess.DEVNULL}, ValueError),
    ],
)
def test_what_run_raises_comes_out_of_the_await(args, options, error):
    async def body():
        with pytest.raises(error):
            await arun(args, **options)

    in_loop(body)


def test_a_failing_status_comes_out_with_the_whole_result():
    async def body():
        with pytest.raises(subprocess.CalledProcessError) as caught:
            await arun(["sh", "-c", "seq 5000; exit 7"], check=True)
        return caught.value

    error = in_loop(body)
    assert (error.returncode, error.result.returncode) == (7, 7)
    assert error.result.stdout.seen_bytes == 23893
    assert error.stdout == error.result.stdout.text


@pytest.mark.usefixtures("started_when_it_speaks")
def test_a_timeout_comes_out_with_the_whole_result():
    async def body():
        with pytest.raises(subprocess.TimeoutExpired) as caught:
            await arun(["sh", "-c", "echo early; exec sleep 1000"], timeout=0.2, check=True)
        return caught.value

    error = in_loop(body)
    assert (error.timeout, error.result.timed_out, error.result.stdout.text) == (0.2, True, "early\n")


def test_without_a_thread_to_be_had_nothing_is_left(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    async def body():
        monkeypatch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await arun(["true"])

    in_loop(body)


def test_a_hundred_runs_in_a_row_leave_no_descriptor_and_no_thread():
    async def body():
        await arun(["true"])
        before = descriptors(), threading.active_count()
        for _ in range(100):
            await arun(["true"])
        assert (descriptors(), threading.active_count()) == before

    in_loop(body)


# Cancelled


def test_cancelled_before_its_first_step_it_starts_nothing(monkeypatch):
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **options: started.append(args))

    async def body():
        await cancel(asyncio.create_task(arun(TREE)))

    in_loop(body)
    assert started == []


@pytest.mark.parametrize("seconds", [0, 0.2])
def test_cancelled_while_the_program_is_being_started_it_ends_it(monkeypatch, seconds):
    begun, made = threading.Event(), []

    class SlowPopen(subprocess.Popen):
        def __init__(self, *args, **options):
            begun.set()
            time.sleep(seconds)
            super().__init__(*args, **options)
            made.append(self)
            time.sleep(seconds)

    monkeypatch.setattr(subprocess, "Popen", SlowPopen)

    async def body():
        task = asyncio.create_task(arun(["sleep", "1000"]))
        while not begun.is_set():
            await asyncio.sleep(0)
        return await cancel(task)

    assert in_loop(body) < 2 * seconds + 0.5 + 1 + SLACK
    (process,) = made
    assert process.returncode == -signal.SIGTERM
    assert_gone(process.pid)


def test_cancelled_in_the_same_step_as_its_thread_starts_it_leaves_nothing():
    async def body():
        task = asyncio.create_task(arun(TREE))
        await asyncio.sleep(0)
        return await cancel(task)

    assert in_loop(body) < 0.5 + 1 + SLACK


@pytest.mark.parametrize("args", [TREE, FLOODING], ids=["silent", "flooding"])
def test_cancelled_while_reading_it_ends_the_program_and_its_children(args):
    async def body():
        task, tree = await start(args)
        took = await cancel(task)
        assert_gone(*tree)
        return took

    assert in_loop(body) < 0.5 + SLACK


def test_cancelled_it_takes_no_longer_than_the_grace_and_a_second():
    async def body():
        task, tree = await start(STUBBORN)
        took = await cancel(task)
        assert_gone(*tree)
        return took

    assert 0.5 <= in_loop(body) < 0.5 + 1 + SLACK


def test_cancelled_again_in_the_grace_it_still_waits_for_the_end():
    async def body():
        # Long enough for all that comes before its end.
        task, tree = await start(STUBBORN, grace=3)
        for delay in (0, 0.1, 0.1):
            await asyncio.sleep(delay)
            task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        assert is_running(tree[0])
        took = await cancel(task)
        assert_gone(*tree)
        return took

    assert in_loop(body) < 3 + 1 + SLACK


@pytest.mark.usefixtures("started_when_it_speaks")
def test_cancelled_in_the_grace_of_its_own_timeout_it_gets_no_second_one(monkeypatch):
    limits = []

    def recording(child, limit, pump_until=Child.pump_until):
        limits.append(limit)
        return pump_until(child, limit)

    monkeypatch.setattr(Child, "pump_until", recording)

    async def body():
        retainer = TextRetainer(TextHead(1000))
        task = asyncio.create_task(arun(TELLING, stdout=retainer, timeout=0.3, grace=SOON))
        tree = await pids(retainer)
        while "told" not in retainer.finish().text:
            await asyncio.sleep(0.01)
        before = len(limits)
        task.cancel()
        while len(limits) == before:
            await asyncio.sleep(0.01)
        # Until when it waits now has been said, and need not be waited for.
        for pid in tree:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert_gone(*tree)
        return limits[before - 1 : before + 1], retainer.finish().text

    (first, second), text = in_loop(body)
    assert first == second
    assert text.count("told") == 1


def test_cancelled_while_a_grandchild_holds_the_pipe_it_ends_that_one():
    async def body():
        task, (child, grandchild) = await start(["sh", "-c", "sleep 1000 & echo $$ $!"], grace=30)
        while is_running(child):
            await asyncio.sleep(0.01)
        took = await cancel(task)
        assert_gone(child, grandchild)
        return took

    assert in_loop(body) < SLACK


def test_cancelled_with_check_it_raises_only_that_it_was_cancelled():
    async def body():
        task, tree = await start(TREE, check=True)
        await cancel(task)
        assert_gone(*tree)

    in_loop(body)


def test_cancelled_while_it_spills_it_leaves_no_descriptor(tmp_path):
    async def body():
        task, tree = await start(FLOODING, spill=tmp_path / "all")
        # It has said its pids, and may be some time from its flood.
        async with asyncio.timeout(SOON):
            while (tmp_path / "all").stat().st_size < 100:
                await asyncio.sleep(0.01)
        await cancel(task)
        assert_gone(*tree)

    in_loop(body)
    assert b"\ny\ny\n" in (tmp_path / "all").read_bytes()


def test_many_cancelled_at_once_have_one_grace_between_them():
    async def body():
        started = await asyncio.gather(*[start(STUBBORN, grace=2) for _ in range(16)])
        began = time.monotonic()
        for task, _ in started:
            task.cancel()
        results = await asyncio.gather(*[task for task, _ in started], return_exceptions=True)
        took = time.monotonic() - began
        assert [type(result) for result in results] == [asyncio.CancelledError] * 16
        for _, tree in started:
            assert_gone(*tree)
        return took

    assert in_loop(body) < 2 + 1 + SLACK < 16 * 2


# In company


@pytest.mark.parametrize("args", [TREE, STUBBORN], ids=["obedient", "stubborn"])
def test_asyncio_timeout_ends_it(args):
    async def body():
        retainer = TextRetainer(TextHead(100))

        async def end(limit):
            await pids(retainer)
            limit.reschedule(0)

        async def limited():
            async with asyncio.timeout(None) as limit:
                await asyncio.gather(arun(args, stdout=retainer), end(limit))

        with pytest.raises(TimeoutError):
            await limited()
        assert_gone(*await pids(retainer))

    in_loop(body)


def test_wait_for_ends_it():
    async def body():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(arun(TREE), 0.3)

    in_loop(body)


async def as_group(*coroutines):
    async with asyncio.TaskGroup() as group:
        for coroutine in coroutines:
            group.create_task(coroutine)


def test_a_sibling_in_a_task_group_that_fails_ends_it():
    tree = []

    async def fail(retainer):
        tree.extend(await pids(retainer))
        raise LookupError("sibling")

    async def body():
        retainer = TextRetainer(TextHead(100))
        with pytest.raises(ExceptionGroup) as caught:
            await as_group(arun(TREE, stdout=retainer), fail(retainer))
        assert_gone(*tree)
        return caught.value

    assert [type(error) for error in in_loop(body).exceptions] == [LookupError]


def test_one_that_fails_ends_its_siblings_in_a_task_group():
    async def body():
        retainer = TextRetainer(TextHead(100))

        async def fail():
            await pids(retainer)
            await arun(["false"], check=True)

        with pytest.raises(ExceptionGroup) as caught:
            await as_group(arun(TREE, stdout=retainer), fail())
        assert_gone(*await pids(retainer))
        return caught.value

    assert [type(error) for error in in_loop(body).exceptions] == [subprocess.CalledProcessError]


def test_thirty_two_run_at_once():
    # The threads of the loop's executor are fewer, on most machines. None of these ends before all have begun.
    async def body():
        retainers = [TextRetainer(TextHead(100)) for _ in range(32)]
        with Holder() as holder:
            command = ["sh", "-c", f"echo begun; {holder.command}"]
            runs = [arun(command, stdout=retainer, pass_fds=holder.fds) for retainer in retainers]
            task = asyncio.gather(*runs)
            while not all(retainer.seen_bytes for retainer in retainers):
                await asyncio.sleep(0.01)
            holder.release()
            return await task

    assert [(result.stdout.text, result.returncode) for result in in_loop(body)] == [("begun\n", 0)] * 32


@pytest.mark.parametrize("busy", ["blocked", "computing"])
def test_a_busy_loop_does_not_keep_the_output_waiting(busy):
    async def body():
        retainer = TextRetainer(TextHeadTail(100, 100))
        task = asyncio.create_task(arun(["head", "-c", "100M", "/dev/zero"], stdout=retainer))
        while not retainer.seen_bytes:
            await asyncio.sleep(0)
        # The loop does nothing else until all has come.
        end = time.monotonic() + SOON
        while retainer.seen_bytes < 100 << 20:
            assert time.monotonic() < end
            if busy == "blocked":
                time.sleep(0.1)
        return await task

    result = in_loop(body)
    assert (result.stdout.seen_bytes, result.eof) == (100 << 20, True)


def test_a_flood_does_not_keep_the_loop_waiting():
    async def body():
        retainer = TextRetainer(TextHead(100))
        task = asyncio.create_task(arun(["cat", "/dev/zero"], stdout=retainer))
        # It never ends: a loop that waited for it would not come back.
        gaps = []
        while len(gaps) < 50 or retainer.seen_bytes < 100 << 20:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            gaps.append(time.monotonic() - began)
        assert not task.done()
        await cancel(task)
        return gaps

    assert max(in_loop(body)) < SLACK


# Interpreters that end

PRELUDE = f"""
import asyncio, gc, signal, threading
from retention import TextHead, TextRetainer, arun
retainer = TextRetainer(TextHead(100))
tree, stubborn = {TREE}, {STUBBORN}

async def say_pids():
    while "\\n" not in (text := retainer.finish().text):
        await asyncio.sleep(0.01)
    print(text, end="", flush=True)
"""


@contextlib.contextmanager
def interpreter(script):
    """A Python that has said the pids of the program that it runs."""
    command = [sys.executable, "-c", PRELUDE + script]
    # Unbuffered: what came with a line that was read would be lost to `communicate`.
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as process:
        try:
            yield process, [int(pid) for pid in process.stdout.readline().split()]
        finally:
            process.kill()


@contextlib.contextmanager
def ended(pids):
    """Whatever a test finds, these do not outlive it; nor does a program that waits for them."""
    try:
        yield
    finally:
        for pid in filter(is_running, pids):
            os.kill(pid, signal.SIGKILL)


def finished(process):
    out, err = process.communicate(timeout=SOON)
    return out.decode(), err.decode(), process.returncode


RUN_IN_ASYNCIO = """
async def main():
    task = asyncio.create_task(arun({args}, stdout=retainer, grace={grace}))
    await say_pids()
    await task

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted", threading.active_count())
"""


def test_ctrl_c_in_asyncio_run_ends_it():
    with interpreter(RUN_IN_ASYNCIO.format(args="tree", grace=0.5)) as (process, tree):
        process.send_signal(signal.SIGINT)
        assert finished(process) == ("interrupted 1\n", "", 0)
        assert_gone(*tree)


def test_ctrl_c_again_in_the_grace_still_ends_it_within_the_grace():
    # A third one would reach asyncio while that cleans up, which it does not survive.
    with interpreter(RUN_IN_ASYNCIO.format(args="stubborn", grace=3)) as (process, tree):
        began = time.monotonic()
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        assert finished(process) == ("interrupted 1\n", "", 0)
        assert time.monotonic() - began < 3 + 1 + SLACK
        assert_gone(*tree)


GIVEN_UP = """
loop = asyncio.new_event_loop()
task = loop.create_task(arun(tree, stdout=retainer, check=True))
# That a task was pending when its loop ended is what asyncio says of any.
task._log_destroy_pending = False
loop.run_until_complete(say_pids())
"""


@pytest.mark.parametrize(
    "ending",
    [
        "loop.call_soon(loop.stop); loop.run_forever()",
        "loop.call_soon(loop.stop); loop.run_forever(); loop.close()",
        "loop.close(); del task",
    ],
)
def test_an_interpreter_that_ends_with_its_loop_ends_it_and_says_nothing(ending):
    with interpreter(GIVEN_UP + ending) as (process, tree), ended(tree):
        assert process.wait(0.5 + 1 + SLACK) == 0
        assert finished(process) == ("", "", 0)
        assert_gone(*tree)


def test_a_task_given_up_with_its_loop_ends_it():
    script = """
loop.close()
del task
gc.collect()
while threading.active_count() > 1:
    threading.Event().wait(0.01)
print(threading.active_count())
"""
    with interpreter(GIVEN_UP + script) as (process, tree), ended(tree):
        assert process.stdout.readline() == b"1\n"
        assert_gone(*tree)
        assert finished(process) == ("", "", 0)


@pytest.mark.parametrize("first", ["", "gc.collect()"])
def test_a_coroutine_that_is_closed_ends_it(first):
    script = f"""
loop = asyncio.new_event_loop()
async def main():
    coroutine = arun(tree, stdout=retainer, check=True)
    coroutine.send(None)
    await say_pids()
    coroutine.close()
    print(threading.active_count(), flush=True)
    {first}
    # What it had to say is nobody's business any more.
    await asyncio.sleep(0.1)
    gc.collect()
loop.run_until_complete(main())
loop.close()
"""
    with interpreter(script) as (process, tree), ended(tree):
        assert finished(process) == ("1\n", "", 0)
        assert_gone(*tree)


def test_a_loop_that_is_closed_when_the_program_ends_is_no_error():
    script = """
loop = asyncio.new_event_loop()
task = loop.create_task(arun(["sh", "-c", "echo 1; sleep 0.3"], stdout=retainer))
task._log_destroy_pending = False
loop.run_until_complete(say_pids())
loop.close()
"""
    with interpreter(script) as (process, _):
        assert finished(process) == ("", "", 0)
