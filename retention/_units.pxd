"""Appending a str to a window by its code units: counted first, and encoded only where it is kept."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t

from retention._lines cimport ChunkLines, Lines, add_lines, measure_lines
from retention._scan cimport scan_utf8_size
from retention._utf8 cimport code_unit, encode_character, encoded_size
from retention._window cimport Window, window_end_head, window_reserve, window_skip, window_write


cdef enum:
    # Bytes encoded at a time, on the stack, before they go into the window.
    BLOCK = 1024


cdef inline void write_characters(Window *window, const code_unit *text, size_t start, size_t stop) noexcept nogil:
    cdef uint8_t block[BLOCK]
    cdef size_t filled = 0
    while start < stop:
        filled += encode_character(text[start], block + filled)
        start += 1
        if filled > BLOCK - 4:
            window_write(window, block, filled)
            filled = 0
    if filled:
        window_write(window, block, filled)


cdef inline void write_encoded(Window *window, const code_unit *text, size_t length, size_t size) noexcept nogil:
    # Appends the `size` bytes of a str's UTF-8, for which room has been reserved: no write can fail. Where more than
    # the window keeps, only the part that fills the head and the part that fills the ring are encoded.
    cdef size_t room = window.head_limit - window.head_size
    cdef size_t front = 0
    cdef size_t back = 0
    cdef size_t start = 0
    cdef size_t stop = length
    # A whole character, of up to 4 bytes, is encoded at either end: 8 to spare keep the two parts from meeting.
    if size > room + window.ring_limit + 8:
        while front < room:
            front += encoded_size(text[start])
            start += 1
        while back < window.ring_limit:
            stop -= 1
            back += encoded_size(text[stop])
        write_characters(window, text, 0, start)
        window_skip(window, size - front - back)
        start = stop
    write_characters(window, text, start, length)


cdef inline Py_ssize_t write_units(Window *window, Lines *lines, const code_unit *text, size_t length) noexcept nogil:
    """Append a str and count its lines, if they are counted. Returns its bytes. -1: no memory, nothing has changed."""
    cdef size_t size = scan_utf8_size(text, length)
    cdef unsigned long long head_budget = window.head_budget
    cdef ChunkLines chunk
    if lines.counted:
        chunk = measure_lines(text, length, False, window, lines)
        if chunk.head_stop:
            window_end_head(window, <size_t>(window.seen + chunk.head_stop))
    if window_reserve(window, size) < 0:
        window_end_head(window, <size_t>head_budget)
        return -1
    if lines.counted:
        add_lines(lines, &chunk)
    write_encoded(window, text, length, size)
    return size
