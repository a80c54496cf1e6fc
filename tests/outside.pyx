# cython: language_level=3, boundscheck=False
"""A module of another project, as the README tells: the window and the UTF-8 functions without the GIL."""

from libc.stdint cimport uint8_t

from retention._utf8 cimport divided_after, divided_before, encode_character
from retention._window cimport (
    CONTEXT,
    Span,
    Window,
    span_copy,
    span_size,
    window_free,
    window_init,
    window_span,
    window_write,
)


def ends(const uint8_t[::1] data not None, size_t step, size_t head_budget, size_t tail_budget):
    """The head and the tail of some bytes that come in steps, cut where no character is divided."""
    cdef Window window
    cdef size_t at = 0
    cdef size_t size = data.shape[0]
    cdef size_t head_stop, tail_start
    cdef int status = 0
    try:
        with nogil:
            window_init(&window, head_budget, tail_budget)
            while at < size and status == 0:
                status = window_write(&window, &data[at], min(step, size - at))
                at += step
        if status < 0:
            raise MemoryError
        if size <= head_budget + tail_budget:
            return part(&window, 0, size), b""
        # Around a budget of 0 the window holds nothing, so no cut is looked at there.
        head_stop = head_budget
        if head_budget:
            head_stop -= divided(&window, head_stop, True)
        tail_start = size - tail_budget
        if tail_budget:
            tail_start += divided(&window, tail_start, False)
        return part(&window, 0, head_stop), part(&window, tail_start, size)
    finally:
        window_free(&window)


def encoded(text: str):
    """A text in UTF-8, character by character."""
    cdef uint8_t block[4]
    return b"".join([block[:encode_character(ord(character), block)] for character in text])


cdef size_t divided(const Window *window, size_t cut, bint before) noexcept nogil:
    cdef uint8_t near[2 * CONTEXT]
    cdef size_t back = min(cut, <size_t>CONTEXT)
    cdef size_t after = min(<size_t>window.seen - cut, <size_t>CONTEXT)
    cdef Span span = window_span(window, cut - back, cut + after)
    span_copy(&span, near)
    return divided_before(near + back, back, after) if before else divided_after(near + back, back, after)


cdef bytes part(const Window *window, size_t start, size_t stop):
    cdef Span span = window_span(window, start, stop)
    cdef bytearray taken = bytearray(span_size(&span))
    span_copy(&span, <uint8_t *><char *>taken)
    return bytes(taken)
