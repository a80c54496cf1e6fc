"""The memory of a process. The processes that are measured import this: it imports nothing that they would not have."""

import resource
import sys


def resident(pid="self"):
    """The bytes of memory that a process has resident, and the most that it has had.

    Linux counts into a process's ru_maxrss what its parent had when it started it, but not into VmHWM. Where there is
    no such file, both numbers are the peak, and of this process alone: of another they are 0.
    """
    if sys.platform == "linux":
        with open(f"/proc/{pid}/status", "rb") as status:
            # A process that has ended and is not waited for yet has no memory left to tell of.
            sizes = {line[:6]: int(line.split()[1]) << 10 for line in status if line[:6] in (b"VmRSS:", b"VmHWM:")}
        return sizes.get(b"VmRSS:", 0), sizes.get(b"VmHWM:", 0)
    if pid != "self":
        return 0, 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak = peak if sys.platform == "darwin" else peak << 10
    return peak, peak
