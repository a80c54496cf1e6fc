"""The process engine where a system call fails, or comes back short: each call in turn, in interpreters of their own.

What happens there is in faults_child.py; what makes the calls fail is shim.c, which is compiled here and preloaded.
"""

import json
import os
import platform
import sys
from pathlib import Path

import pytest
from compiling import shared_library
from watch import SOON, in_own_group

HERE = Path(__file__).parent

pytestmark = [
    pytest.mark.skipif(
        not (sys.platform == "linux" and platform.libc_ver()[0] == "glibc"), reason="the shim is for Linux and glibc"
    ),
    pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="another library is preloaded already"),
]


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    return shared_library(HERE / "shim.c", tmp_path_factory.mktemp("shim") / "shim.so")


@pytest.fixture
def failed(shim):
    """Runs a program of faults_child.py, in which nothing may go wrong; returns how much was made to fail."""

    def run(*words):
        env = {**os.environ, "LD_PRELOAD": str(shim)}
        # Hundreds of cases, each of which has a limit of its own.
        status, output, complaint = in_own_group([sys.executable, HERE / "faults_child.py", *words], 10 * SOON, env=env)
        assert status == 0, complaint
        answer = json.loads(output)
        assert not answer["problems"], "\n\n".join(answer["problems"][:5])
        assert complaint == ""
        return answer["hits"]

    return run


@pytest.fixture
def faults(failed):
    """The same; something must have been made to fail."""

    def run(*words):
        assert failed(*words) > 0

    return run


PASSING = ["EINTR", "EAGAIN", "SHORT"]
RUNS = ["Both", "Communicate", "Timeout", "Stop"]


@pytest.mark.parametrize("function", ["read", "poll"])
@pytest.mark.parametrize("scenario", ["Drain", *RUNS])
def test_what_passes_changes_nothing(faults, scenario, function):
    faults("sweep", scenario, function, "survives", *PASSING)


@pytest.mark.parametrize("scenario", ["Both", "Communicate"])
def test_input_that_is_not_taken_at_once_is_written_all_the_same(faults, scenario):
    faults("sweep", scenario, "write", "survives", *PASSING)


@pytest.mark.parametrize("scenario", ["Drain", *RUNS])
def test_a_failed_read_is_raised(faults, scenario):
    faults("sweep", scenario, "read", "raises", "EIO", "EBADF", "EINVAL", "ENOMEM")


@pytest.mark.parametrize("scenario", ["Drain", *RUNS])
def test_a_read_that_may_wait_fails_by_errors_that_one_that_must_not_passes_over(faults, scenario):
    # The first of a turn, of which poll has said that it does not wait.
    faults("first", scenario, "read", "raises", "ENOSYS", "EOPNOTSUPP", "EPERM")


@pytest.mark.parametrize("how", ["sweep", "onward"])
@pytest.mark.parametrize("scenario", ["Drain", "Communicate"])
def test_a_system_that_has_no_reads_that_do_not_wait(faults, scenario, how):
    faults(how, scenario, "preadv2", "survives", "ENOSYS", "EOPNOTSUPP", "EPERM")


@pytest.mark.parametrize("scenario", ["Drain", *RUNS])
def test_a_failed_poll_is_raised(faults, scenario):
    faults("sweep", scenario, "poll", "raises", "EINVAL", "ENOMEM", "EBADF")


@pytest.mark.parametrize("scenario", ["Both", "Communicate"])
def test_a_failed_write_is_raised(faults, scenario):
    faults("sweep", scenario, "write", "raises", "EIO", "EBADF", "EINVAL", "ENOSPC")


@pytest.mark.parametrize("scenario", ["Both", "Communicate"])
def test_a_closed_input_is_no_error(faults, scenario):
    faults("broken_input", scenario, "EPIPE", "ECONNRESET")


@pytest.mark.parametrize("function", ["read", "poll"])
@pytest.mark.parametrize("scenario", ["Drain", *RUNS])
def test_what_fails_and_goes_on_failing_is_raised(faults, scenario, function):
    faults("onward", scenario, function, "raises", "EIO" if function == "read" else "EINVAL", "ENOMEM")


@pytest.mark.parametrize("scenario", ["Both", "Communicate"])
def test_writing_that_goes_on_failing_is_raised(faults, scenario):
    faults("onward", scenario, "write", "raises", "EIO", "EBADF")


