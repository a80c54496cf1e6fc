"""Running a program from a coroutine: `run` in a thread of its own, ended when its task is cancelled."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
import weakref
from time import sleep

from retention.process import DEFAULT, CompletedRun, run_child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Unpack

    from typing_extensions import Buffer

    from retention.process import _Command, _Destination, _PopenOptions
    from retention.spill import Spill, _Path


async def arun(
    args: _Command,
    *,
    stdout: _Destination = DEFAULT,
    stderr: _Destination = DEFAULT,
    input: str | Buffer | None = None,
    timeout: float | None = None,
    grace: float = 0.5,
    check: bool = False,
    spill: Spill | _Path | None = None,
    **popen: Unpack[_PopenOptions],
) -> CompletedRun:
    """`run` for coroutines: it takes, returns and raises the same. The event loop is never blocked.

    Cancelling the task ends the program as a timeout does, waits until it is reaped, at most `grace` and a second, and
    then raises CancelledError. Each call has a thread of its own: those of the loop are few, and others want them.
    """
    loop = asyncio.get_running_loop()
    # Of the result and the exception; one that nobody waits for any more is not to be complained about.
    done: asyncio.Future[tuple[CompletedRun | None, BaseException | None]] = loop.create_future()
    # The thread must not keep the task alive: one that its loop has given up is to be collected, and ends here.
    settled = weakref.ref(done)
    sleeper, waker = os.pipe()

    def settle(result: CompletedRun | None, error: BaseException | None) -> None:
        future = settled()
        if future is not None and not future.done():
            future.set_result((result, error))

    def work() -> None:
        result, raised = None, None
        try:
            result = run_child(args, stdout, stderr, input, timeout, grace, check, spill, popen, waker=sleeper)
        except BaseException as error:
            raised = error
        while True:
            try:
                loop.call_soon_threadsafe(settle, result, raised)
                return
            except MemoryError:
                # Who waits for this would wait for ever.
                sleep(0.001)
            except RuntimeError:
                # A loop that is closed by now has nobody who waits.
                return

    # Not waited for by the interpreter's end, which would be for the program's; see `end_all`.
    thread = threading.Thread(target=work, name="retention.arun", daemon=True)
    try:
        thread.start()
        LIVE[thread] = waker
        try:
            result, error = await asyncio.shield(done)
        except asyncio.CancelledError:
            os.write(waker, b"!")
            # It is on its way out, in bounded time; another cancellation does not make it faster.
            while not done.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([done])
            raise
        except GeneratorExit:
            # The loop was given up while this waited.
            os.write(waker, b"!")
            raise
        finally:
            thread.join()
            del LIVE[thread]
    finally:
        os.close(sleeper)
        os.close(waker)
    if error is not None:
        raise error
    assert result is not None
    return result


# The threads that run programs, each with the descriptor that has its program ended.
LIVE: dict[threading.Thread, int] = {}


@atexit.register
def end_all() -> None:
    """Where the interpreter ends before their loops have: end the programs, each within its grace and a second."""
    for waker in LIVE.values():
        os.write(waker, b"!")
    for thread in list(LIVE):
        thread.join()
