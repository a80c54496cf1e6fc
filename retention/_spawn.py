"""Starting a program without `subprocess`, which takes longer to import than a short program to run. POSIX only."""

from __future__ import annotations

import os
from errno import ENOENT
from io import FileIO

# What Python ignores and a program expects to end by: SIGPIPE, SIGXFSZ.
RESTORED = (13, 25)


class Spawned:
    """A running program, with as much of a Popen as looking after it needs."""

    stdin = stderr = None

    def __init__(self, args: list[str], *, merge: bool, new_session: bool) -> None:
        self.returncode: int | None = None
        if not args[0]:
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), args[0])
        reader, writer = pipe_beside_standard()
        try:
            actions = [(os.POSIX_SPAWN_DUP2, writer, fd) for fd in ([1, 2] if merge else [1])]
            self.pid = os.posix_spawnp(
                args[0], args, os.environ, file_actions=actions, setsid=new_session, setsigdef=RESTORED
            )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        self.stdout = FileIO(reader)

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def pipe_beside_standard() -> tuple[int, int]:
    """A pipe whose ends are not taken for the standard input and outputs, also where some of those are closed."""
    ends = os.pipe()
    if min(ends) > 2:
        return ends
    import fcntl

    higher = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3) for end in ends]
    for end in ends:
        os.close(end)
    return higher[0], higher[1]