@pytest.mark.parametrize("scenario", ["Drain", "Both"])
def test_all_of_it_little_by_little(faults, scenario):
    faults("onward", scenario, "read", "survives", "SHORT")


# The file of a spill


def test_writing_to_a_file_that_is_interrupted_goes_on(faults):
    faults("sweep", "Spilling", "write", "survives", "EINTR", "SHORT")


def test_a_part_of_a_character_that_cannot_be_taken_back_is_told(faults):
    faults("first", "DividedSpill", "ftruncate", "survives", "EIO")


# Signals


@pytest.mark.parametrize("how", ["sweep", "onward"])
def test_a_signal_that_is_refused_leaves_no_status(faults, how):
    faults(how, "LeftAfterTimeout", "kill", "survives", "EPERM", "ESRCH")


def test_a_first_signal_that_fails_does_not_spare_the_program(faults):
    faults("first", "Timeout", "kill", "raises", "EINVAL", "ENOSYS")


def test_an_exception_while_a_signal_is_sent_does_not_spare_the_program(faults):
    faults("interrupted_signal")


# The end of a program


def test_looking_for_an_end_that_is_interrupted_is_done_again(faults):
    faults("sweep", "Timeout", "waitid", "survives", "EINTR")


@pytest.mark.parametrize("how", ["sweep", "onward"])
def test_a_program_that_may_be_somebody_elses_is_not_signalled(faults, how):
    faults(how, "LeftAfterTimeout", "waitid", "survives", "ECHILD", "ENOSYS")


def test_an_end_that_cannot_be_looked_for_now_is_looked_for_later(faults):
    faults("sweep", "Quiet", "waitid", "survives", "EINTR", "EINVAL", "ENOSYS", "SHORT")


def test_a_program_that_is_no_child_of_ours_has_ended(faults):
    faults("sweep", "LeftQuiet", "waitid", "survives", "ECHILD")


def test_programs_that_the_system_reaps_by_itself(faults):
    faults("not_waited_for")


@pytest.mark.parametrize("how", ["ENOSYS", "EPERM", "EMFILE", "deleted"])
def test_without_a_descriptor_for_it_an_end_is_looked_for(faults, how):
    faults("looked_for_exit", how)


def test_a_timeout_needs_nothing_to_tell_of_an_end(faults):
    faults("unanswered")


def test_an_end_that_nothing_tells_of_is_no_hang(faults):
    faults("unanswered_without_timeout")


def test_waiting_is_no_spinning(faults):
    faults("no_spinning")


def test_an_error_of_a_terminal_is_its_end(faults):
    faults("terminal")


def test_an_error_of_the_system_is_raised_as_it_was(faults):
    faults("unreadable")


# Memory


@pytest.mark.parametrize("how", ["sweep", "onward"])
@pytest.mark.parametrize("function", ["realloc", "posix_memalign"])
@pytest.mark.parametrize("scenario", ["LargeDrain", "LargeBoth"])
def test_memory_that_is_not_there_is_raised_and_nothing_is_lost(faults, scenario, function, how):
    faults(how, scenario, function, "ends", "ENOMEM")


def test_a_result_for_which_there_is_no_memory(failed, faults):
    if not failed("large_object"):
        pytest.skip("this CPython does not ask malloc for its objects")
    faults("sweep", "LargeBoth", "malloc", "ends", "ENOMEM")


def test_memory_that_another_push_has_taken(faults):
    faults("raced_memory")


def test_a_push_during_a_drain_for_which_there_is_no_memory(faults):
    faults("refused_memory")


@pytest.mark.parametrize("which", ["shared_promises", "measured_promises", "broken_promises"])
def test_room_is_promised_to_each_read_as_long_as_it_lasts(faults, which):
    faults(which)


def test_any_allocation_of_a_drain(faults):
    pytest.importorskip("_testcapi")
    faults("any_memory")


# Starting a program


@pytest.mark.parametrize(
    "program",
    ["few_descriptors", "low_limit", "no_processes", "unstarted", "unlucky", "raised_after_fork"],
)
def test_starting(faults, program):
    faults(program)


# Input that the caller left in the buffer of a pipe


@pytest.mark.parametrize("program", ["full_input_pipe", "full_nonblocking_input_pipe"])
def test_a_full_pipe(faults, program):
    faults(program)
