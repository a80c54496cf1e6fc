"""The poll loop: descriptors read into retainers and one written to, without the GIL. POSIX only.

A Pump runs until something happens that its owner has to know, and says what; it decides nothing about processes, and
closes no descriptor.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from libc.errno cimport EAGAIN, EINTR, EIO, ENOMEM, ENOSYS, EOPNOTSUPP, EPERM, EPIPE, errno
from libc.stdint cimport uint8_t
from libc.stdlib cimport free
from libc.string cimport memset, strerror
from posix.fcntl cimport F_GETFD, fcntl
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from posix.types cimport pid_t
from posix.unistd cimport isatty, read, write

from retention._signals cimport SignalPipe, signals_close, signals_open, signals_take
from retention._spill cimport Spilled, spill_block, spill_end
from retention.text cimport TextRetainer

# What `signal` wraps in enums, which take 3 ms to import: a short command would notice.
import _signal as signal
import sys


cdef extern from *:
    """
    #include <limits.h>
    #include <poll.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <sys/uio.h>
    #include <sys/wait.h>

    #ifndef PIPE_BUF
    #define PIPE_BUF _POSIX_PIPE_BUF
    #endif

    /* Whether a child has ended, which stays to be reaped; one that is no longer ours has ended too. -1: errno. */
    static inline int child_has_ended(pid_t pid)
    {
        siginfo_t info;
        info.si_pid = 0;
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
            return errno == ECHILD ? 1 : errno == EINTR ? 0 : -1;
        return info.si_pid != 0;
    }

    static inline int is_child_of_ours(pid_t pid)
    {
        siginfo_t info;
        return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
    }

    /* A read that does not wait, of a descriptor that may be blocking; EOPNOTSUPP or its like where that cannot be. */
    static inline Py_ssize_t read_at_once(int fd, void *block, size_t size)
    {
    #ifdef RWF_NOWAIT
        struct iovec part = {block, size};
        return preadv2(fd, &part, 1, -1, RWF_NOWAIT);
    #else
        (void)fd, (void)block, (void)size;
        errno = ENOSYS;
        return -1;
    #endif
    }
    """
    const int PIPE_BUF
    int child_has_ended(pid_t pid) noexcept nogil
    bint is_child_of_ours(pid_t pid) noexcept nogil
    Py_ssize_t read_at_once(int fd, void *block, size_t size) noexcept nogil
    int posix_memalign(void **memory, size_t alignment, size_t size) noexcept nogil

cdef extern from "<poll.h>" nogil:
    const short POLLIN, POLLOUT
    cdef struct pollfd:
        int fd
        short events
        short revents
    int poll(pollfd *polled, unsigned long count, int milliseconds) noexcept

cdef extern from "Python.h":
    void *PyInterpreterState_Get()
    void *PyInterpreterState_Main()

cdef extern from "<errno.h>" nogil:
    const int ECONNRESET, EWOULDBLOCK


cdef enum:
    # One read. Larger blocks fall out of the processor's second cache and take twice as long.
    BLOCK = 64 << 10
    # The kernel copies into memory that begins at a page twice as fast as into other.
    PAGE = 4096
    # The blocks that one descriptor is read before the others, the deadline and signals are looked at again.
    TURN = 16
    # In milliseconds: how often a child is looked for that no descriptor tells of. And how often in a row in vain,
    # because the system does not answer, until that is an error.
    LOOK = 20
    IN_VAIN = 250

# How often signals are looked for where no pipe tells of them, in nanoseconds: while data flows there is no wait that
# they could end, and one that comes just before a wait does not end it.
cdef long long SIGNALS = 100_000_000
cdef long long NEVER = -1

cdef tuple NO_DESCRIPTOR = (-1,)

# More than any file has.
cdef unsigned long long LARGEST = 1 << 62

# What ended a run of the loop.
cdef enum Event:
    NOTHING
    DONE
    STOPPED
    EXITED
    WRITTEN
    WOKEN
    TIMEOUT
    FAILED

NAMES = ("nothing", "done", "stopped", "exited", "written", "woken", "timeout", "failed")

cdef enum State:
    OPEN
    AT_END
    STOP_ASKED
    BROKEN


# How a descriptor is read after poll has said that something is there.
cdef enum Manner:
    # It is non-blocking: by read, until nothing is left.
    NONBLOCKING
    # It is not, or not known to be: once by read, and then on by reads that do not wait.
    AT_ONCE
    # The system has no such reads for it.
    ONCE


cdef struct Reader:
    int fd
    State state
    Manner manner
    # The bytes read from it.
    unsigned long long nbytes
    # Borrowed from the list of the pump.
    PyObject *retainer


@cython.final
cdef class Pump:
    # Reads descriptors into retainers, writes one, and watches for a child's end.

    cdef Reader *readers
    cdef pollfd *polled
    cdef Py_ssize_t count
    cdef list retainers
    # The file beside the first reader's retainer.
    cdef Spilled spilled
    cdef uint8_t *block

    # What is still to be written, out of `source`; -1 where nothing is, or nobody takes it any more.
    cdef int output
    cdef bint output_nonblocking
    cdef object source
    cdef const uint8_t *rest
    cdef size_t left

    # The child whose end is looked for, by a descriptor that tells of it (a pidfd) or, at -1, by asking.
    cdef pid_t pid
    cdef int pidfd
    cdef bint watching
    cdef int in_vain
    cdef readonly bint exited

    # A descriptor that another thread makes readable to end the loop, or -1.
    cdef int waker

    # What failed: an errno.
    cdef int error
    # Whether this is the thread in which Python runs signal handlers, and what tells of signals.
    cdef bint sees_signals
    cdef long long signals_seen
    cdef SignalPipe signals

    def __cinit__(self, list readers, *, int waker=-1):
        """`readers`: of (descriptor, TextRetainer, whether the descriptor is non-blocking)."""
        cdef TextRetainer retainer
        cdef int fd
        cdef bint nonblocking
        self.output = self.pidfd = self.spilled.fd = self.signals.reader = self.signals.writer = -1
        self.waker = waker
        self.readers = <Reader *>PyMem_Calloc(max(len(readers), 1), sizeof(Reader))
        # Beside the readers, for the output, the child, the waker and signals.
        self.polled = <pollfd *>PyMem_Calloc(len(readers) + 4, sizeof(pollfd))
        if self.readers == NULL or self.polled == NULL:
            raise MemoryError
        if posix_memalign(<void **>&self.block, PAGE, BLOCK) != 0:
            self.block = NULL
            raise MemoryError
        self.retainers = []
        for fd, retainer, nonblocking in readers:
            self.retainers.append(retainer)
            self.readers[self.count].fd = fd
            self.readers[self.count].manner = NONBLOCKING if nonblocking else AT_ONCE
            self.readers[self.count].retainer = <PyObject *>retainer
            self.count += 1

    def __dealloc__(self):
        PyMem_Free(self.readers)
        PyMem_Free(self.polled)
        free(self.block)

    def write(self, int fd, data, bint nonblocking):
        """Write the bytes of a buffer to a descriptor while reading. "written": it may be closed now."""
        cdef const uint8_t[::1] view = data
        self.output = fd
        self.output_nonblocking = nonblocking
        # Holds the buffer.
        self.source = view
        self.left = view.shape[0]
        self.rest = &view[0] if self.left else NULL

    def spill(self, int fd, max_bytes):
        """Write all that the first reader reads to a file too, at most `max_bytes` of it if that is not None."""
        self.spilled.fd = fd
        self.spilled.limit = min(max_bytes, LARGEST) if max_bytes is not None else LARGEST

    def end_spill(self):
        """Returns the bytes in the file, whether some were kept out of it, and the errno that ended it, or 0."""
        spill_end(&self.spilled)
        return self.spilled.written, bool(self.spilled.capped), self.spilled.error

    def at_end(self, Py_ssize_t number):
        """Whether a reader has come to its end."""
        return self.readers[number].state == AT_END

    def watch(self, pid_t pid, int pidfd):
        """Look for the end of a child, which stays to be reaped. "exited" is said once."""
        self.pid = pid
        self.pidfd = pidfd
        self.watching = True

    def nbytes(self, Py_ssize_t number):
        """The bytes that a reader has read."""
        return self.readers[number].nbytes

    def asked_to_stop(self, Py_ssize_t number):
        return self.readers[number].state == STOP_ASKED

    @property
    def reading(self):
        """Whether any reader goes on."""
        return self.open_readers() > 0

    def run(self, seconds=None):
        """Read and write until something happens, or for so long; 0 takes one block of each that is ready.

        Returns what it was: "stopped", "exited", "written" or "woken"; "done" when all readers have ended, and the
        child too if one is watched; else "timeout". Raises OSError for a descriptor that fails, MemoryError, and what
        a signal handler raises; what had been read by then is in the retainers.
        """
        cdef long long deadline = NEVER
        cdef TextRetainer retainer
        cdef Py_ssize_t number
        cdef Event event
        if seconds is not None:
            # Beyond the clock's reach is never.
            deadline = monotonic() + <long long>(min(max(seconds, 0.0), 1e9) * 1e9)
        self.sees_signals = is_thread_of_signals()
        # Before there is a pipe, which may be given the number of a descriptor that was closed.
        for number in range(self.count):
            if self.readers[number].state == OPEN and fcntl(self.readers[number].fd, F_GETFD) < 0:
                raise error_of(errno)
        for retainer in self.retainers:
            retainer.begin_drain()
        try:
            # Who does not wait leaves them to the interpreter.
            if self.sees_signals and (seconds is None or seconds > 0):
                self.hear_signals()
                # One that came before there was the pipe: it is not told of there.
                PyErr_CheckSignals()
            with nogil:
                event = self.loop(deadline)
        finally:
            for retainer in self.retainers:
                retainer.end_drain()
            self.stop_hearing_signals()
        if event == FAILED:
            raise MemoryError if self.error == ENOMEM else error_of(self.error)
        return NAMES[event]

    cdef int hear_signals(self) except -1:
        if signals_open(&self.signals):
            self.signals.before = signal.set_wakeup_fd(self.signals.writer, warn_on_full_buffer=False)
        return 0

    cdef int stop_hearing_signals(self) except -1:
        # Arguments that are made already: whatever memory there is, signals must not go to a descriptor that is closed.
        cdef int found = -1
        if self.signals.reader < 0:
            return 0
        try:
            found = signal.set_wakeup_fd(*NO_DESCRIPTOR)
            if found == self.signals.writer:
                found = self.signals.before
            # Or what a signal handler has put there meanwhile.
            if found >= 0:
                signal.set_wakeup_fd(found)
        except (OSError, ValueError):
            # What was to be put back has been closed meanwhile.
            pass
        finally:
            signals_close(&self.signals)
        return 0

    cdef Py_ssize_t open_readers(self) noexcept nogil:
        cdef Py_ssize_t number
        cdef Py_ssize_t open_now = 0
        for number in range(self.count):
            open_now += self.readers[number].state == OPEN
        return open_now

    cdef bint going_on(self) noexcept nogil:
        return self.watching or self.open_readers() > 0

    cdef Event loop(self, long long deadline) except? FAILED nogil:
        cdef Event event
        cdef long long now = monotonic()
        self.signals_seen = now
        while True:
            event = self.wait(self.patience(now, deadline)) if self.going_on() else DONE
            if event == NOTHING:
                event = self.serve(deadline)
            # Before the time is looked at: who asks for what is ready now is to learn that it was the end.
            if event == NOTHING and not self.going_on():
                event = DONE
            if event != NOTHING:
                return event
            now = monotonic()
            if deadline != NEVER and now >= deadline:
                return TIMEOUT
            if self.must_look_for_signals() and now - self.signals_seen >= SIGNALS:
                self.signals_seen = now
                look_for_signals()

    cdef int patience(self, long long now, long long deadline) noexcept nogil:
        # How long to wait for descriptors, in milliseconds; -1: as long as it takes.
        cdef long long milliseconds = -1
        if deadline != NEVER:
            # Rounded up: a wait that ends just before the deadline would be followed by others of 0.
            milliseconds = min(max((deadline - now + 999_999) // 1_000_000, 0), 1_000_000_000)
        if self.watching and self.pidfd < 0 and not 0 <= milliseconds < LOOK:
            milliseconds = LOOK
        if self.must_look_for_signals() and not 0 <= milliseconds < SIGNALS // 1_000_000:
            milliseconds = SIGNALS // 1_000_000
        return <int>milliseconds

    cdef Event wait(self, int milliseconds) except? FAILED nogil:
        # Poll what is open. A negative descriptor is passed over.
        cdef pollfd *entry = self.polled
        cdef Py_ssize_t number
        for number in range(self.count):
            entry.fd = self.readers[number].fd if self.readers[number].state == OPEN else -1
            entry.events = POLLIN
            entry += 1
        entry.fd = self.output
        entry.events = POLLOUT
        entry += 1
        entry.fd = self.pidfd if self.watching else -1
        entry.events = POLLIN
        entry += 1
        entry.fd = self.waker
        entry.events = POLLIN
        entry += 1
        entry.fd = self.signals.reader
        entry.events = POLLIN
        if poll(self.polled, <unsigned long>(self.count + 4), milliseconds) < 0:
            memset(self.polled, 0, (self.count + 4) * sizeof(pollfd))
            if errno == EINTR:
                if self.must_look_for_signals():
                    look_for_signals()
            elif errno != EAGAIN:
                return self.fail(errno)
        elif entry.revents:
            signals_take(&self.signals)
            look_for_signals()
        return NOTHING

    cdef bint must_look_for_signals(self) noexcept nogil:
        return self.sees_signals and self.signals.reader < 0

    cdef Event serve(self, long long deadline) noexcept nogil:
        # Take a turn with each descriptor that is ready. What happened first is said; the rest shows in the next round.
        cdef Event event = NOTHING
        cdef Event answer
        cdef Py_ssize_t number
        for number in range(self.count):
            if self.polled[number].revents:
                answer = self.read_turn(&self.readers[number], deadline)
                if event == NOTHING or answer == FAILED:
                    event = answer
        if event == NOTHING and self.polled[self.count].revents:
            event = self.write_turn()
        if event == NOTHING and self.polled[self.count + 2].revents:
            # Once: what comes now is the end of what it woke from.
            self.waker = -1
            event = WOKEN
        if event == NOTHING and self.watching:
            event = self.look_at_child()
        return event

    cdef Event look_at_child(self) noexcept nogil:
        cdef int ended = self.polled[self.count + 1].revents if self.pidfd >= 0 else child_has_ended(self.pid)
        self.in_vain = self.in_vain + 1 if ended < 0 else 0
        if self.in_vain == IN_VAIN:
            return self.fail(errno)
        if ended <= 0:
            return NOTHING
        self.watching = False
        self.exited = True
        return EXITED if self.open_readers() else DONE

    cdef Event read_turn(self, Reader *reader, long long deadline) noexcept nogil:
        cdef Py_ssize_t size
        cdef int status
        cdef int number
        for number in range(TURN if reader.manner != ONCE else 1):
            # Before reading: what has been read must not be lost for want of memory.
            if (<TextRetainer>reader.retainer).make_room(BLOCK) < 0:
                return self.fail(ENOMEM)
            if number == 0 or reader.manner == NONBLOCKING:
                size = read(reader.fd, self.block, BLOCK)
            else:
                size = read_at_once(reader.fd, self.block, BLOCK)
            if size <= 0:
                status = errno if size < 0 else 0
                (<TextRetainer>reader.retainer).give_room_back(BLOCK)
                if number > 0 and reader.manner == AT_ONCE and status in (EOPNOTSUPP, ENOSYS, EPERM):
                    reader.manner = ONCE
                    return NOTHING
                return self.read_nothing(reader, status)
            reader.nbytes += size
            if self.spilled.fd >= 0 and reader == self.readers:
                spill_block(&self.spilled, self.block, size)
            if (<TextRetainer>reader.retainer).take_block(self.block, size, BLOCK):
                reader.state = STOP_ASKED
                return STOPPED
            if deadline != NEVER and monotonic() >= deadline:
                return NOTHING
        return NOTHING

    cdef Event read_nothing(self, Reader *reader, int error) noexcept nogil:
        # The end, or an error: also the end where a terminal says so that nobody has its other side any more.
        if error == EAGAIN or error == EWOULDBLOCK or error == EINTR:
            return NOTHING
        if error == 0 or (error == EIO and isatty(reader.fd)):
            reader.state = AT_END
            return NOTHING
        reader.state = BROKEN
        return self.fail(error)

    cdef Event write_turn(self) noexcept nogil:
        # POLLOUT promises room for PIPE_BUF bytes only; more would block, for ever if the child waits for us.
        cdef size_t size = self.left if self.output_nonblocking else min(self.left, <size_t>PIPE_BUF)
        cdef Py_ssize_t written = write(self.output, self.rest, size)
        if written < 0:
            if errno == EAGAIN or errno == EWOULDBLOCK or errno == EINTR:
                return NOTHING
            if errno != EPIPE and errno != ECONNRESET:
                self.output = -1
                return self.fail(errno)
            # The child does not want the rest, which is its right.
            written = self.left
        self.rest += written
        self.left -= written
        if self.left:
            return NOTHING
        self.output = -1
        return WRITTEN

    cdef Event fail(self, int error) noexcept nogil:
        self.error = error
        return FAILED


def is_child(pid_t pid, /):
    """Whether a child is there, be it as a zombie: not reaped, so that its pid is its own."""
    return is_child_of_ours(pid)


cdef error_of(int number):
    return OSError(number, strerror(number).decode(errors="replace"))


cdef bint is_thread_of_signals() except -1:
    if PyInterpreterState_Get() != PyInterpreterState_Main():
        return False
    threading = sys.modules.get("threading")
    return threading is None or threading.get_ident() == threading.main_thread().ident


cdef long long monotonic() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <long long>now.tv_sec * 1_000_000_000 + now.tv_nsec


cdef int look_for_signals() except -1 with gil:
    # Runs Python's handlers, and raises what they raise.
    PyErr_CheckSignals()
    return 0
