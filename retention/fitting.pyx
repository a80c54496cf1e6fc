"""A whole text brought under one limit, marker included."""

from cpython.unicode cimport PyUnicode_FromObject
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from retention._scan cimport scan_has_surrogates_2, scan_has_surrogates_4
from retention._utf8 cimport code_unit, encoded_size
from retention.results cimport RetainedText, omission
from retention.text cimport PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_IS_ASCII, PyUnicode_KIND, utf8_size

from retention.markers import clause, marker_for
from retention.strategies import budget, real_number, shown


cdef struct Cuts:
    # The head is the text up to the one, the tail the text from the other on, in code points.
    Py_ssize_t head_stop
    Py_ssize_t tail_start


# How often a marker's function is asked before it is given up.
cdef int MOST_CALLS = 8


def fit_text(text, max_bytes, *, head_share=0.5, marker=None, whole_lines=False):
    """Return the text itself if it fits into `max_bytes` bytes of UTF-8, else its head, a marker and its tail in them.

    head_share: the part of what is kept that the head gets, from 0 to 1; the tail gets the rest.
    marker: a string, or a function of the RetainedText that returns one, called at most 8 times: what it says of the
        text beside it is true. By default a line of its own, such as `[Omitted 123 bytes.]`.
    whole_lines: a cut inside a line moves to the line's border, as in a TextRetainer.

    No cut divides a character. A lone surrogate counts, and comes out, as U+FFFD. Where no marker fits, only the head
    is kept (the tail, for a share of 0): the two without a marker between them would read as one text. The result is
    never longer than the limit; the text is not encoded as a whole.

    >>> fit_text("0123456789" * 10, 40)
    '012345678\\n[Omitted 81 bytes.]\\n0123456789'

    Raises:
        TypeError: the text is no string, the limit no integer, the share no number, the marker neither string nor
            function of one.
        ValueError: the limit is negative, or the share not from 0 to 1.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {shown(text)}")
    if type(max_bytes) is not int or max_bytes < 0:
        max_bytes = budget("max_bytes", max_bytes)
    share = head_share
    if type(share) is not float:
        try:
            share = real_number(head_share)
        except (TypeError, ValueError):
            raise TypeError(f"head_share must be a number from 0 to 1, got {shown(head_share)}") from None
    if not 0 <= share <= 1:
        raise ValueError(f"head_share must be from 0 to 1, got {shown(head_share)}")
    if utf8_size(text) <= max_bytes:
        return without_surrogates(text)
    text = PyUnicode_FromObject(text)
    if marker is None:
        fitted = with_omission_clause(text, max_bytes, share, whole_lines)
    else:
        fitted = with_marker(text, max_bytes, share, whole_lines, marker)
    if fitted is None:
        # No marker fits.
        cuts = cuts_within(text, max_bytes, 0 if share == 0 else 1, whole_lines)
        fitted = text[:cuts.head_stop] + text[cuts.tail_start:]
    return without_surrogates(fitted)


cdef object with_omission_clause(str text, size_t limit, double share, bint whole_lines):
    # The smallest reserve that the default marker fits into. Its length depends on the count, which is never below
    # what exceeds the limit, and on the characters at the cuts: from the least that it can be, each is tried.
    cdef Cuts cuts
    cdef unsigned long long size = utf8_size(text)
    cdef unsigned long long omitted
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text)
    cdef bint before, after
    cdef size_t reserve = CLAUSE_SIZE + digits(size - limit)
    while reserve <= limit:
        cuts = cuts_within(text, limit - reserve, share, whole_lines)
        omitted = size - kept_size(text, cuts)
        # The newlines that put the clause on a line of its own, as for any marker.
        before = cuts.head_stop > 0 and text[cuts.head_stop - 1] != "\n"
        after = cuts.tail_start < length and text[cuts.tail_start] != "\n"
        if before + CLAUSE_SIZE + digits(omitted) + after <= reserve:
            return "".join((
                text[:cuts.head_stop],
                "\n" if before else "",
                omission_clause(omitted),
                "\n" if after else "",
                text[cuts.tail_start:],
            ))
        reserve += 1
    return None


cdef size_t digits(unsigned long long number) noexcept:
    cdef size_t count = 1
    while number > 9:
        number //= 10
        count += 1
    return count


cdef object with_marker(str text, size_t limit, double share, bint whole_lines, marker):
    # What was too little for a marker that says less is omitted is too little for one that says more is: the next try
    # reserves what the last marker needed. A function whose answers keep growing is given up.
    cdef RetainedText result
    cdef Cuts cuts
    cdef unsigned long long size = utf8_size(text)
    cdef size_t needed
    cdef size_t reserve = utf8_size(marker) if isinstance(marker, str) else 0
    for _ in range(MOST_CALLS):
        if reserve > limit:
            return None
        cuts = cuts_within(text, limit - reserve, share, whole_lines)
        head = without_surrogates(text[:cuts.head_stop])
        tail = without_surrogates(text[cuts.tail_start:])
        omitted = omission(size - kept_size(text, cuts), False)
        result = RetainedText(head + tail, head, tail, True, omitted, size)
        words = marker_for(result, marker)
        needed = utf8_size(words)
        if needed <= reserve:
            return head + words + tail
        reserve = needed
    return None


cdef str omission_clause(unsigned long long nbytes):
    return clause(omission(nbytes, False), "bytes")


# Without its number, which is never 1: the marker alone displaces more.
cdef size_t CLAUSE_SIZE = len(omission_clause(10)) - 2


cdef Cuts cuts_within(str text, size_t room, double share, bint whole_lines):
    # The longest head and tail that together have at most `room` bytes in UTF-8.
    cdef size_t head_room = min(room, <size_t>(room * share))
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text)
    cdef Py_ssize_t line
    cdef const void *data = PyUnicode_DATA(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef Cuts cuts
    if PyUnicode_IS_ASCII(text):
        cuts.head_stop = head_room
        cuts.tail_start = length - (room - head_room)
    elif kind == 1:
        cuts = unit_cuts(<const uint8_t *>data, length, head_room, room - head_room)
    elif kind == 2:
        cuts = unit_cuts(<const uint16_t *>data, length, head_room, room - head_room)
    else:
        cuts = unit_cuts(<const uint32_t *>data, length, head_room, room - head_room)
    if whole_lines:
        cuts.head_stop = text.rfind("\n", 0, cuts.head_stop) + 1 or cuts.head_stop
        # The text does not fit, so something lies before the tail, also where that is empty.
        if text[cuts.tail_start - 1] != "\n":
            line = text.find("\n", cuts.tail_start) + 1
            if 0 < line < length:
                cuts.tail_start = line
        # And no CR LF is divided, whatever that leaves.
        if text[:cuts.head_stop].endswith("\r") and text.startswith("\n", cuts.head_stop):
            cuts.head_stop -= 1
        if text[cuts.tail_start - 1] == "\r" and text.startswith("\n", cuts.tail_start):
            cuts.tail_start += 1
    return cuts


cdef Cuts unit_cuts(const code_unit *text, Py_ssize_t length, size_t head_room, size_t tail_room) noexcept nogil:
    cdef Cuts cuts
    cuts.head_stop = 0
    cuts.tail_start = length
    # The text does not fit into the two together, so neither walk leaves it.
    while encoded_size(text[cuts.head_stop]) <= head_room:
        head_room -= encoded_size(text[cuts.head_stop])
        cuts.head_stop += 1
    while encoded_size(text[cuts.tail_start - 1]) <= tail_room:
        cuts.tail_start -= 1
        tail_room -= encoded_size(text[cuts.tail_start])
    return cuts


cdef size_t kept_size(str text, Cuts cuts):
    if PyUnicode_IS_ASCII(text):
        return cuts.head_stop + (PyUnicode_GET_LENGTH(text) - cuts.tail_start)
    return utf8_size(text[:cuts.head_stop]) + utf8_size(text[cuts.tail_start:])


cdef object without_surrogates(text):
    # The text itself where it has none, as nearly all have.
    cdef size_t length = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    if kind == 2 and scan_has_surrogates_2(<const uint16_t *>PyUnicode_DATA(text), length) or (
        kind == 4 and scan_has_surrogates_4(<const uint32_t *>PyUnicode_DATA(text), length)
    ):
        # No comprehension: those of Cython 3.3 give an item back twice where there is no memory for a longer list.
        characters = []
        for character in text:
            characters.append("\ufffd" if "\ud800" <= character <= "\udfff" else character)
        return "".join(characters)
    return text
