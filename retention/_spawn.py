"""Starting a program without `subprocess`, which takes longer to import than a short program to run. POSIX only."""

from __future__ import annotations

import os
from io import FileIO

# What Python ignores and a program expects to end by: SIGPIPE, SIGXFSZ.
RESTORED = (13, 25)


class Spawned:
    """A running program, with as much of a Popen as looking after it needs."""

    stdin = stderr = None

    def __init__(self, args: list[str], *, merge: bool, new_session: bool) -> None:
        self.args = args
        self.returncode: int | None = None
        reader, writer = os.pipe()
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
