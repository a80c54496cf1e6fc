"""The prefix/suffix accumulator: the first and the last bytes of a stream of any length, in bounded memory.

A C struct and free functions over it. They need no GIL, hold no Python object, know nothing of text, and take no
lock: whoever shares a window between threads serialises the calls.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy


cdef enum:
    # Held beyond each budget: a character of 4 bytes that a cut divides has at most 3 on the far side of it.
    CONTEXT = 3


cdef struct Window:
    # The stream's first bytes; filled once, grown by doubling.
    unsigned char *head
    size_t head_size
    size_t head_alloc
    # The head budget and its context; 0 for a budget of 0, where no cut is looked at.
    size_t head_limit

    # The newest of the bytes that came after the head; grown by doubling, a ring once `ring_alloc` is `ring_limit`.
    unsigned char *ring
    # Where the next byte goes. Until the ring is full it is also the number of bytes held; then it is the oldest.
    size_t ring_at
    size_t ring_alloc
    # The tail budget and its context; 0 for a budget of 0.
    size_t ring_limit

    # How much of the two is kept for its own sake, and both together.
    unsigned long long head_budget
    unsigned long long tail_budget
    unsigned long long budget

    # The stream's length in bytes, kept or not.
    unsigned long long seen


cdef struct Span:
    # Bytes of the stream that follow one another, in at most three pieces of memory: the end of the head, the
    # older and the newer part of the ring. Good until the window is written to.
    const unsigned char *piece[3]
    size_t size[3]


# An empty window. Budgets are limits: nothing is allocated before it is needed.
cdef void window_init(Window *window, size_t head_budget, size_t tail_budget) noexcept nogil

# Moves the end of the head, where no byte beyond either end has been written.
cdef void window_end_head(Window *window, size_t head_budget) noexcept nogil

# Gives the memory back. The window may be freed again, or initialised.
cdef void window_free(Window *window) noexcept nogil

# Makes room for the next `size` bytes, so that writing them cannot fail. -1: no memory, nothing has changed.
cdef int window_reserve(Window *window, size_t size) noexcept nogil

# The same for bytes that all go to the ring, as they do where the head ends early.
cdef int window_reserve_ring(Window *window, size_t size) noexcept nogil

# Appends bytes for which the fast path of `window_write` has no room. -1: no memory, nothing has changed.
cdef int window_write_slow(Window *window, const unsigned char *data, size_t size) noexcept nogil

# Counts `size` bytes of the stream without being shown them. The head must be full, room be reserved, and at least
# `ring_limit` further bytes be written before anything is read.
cdef void window_skip(Window *window, unsigned long long size) noexcept nogil

# The bytes from `start` up to `stop`, positions in the stream; all of them must be held.
cdef Span window_span(const Window *window, unsigned long long start, unsigned long long stop) noexcept nogil


cdef inline void copy_bytes(unsigned char *to, const unsigned char *source, size_t size) noexcept nogil:
    if size - 16 <= 48:
        # Short lines, without a call: 16 bytes from each end, then the 16 inside those; they overlap as needed.
        memcpy(to, source, 16)
        memcpy(to + size - 16, source + size - 16, 16)
        if size > 32:
            memcpy(to + 16, source + 16, 16)
            memcpy(to + size - 32, source + size - 32, 16)
        return
    # glibc copies 4 KiB and more by `rep movsb`, which some processors run 20 times slower where the target lies
    # 1 to 31 bytes behind the source within a page; a ring's position meets that by chance. Small blocks avoid it.
    if size >= 2048 and ((<uintptr_t>to - <uintptr_t>source) & 4095) - 1 < <uintptr_t>31:
        while size > 256:
            memcpy(to, source, 256)
            to += 256
            source += 256
            size -= 256
    memcpy(to, source, size)


cdef inline int window_write(Window *window, const unsigned char *data, size_t size) noexcept nogil:
    """Append `size` bytes to the stream. -1: no memory, nothing has changed."""
    if window.head_size == window.head_limit:
        if size < window.ring_alloc - window.ring_at:
            copy_bytes(window.ring + window.ring_at, data, size)
            window.ring_at += size
            window.seen += size
            return 0
        if window.ring_limit == 0:
            window.seen += size
            return 0
    return window_write_slow(window, data, size)


cdef inline size_t span_size(const Span *span) noexcept nogil:
    return span.size[0] + span.size[1] + span.size[2]


cdef inline void span_copy(const Span *span, unsigned char *to) noexcept nogil:
    cdef int i
    for i in range(3):
        if span.size[i]:
            copy_bytes(to, span.piece[i], span.size[i])
            to += span.size[i]
