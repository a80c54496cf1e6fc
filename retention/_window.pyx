"""The slow half of the prefix/suffix accumulator: growing, wrapping, reading. The interface is in _window.pxd."""

cimport cython
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.string cimport memset


cdef enum:
    # The first allocation, so that small chunks do not begin by growing byte by byte.
    SMALLEST = 256


cdef void window_init(Window *window, size_t head_budget, size_t tail_budget) noexcept nogil:
    memset(window, 0, sizeof(Window))
    window.tail_budget = tail_budget
    window.ring_limit = tail_budget + CONTEXT if tail_budget else 0
    window_end_head(window, head_budget)


cdef void window_end_head(Window *window, size_t head_budget) noexcept nogil:
    window.head_budget = head_budget
    window.budget = window.head_budget + window.tail_budget
    window.head_limit = head_budget + CONTEXT if head_budget else 0


cdef void window_free(Window *window) noexcept nogil:
    PyMem_RawFree(window.head)
    PyMem_RawFree(window.ring)
    memset(window, 0, sizeof(Window))


cdef int grow(unsigned char **memory, size_t *alloc, size_t needed, size_t limit) noexcept nogil:
    # At least doubles, so that many small chunks cost linear time; never beyond the limit.
    cdef size_t size
    cdef void *grown
    if needed <= alloc[0]:
        return 0
    size = min(limit, max(needed, 2 * alloc[0], <size_t>SMALLEST))
    grown = PyMem_RawRealloc(memory[0], size)
    if grown == NULL:
        return -1
    memory[0] = <unsigned char *>grown
    alloc[0] = size
    return 0


cdef int window_reserve(Window *window, size_t size) noexcept nogil:
    cdef size_t to_head = min(size, window.head_limit - window.head_size)
    if grow(&window.head, &window.head_alloc, window.head_size + to_head, window.head_limit) < 0:
        return -1
    return window_reserve_ring(window, size - to_head)


cdef int window_reserve_ring(Window *window, size_t size) noexcept nogil:
    cdef size_t needed
    # Once the ring has all of its memory there is nothing left to reserve; until then `ring_at` is what it holds.
    if window.ring_alloc == window.ring_limit or size == 0:
        return 0
    needed = window.ring_limit if size >= window.ring_limit - window.ring_at else window.ring_at + size
    return grow(&window.ring, &window.ring_alloc, needed, window.ring_limit)


cdef void ring_write(Window *window, const unsigned char *data, size_t size) noexcept nogil:
    # Room has been reserved. Of a chunk larger than the ring only the end is copied, once.
    cdef size_t first
    if size >= window.ring_limit:
        copy_bytes(window.ring, data + (size - window.ring_limit), window.ring_limit)
        window.ring_at = 0
        return
    first = min(size, window.ring_alloc - window.ring_at)
    copy_bytes(window.ring + window.ring_at, data, first)
    window.ring_at += first
    if window.ring_at == window.ring_limit:
        copy_bytes(window.ring, data + first, size - first)
        window.ring_at = size - first


cdef int window_write_slow(Window *window, const unsigned char *data, size_t size) noexcept nogil:
    cdef size_t to_head = min(size, window.head_limit - window.head_size)
    if window_reserve(window, size) < 0:
        return -1
    if to_head:
        copy_bytes(window.head + window.head_size, data, to_head)
        window.head_size += to_head
    if window.ring_limit and size > to_head:
        ring_write(window, data + to_head, size - to_head)
    window.seen += size
    return 0


cdef void window_skip(Window *window, unsigned long long size) noexcept nogil:
    window.seen += size


# Tracing would make a Python object of what it returns, and take its pieces for strings that a NUL ends.
@cython.profile(False)
@cython.linetrace(False)
cdef Span window_span(const Window *window, unsigned long long start, unsigned long long stop) noexcept nogil:
    cdef Span span
    cdef size_t back, at
    memset(&span, 0, sizeof(Span))
    if start < window.head_size:
        span.piece[0] = window.head + start
        span.size[0] = <size_t>(min(stop, <unsigned long long>window.head_size) - start)
        start += span.size[0]
    if start < stop:
        # Counted back from the newest byte, which lies just before `ring_at`.
        back = <size_t>(window.seen - start)
        at = window.ring_at - back if back <= window.ring_at else window.ring_at + window.ring_alloc - back
        span.piece[1] = window.ring + at
        span.size[1] = min(<size_t>(stop - start), window.ring_alloc - at)
        span.piece[2] = window.ring
        span.size[2] = <size_t>(stop - start) - span.size[1]
    return span
