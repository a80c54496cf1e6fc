"""Writing all of a stream to a file beside its retainer, up to a limit. No GIL; a failure is remembered, not raised."""

from libc.errno cimport EINTR, errno
from libc.stddef cimport size_t
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memmove
from posix.types cimport off_t
from posix.unistd cimport ftruncate, write

from retention._utf8 cimport divided_before


cdef enum:
    # As many bytes on each side of a cut tell whether it divides a character.
    AROUND = 3


cdef struct Spilled:
    # The file, or -1; how much it may get, and how much it has got.
    int fd
    unsigned long long limit
    unsigned long long written
    # What failed, an errno, or 0: from then on nothing is written.
    int error
    # Whether there was more than the limit allows.
    bint capped
    # The last bytes written, and after them the first that the limit kept out.
    uint8_t near[2 * AROUND]
    size_t before
    size_t after


cdef inline void spill_block(Spilled *spilled, const uint8_t *data, size_t size) noexcept nogil:
    cdef size_t rest = <size_t>min(<unsigned long long>size, spilled.limit - spilled.written)
    cdef size_t kept
    cdef Py_ssize_t written
    if spilled.error:
        return
    while rest:
        written = write(spilled.fd, data, rest)
        if written < 0:
            if errno == EINTR:
                continue
            spilled.error = errno
            return
        spilled.written += written
        kept = min(<size_t>written, <size_t>AROUND)
        if spilled.before + kept > AROUND:
            memmove(spilled.near, spilled.near + (spilled.before + kept - AROUND), AROUND - kept)
            spilled.before = AROUND - kept
        memcpy(spilled.near + spilled.before, data + (written - kept), kept)
        spilled.before += kept
        data += written
        size -= written
        rest -= written
    if size:
        spilled.capped = True
        kept = min(size, <size_t>AROUND - spilled.after)
        memcpy(spilled.near + spilled.before + spilled.after, data, kept)
        spilled.after += kept


cdef inline void spill_end(Spilled *spilled) noexcept nogil:
    """Take back what was written of a character that the limit divides: only now is it known to be one."""
    # Nothing is after a cut where there is none, nor where writing has failed.
    cdef size_t divided = divided_before(spilled.near + spilled.before, spilled.before, spilled.after)
    if not divided:
        return
    if ftruncate(spilled.fd, <off_t>(spilled.written - divided)) < 0:
        spilled.error = errno
    else:
        spilled.written -= divided
