"""Running a program from a coroutine: `run` in a thread of its own, ended when its task is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading

from retention.process import DEFAULT, CompletedRun, run_child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Buffer

    from retention.process import _Command, _Destination
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
    **popen: Any,
) -> CompletedRun:
    """`run` for coroutines: the same arguments, result and errors. The event loop is never blocked.

    Cancelling the task ends the program as a timeout does, waits until it is reaped, at most `grace` and a second, and
    then raises CancelledError. Each call has a thread of its own: those of the loop are few, and others want them.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[CompletedRun] = loop.create_future()
    sleeper, waker = os.pipe()

    def settle(result: CompletedRun | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        elif result is not None:
            done.set_result(result)

    def work() -> None:
        result, raised = None, None
        try:
            result = run_child(args, stdout, stderr, input, timeout, grace, check, spill, popen, waker=sleeper)
        except BaseException as error:
            raised = error
        # A loop that is closed by now has nobody who waits for this.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, raised)

    try:
        thread = threading.Thread(target=work, name="retention.arun")
        thread.start()
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            os.write(waker, b"!")
            # It is on its way out, in bounded time; another cancellation does not make it faster.
            while not done.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([done])
            if not done.cancelled():
                done.exception()
            raise
        except GeneratorExit:
            # The loop was given up while this waited.
            os.write(waker, b"!")
            raise
        finally:
            thread.join()
    finally:
        os.close(sleeper)
        os.close(waker)
