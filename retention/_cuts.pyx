"""Finding the cuts. The interface is in _cuts.pxd."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t

from retention._lines cimport after_line, lines_in, tail_of_lines
from retention._utf8 cimport divided_after, divided_before
from retention._window cimport CONTEXT, Span, span_copy, window_span


cdef Cuts exact_cuts(const Window *window, const Lines *lines, bint all_tail) noexcept nogil:
    cdef Cuts cuts
    if not is_truncated(window, lines):
        cuts.head_stop = cuts.tail_start = 0 if all_tail else window.seen
        return cuts
    cuts.head_stop = window.head_budget
    cuts.tail_start = window.seen - min(window.tail_budget, window.seen - window.head_budget)
    if lines.counted:
        cuts.tail_start = tail_of_lines(window, lines, cuts.tail_start)
    return cuts


cdef Cuts moved_cuts(const Window *window, Cuts cuts, bint whole_lines) noexcept nogil:
    if cuts.head_stop < cuts.tail_start:
        if cuts.head_stop:
            cuts.head_stop = head_cut(window, cuts.head_stop, whole_lines)
        if cuts.tail_start < window.seen:
            cuts.tail_start = tail_cut(window, cuts.tail_start, whole_lines)
    return cuts


cdef unsigned long long head_cut(const Window *window, unsigned long long cut, bint whole_lines) noexcept nogil:
    cdef uint8_t near[2 * CONTEXT]
    cdef size_t before = near_cut(window, cut, near)
    cdef Span head
    cdef unsigned long long newlines
    cut -= divided_before(near + before, before, after_cut(window, cut))
    if whole_lines and cut:
        head = window_span(window, 0, cut)
        newlines = lines_in(&head)
        if newlines:
            return after_line(&head, newlines)
        if divides_crlf(window, cut):
            cut -= 1
    return cut


cdef unsigned long long tail_cut(const Window *window, unsigned long long cut, bint whole_lines) noexcept nogil:
    cdef uint8_t near[2 * CONTEXT]
    cdef size_t before = near_cut(window, cut, near)
    cdef Span tail
    cdef unsigned long long line
    cut += divided_after(near + before, before, after_cut(window, cut))
    if whole_lines and cut < window.seen and byte_at(window, cut - 1) != c'\n':
        tail = window_span(window, cut, window.seen)
        if lines_in(&tail):
            line = cut + after_line(&tail, 1)
            if line < window.seen:
                return line
        if divides_crlf(window, cut):
            cut += 1
    return cut


cdef unsigned long long lines_between(const Window *window, const Lines *lines, Cuts cuts) noexcept nogil:
    cdef Span head, tail
    cdef unsigned long long between
    cdef bint begins_line
    if cuts.head_stop == cuts.tail_start:
        return 0
    head = window_span(window, 0, cuts.head_stop)
    tail = window_span(window, cuts.tail_start, window.seen)
    # Every newline there ends a line; the first, one that began in the head if the cut is inside it; and what the last
    # one leaves is a line if it is not empty, unless it reaches into the tail.
    between = lines.newlines - lines_in(&head) - lines_in(&tail)
    begins_line = cuts.head_stop == 0 or byte_at(window, cuts.head_stop - 1) == c'\n'
    if cuts.tail_start == window.seen and not lines.ends_line:
        between += 1
    if between and not begins_line:
        between -= 1
    return between


cdef bint divides_crlf(const Window *window, unsigned long long cut) noexcept nogil:
    return byte_at(window, cut - 1) == c'\r' and byte_at(window, cut) == c'\n'


cdef uint8_t byte_at(const Window *window, unsigned long long position) noexcept nogil:
    cdef Span span = window_span(window, position, position + 1)
    return span.piece[0][0] if span.size[0] else span.piece[1][0]


cdef size_t after_cut(const Window *window, unsigned long long cut) noexcept nogil:
    return <size_t>min(window.seen - cut, <unsigned long long>CONTEXT)


cdef size_t near_cut(const Window *window, unsigned long long cut, uint8_t *near) noexcept nogil:
    # Copies the bytes around a cut, as many as tell whether it divides a character. Returns those before it.
    cdef size_t before = <size_t>min(cut, <unsigned long long>CONTEXT)
    cdef Span span = window_span(window, cut - before, cut + after_cut(window, cut))
    span_copy(&span, near)
    return before
