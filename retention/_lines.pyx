"""Writing and finding lines. The interface, and the counters, are in _lines.pxd."""

from retention._scan cimport scan_after_newline, scan_newlines
from retention._window cimport window_end_head, window_skip, window_span, window_write


cdef int write_lines(Window *window, Lines *lines, const uint8_t *data, size_t size) noexcept nogil:
    cdef ChunkLines chunk = measure_lines(data, size, True, window, lines)
    cdef unsigned long long head_budget = window.head_budget
    if chunk.head_stop:
        window_end_head(window, <size_t>(window.seen + chunk.head_stop))
    if window_write(window, data, size) < 0:
        window_end_head(window, <size_t>head_budget)
        return -1
    add_lines(lines, &chunk)
    return 0


cdef unsigned long long lines_in(const Span *span) noexcept nogil:
    return (
        scan_newlines(span.piece[0], span.size[0])
        + scan_newlines(span.piece[1], span.size[1])
        + scan_newlines(span.piece[2], span.size[2])
    )


cdef unsigned long long after_line(const Span *span, unsigned long long number) noexcept nogil:
    cdef unsigned long long before = 0
    cdef unsigned long long newlines
    cdef int i
    for i in range(2):
        newlines = scan_newlines(span.piece[i], span.size[i])
        if newlines >= number:
            return before + scan_after_newline(span.piece[i], span.size[i], <size_t>number)
        before += span.size[i]
        number -= newlines
    return before + scan_after_newline(span.piece[2], span.size[2], <size_t>number)


cdef unsigned long long tail_of_lines(
    const Window *window, const Lines *lines, unsigned long long start
) noexcept nogil:
    cdef Span span = window_span(window, start, window.seen)
    # The lines that begin after `start`.
    cdef unsigned long long begun = lines_in(&span)
    if begun and lines.ends_line:
        begun -= 1
    if begun < lines.tail_budget:
        return start
    return start + after_line(&span, begun - lines.tail_budget + 1)


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
) noexcept nogil:
    cdef ChunkLines chunk
    if lines.counted:
        if first_size:
            chunk = measure_lines(first, first_size, True, window, lines)
        else:
            chunk.in_head = chunk.head_stop = 0
        chunk.newlines = newlines
        chunk.ends_line = ends_line
        if chunk.head_stop:
            window_end_head(window, <size_t>(window.seen + chunk.head_stop))
        add_lines(lines, &chunk)
    if first_size:
        window_write(window, first, first_size)
    window_skip(window, seen - first_size - last_size)
    if last_size:
        window_write(window, last, last_size)
