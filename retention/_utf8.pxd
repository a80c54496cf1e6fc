"""UTF-8 over plain memory: where characters end, and writing them. No GIL, no allocation, no failure.

A character is a well-formed sequence of the Unicode Standard, section 3.9, Table 3-7.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t

# The code units of a str, by its kind (PEP 393).
ctypedef fused code_unit:
    uint8_t
    uint16_t
    uint32_t


cdef inline size_t character_size(const uint8_t *text, size_t size) noexcept nogil:
    """The length of the character that `text` begins with: a whole one within `size` bytes, or one that the end of
    `text` breaks off, with the length that it would have had. 0 where no character begins. `size` is at least 1."""
    cdef uint8_t lead = text[0]
    # The range of the second byte is where Table 3-7 shuts out overlong forms, surrogates and what is above U+10FFFF.
    cdef uint8_t low = 0x80
    cdef uint8_t high = 0xBF
    cdef size_t length, i
    if lead < 0x80:
        return 1
    elif lead < 0xC2:
        return 0
    elif lead < 0xE0:
        length = 2
    elif lead < 0xF0:
        length = 3
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:
            high = 0x9F
    elif lead < 0xF5:
        length = 4
        if lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
    else:
        return 0
    if size > 1 and not low <= text[1] <= high:
        return 0
    for i in range(2, min(length, size)):
        if text[i] & 0xC0 != 0x80:
            return 0
    return length


cdef inline size_t divided_before(const uint8_t *cut, size_t before, size_t after) noexcept nogil:
    """How many bytes before `cut` belong to a character that goes on after it: 0 where the cut divides none.

    `before` and `after` bytes can be read on the two sides. 3 of each are enough, fewer only at the stream's ends.
    """
    cdef size_t back
    if after == 0:
        return 0
    for back in range(1, min(before, <size_t>3) + 1):
        if cut[-<Py_ssize_t>back] & 0xC0 != 0x80:
            return back if character_size(cut - back, back + after) > back else 0
    return 0


cdef inline size_t divided_after(const uint8_t *cut, size_t before, size_t after) noexcept nogil:
    """How many bytes after `cut` belong to a character that began before it: 0 where the cut divides none."""
    cdef size_t back = divided_before(cut, before, after)
    if back == 0:
        return 0
    # Its first byte tells how long it is; those after it have been looked at.
    return min(character_size(cut - back, 1) - back, after)


cdef inline size_t encoded_size(uint32_t character) noexcept nogil:
    """The bytes of a code point in UTF-8; those of U+FFFD, just as many, for a lone surrogate."""
    return 1 + (character > 0x7F) + (character > 0x7FF) + (character > 0xFFFF)


cdef inline size_t encode_character(uint32_t character, uint8_t *to) noexcept nogil:
    """Write a code point as UTF-8, a lone surrogate as U+FFFD. Returns the number of bytes, at most 4."""
    if character < 0x80:
        to[0] = <uint8_t>character
        return 1
    if character < 0x800:
        to[0] = <uint8_t>(0xC0 | character >> 6)
        to[1] = <uint8_t>(0x80 | character & 0x3F)
        return 2
    if character < 0x10000:
        if character & 0xF800 == 0xD800:
            character = 0xFFFD
        to[0] = <uint8_t>(0xE0 | character >> 12)
        to[1] = <uint8_t>(0x80 | character >> 6 & 0x3F)
        to[2] = <uint8_t>(0x80 | character & 0x3F)
        return 3
    to[0] = <uint8_t>(0xF0 | character >> 18)
    to[1] = <uint8_t>(0x80 | character >> 12 & 0x3F)
    to[2] = <uint8_t>(0x80 | character >> 6 & 0x3F)
    to[3] = <uint8_t>(0x80 | character & 0x3F)
    return 4
