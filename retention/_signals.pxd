"""A pipe that tells of signals while the GIL is not held. POSIX only.

Python writes the number of each signal that it has a handler for to one descriptor of the process, its wakeup
descriptor (signal.set_wakeup_fd). For a while that is our pipe; what its owner would have got is passed on.
"""

from posix.unistd cimport close, read, write


cdef extern from *:
    """
    #include <fcntl.h>
    #include <unistd.h>

    /* A pipe that no child inherits and no end of which waits. */
    static inline int quiet_pipe(int ends[2])
    {
    #ifdef __linux__
        return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
    #else
        if (pipe(ends) < 0)
            return -1;
        for (int i = 0; i < 2; i++) {
            fcntl(ends[i], F_SETFD, FD_CLOEXEC);
            fcntl(ends[i], F_SETFL, O_NONBLOCK);
        }
        return 0;
    #endif
    }
    """
    int quiet_pipe(int *ends) noexcept nogil


cdef enum:
    # Signals that are taken at once.
    SIGNALS_TAKEN = 64


cdef struct SignalPipe:
    # Its ends, to read and to write: -1 while there is none.
    int reader
    int writer
    # The wakeup descriptor before, or -1.
    int before


cdef inline bint signals_open(SignalPipe *signals) noexcept nogil:
    """Whether there is a pipe now: descriptors may be used up."""
    cdef int[2] ends
    if quiet_pipe(ends) < 0:
        return False
    signals.reader, signals.writer, signals.before = ends[0], ends[1], -1
    return True


cdef inline void signals_take(SignalPipe *signals) noexcept nogil:
    """Empty the pipe, for whoever has learnt of signals by it."""
    cdef char[SIGNALS_TAKEN] numbers
    cdef Py_ssize_t size
    while True:
        size = read(signals.reader, numbers, SIGNALS_TAKEN)
        if size > 0:
            # Where its owner lets it run full they are lost to it, as they would have been without us.
            if signals.before >= 0 and write(signals.before, numbers, size) < 0:
                continue
        else:
            return


cdef inline void signals_close(SignalPipe *signals) noexcept nogil:
    """Close the pipe, which is the wakeup descriptor no more."""
    signals_take(signals)
    close(signals.reader)
    close(signals.writer)
    signals.reader = signals.writer = -1
