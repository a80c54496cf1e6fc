"""Budgets and counts in lines, beside a window: counters that pushing keeps, so that no newline is looked for twice.

A line ends with a newline; a last piece without one is a line if it is not empty.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t

from retention._scan cimport scan_after_newline, scan_newlines
from retention._utf8 cimport code_unit, encoded_size
from retention._window cimport Span, Window


cdef struct Lines:
    # Whether anybody asked for lines. Otherwise nothing below is touched.
    bint counted
    # How many more newlines fill the head, and how many lines the tail may have; more than any stream has where there
    # is no budget.
    unsigned long long head_left
    unsigned long long tail_budget
    # The stream's newlines, and those of them that are beyond the head.
    unsigned long long newlines
    unsigned long long beyond
    # Whether the next byte begins a line.
    bint ends_line


cdef struct ChunkLines:
    unsigned long long newlines
    # Those within the head; the byte after the one that fills it, counted from the chunk's first, or 0.
    size_t in_head
    size_t head_stop
    bint ends_line


cdef inline ChunkLines measure_lines(
    const code_unit *text, size_t length, bint utf8, const Window *window, const Lines *lines
) noexcept nogil:
    """Count a chunk's newlines before it is written. `utf8`: the units are bytes of the stream, not characters."""
    cdef ChunkLines chunk
    cdef unsigned long long room = window.head_budget - window.seen if window.seen < window.head_budget else 0
    cdef unsigned long long nbytes = 0
    cdef size_t i
    chunk.newlines = scan_newlines(text, length)
    chunk.in_head = 0
    chunk.head_stop = 0
    chunk.ends_line = text[length - 1] == c'\n'
    if room == 0 or chunk.newlines == 0:
        return chunk
    if code_unit is uint8_t:
        if utf8:
            length = <size_t>min(room, <unsigned long long>length)
            chunk.in_head = scan_newlines(text, length)
            if chunk.in_head >= lines.head_left:
                chunk.in_head = <size_t>lines.head_left
                chunk.head_stop = scan_after_newline(text, length, chunk.in_head)
            return chunk
    for i in range(length):
        nbytes += encoded_size(text[i])
        if nbytes > room:
            break
        if text[i] == c'\n':
            chunk.in_head += 1
            if chunk.in_head == lines.head_left:
                chunk.head_stop = <size_t>nbytes
                break
    return chunk


cdef inline void add_lines(Lines *lines, const ChunkLines *chunk) noexcept nogil:
    """Take a written chunk's newlines into account."""
    lines.newlines += chunk.newlines
    lines.beyond += chunk.newlines - chunk.in_head
    lines.head_left -= chunk.in_head
    lines.ends_line = chunk.ends_line


# Appends `size` bytes, at least one, and counts their lines. -1: no memory, nothing has changed.
cdef int write_lines(Window *window, Lines *lines, const uint8_t *data, size_t size) noexcept nogil

# Appends a stream of `seen` bytes by its ends, and counts its lines. Where something lies between the two, they are as
# long as a window of the same budgets holds: one fills the head, the other the ring. Room has been reserved for both,
# wherever the head ends.
cdef void write_ends(
    Window *window,
    Lines *lines,
    const uint8_t *first,
    size_t first_size,
    const uint8_t *last,
    size_t last_size,
    unsigned long long seen,
    unsigned long long newlines,
    bint ends_line,
) noexcept nogil

# The newlines in a part of the stream.
cdef unsigned long long lines_in(const Span *span) noexcept nogil

# How far into a part of the stream the newline of this number ends, counted from 1. There must be as many.
cdef unsigned long long after_line(const Span *span, unsigned long long number) noexcept nogil

# Where the longest suffix begins that starts at `start` or later and has no more lines than the tail may have.
cdef unsigned long long tail_of_lines(
    const Window *window, const Lines *lines, unsigned long long start
) noexcept nogil


cdef inline bint lines_exceed(const Lines *lines) noexcept nogil:
    """Whether more lines begin after the head than the tail may have. A newline that ends the stream begins none."""
    return lines.beyond != 0 and lines.beyond - lines.ends_line >= lines.tail_budget
