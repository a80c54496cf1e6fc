"""Where the head of a stream in a window stops and where its tail starts, and what lies between. No GIL, no failure."""

from retention._lines cimport Lines, lines_exceed
from retention._window cimport Window


cdef struct Cuts:
    # The head is the stream up to the one, the tail the stream from the other on; equal where nothing is omitted.
    unsigned long long head_stop
    unsigned long long tail_start


cdef inline bint is_truncated(const Window *window, const Lines *lines) noexcept nogil:
    """Whether anything has been omitted because of the budgets."""
    return window.seen > window.budget or (lines.counted and lines_exceed(lines))


# The longest head and tail within the budgets, whatever the cuts divide. Where nothing is omitted, all is tail or head.
cdef Cuts exact_cuts(const Window *window, const Lines *lines, bint all_tail) noexcept nogil

# Cuts moved off the characters that they divide, and on request off lines.
cdef Cuts moved_cuts(const Window *window, Cuts cuts, bint whole_lines) noexcept nogil

# The lines that lie wholly between the cuts.
cdef unsigned long long lines_between(const Window *window, const Lines *lines, Cuts cuts) noexcept nogil
