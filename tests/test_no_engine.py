"""The package without its engine, as on a system that is not POSIX: it imports, retains, reads; and runs no programs.

Where there is one, as nearly everywhere, it is kept from being found, and so are the signals that Windows lacks.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HIDE = """
import _signal, sys
class NotInstalled:
    def find_spec(name, path=None, target=None):
        if name == "retention._engine":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, NotInstalled)
for name in ("SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT"):
    vars(_signal).pop(name, None)
"""


def without_engine(program, *words, data=b""):
    """Run a program in an interpreter that does not find the engine; returns what it prints."""
    program = HIDE + textwrap.dedent(program)
    words = [sys.executable, "-W", "error", "-c", program, *words]
    return subprocess.run(words, input=data, capture_output=True, timeout=60)


def printed(*arguments, **more):
    done = without_engine(*arguments, **more)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    return done.stdout.decode().splitlines()


def test_every_public_name_is_there():
    assert printed(
        """
        import retention
        print(all(getattr(retention, name) is not None for name in retention.__all__))
        print("retention._engine" in sys.modules)
        """
    ) == ["True", "False"]


def test_a_descriptor_a_file_and_an_object_are_drained_by_their_own_methods(tmp_path):
    (tmp_path / "file").write_bytes(b"0123456789\n" * 20_000)
    assert printed(
        """
        import io, os, socket
        from retention import TextHead, TextHeadTail, TextRetainer
        path = sys.argv[1]
        def drained(source, strategy=TextHeadTail(4, 4)):
            retainer = TextRetainer(strategy)
            done = retainer.drain(source)
            print(done.status, done.nbytes, retainer.finish().text.replace("\\n", "|"))
        with open(path, "rb") as file:
            file.read(5)
            drained(file)
        with open(path, "rb", buffering=0) as file:
            drained(file)
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        drained(fd, TextHead(4, stop="stop_when_full"))
        os.close(fd)
        drained(io.BytesIO(b"0123456789"))
        for source in (lambda end: end, lambda end: end.makefile("rb")):
            near, far = socket.socketpair()
            with near, far:
                far.sendall(b"0123456789")
                far.close()
                drained(source(near))
        """,
        str(tmp_path / "file"),
    ) == ["eof 219995 5678789|", "eof 220000 0123789|", "stopped 65536 0123", *["eof 10 01236789"] * 3]


def test_a_timeout_is_refused_where_there_is_nothing_to_wait_by():
    assert printed(
        """
        from retention import TextHead, TextRetainer
        try:
            TextRetainer(TextHead(4)).drain(0, timeout=1)
        except ValueError as error:
            print(error)
        """
    ) == ["timeout needs a source that can be waited for, by its descriptor; got 0"]


@pytest.mark.parametrize(
    "call",
    ["retention.run(['true'])", "asyncio.run(retention.arun(['true']))", "retention.communicate(None)"],
)
def test_who_wants_to_run_a_program_is_told_that_it_is_not_available(call):
    assert printed(
        f"""
        import asyncio, retention
        try:
            {call}
        except NotImplementedError as error:
            print(error)
        """
    ) == ["running programs needs a POSIX system"]


def test_a_file_is_retained(tmp_path):
    (tmp_path / "file").write_bytes(b"line\n" * 1000)
    assert printed(
        """
        from retention import TextTail, retain_file
        print(retain_file(sys.argv[1], TextTail(3)).finish().omitted_bytes.count)
        print(retain_file(sys.argv[1], TextTail(30, max_lines=2)).finish().omitted_lines.count)
        """,
        str(tmp_path / "file"),
    ) == ["4997", "998"]


COMMAND = "from retention.command import main; sys.exit(main(sys.argv[1:]))"


def test_the_command_reads_its_input():
    assert printed(COMMAND, "--head", "4", "--tail", "4", data=b"0123456789") == ["0123", "[Omitted 2 bytes.]", "6789"]


def test_the_command_says_that_it_runs_no_other():
    done = without_engine(COMMAND, "--", "true")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"running a command needs a POSIX system" in done.stderr


def test_the_tests_for_such_systems_import_nothing_that_is_missing_there():
    hide = "import sys; sys.modules.update(dict.fromkeys(['fcntl', 'grp', 'pty', 'pwd', 'resource', 'termios', 'tty']))"
    collect = "import pytest; sys.exit(pytest.main(['--collect-only', '-q', '-p', 'no:cacheprovider', *sys.argv[1:]]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{hide}; {collect}", "@tests/portable.txt"],
        cwd=Path(__file__).parent.parent, capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
