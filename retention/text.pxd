"""TextRetainer as other modules of the package see it."""

from libc.stdint cimport uint8_t

from retention._cuts cimport Cuts
from retention._lines cimport Lines
from retention._lock cimport Lock
from retention._window cimport Window
from retention.results cimport Omitted, PushDecision


cdef extern from "Python.h":
    int PyUnicode_READY(object text) except -1
    int PyUnicode_KIND(object text) noexcept
    bint PyUnicode_IS_ASCII(object text) noexcept
    void *PyUnicode_DATA(object text) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(object text) noexcept


# The bytes of a str in UTF-8; a lone surrogate counts as U+FFFD.
cdef size_t utf8_size(text) except? 0

cdef struct Facts:
    # What a result says of one moment, beside the text; the lines only where they are counted.
    Cuts cuts
    unsigned long long seen
    unsigned long long seen_lines
    unsigned long long omitted_lines


cdef class TextRetainer:
    cdef Window window
    cdef Lines lines
    # Whether cuts move to the borders of lines.
    cdef readonly bint whole_lines
    # What a chunk with something beyond the budget is answered, and whether that asks to stop.
    cdef PushDecision beyond
    cdef bint stops
    cdef readonly object strategy
    cdef str kind, errors
    # The strategy's budgets for its two ends.
    cdef tuple byte_ends, line_ends

    # How many drains write to the window at this time, without the GIL; changed with it and with the lock. While there
    # are any, whoever reads or writes window, lines and errors holds the lock. Nobody who has it runs Python code or
    # waits for the GIL.
    cdef int drains
    cdef Lock lock
    # The bytes that drains may be reading now: room that was made for them is nobody else's.
    cdef size_t promised

    cdef void begin_drain(self) noexcept
    cdef void end_drain(self) noexcept

    # For drains. Promises room for so many bytes (-1: no memory); takes a promise back; writes what was read into the
    # room that was promised for it, and says whether to stop.
    cdef int make_room(self, size_t size) noexcept nogil
    cdef void give_room_back(self, size_t size) noexcept nogil
    cdef int reserve(self, size_t size) noexcept nogil
    cdef bint take_block(self, const uint8_t *data, size_t size, size_t promised) noexcept nogil

    cdef int feed(self, const uint8_t *data, size_t size) noexcept nogil
    cdef PushDecision decide(self, size_t size)
    cdef PushDecision accept(self, chunk)
    cdef PushDecision write(self, const uint8_t *data, size_t size)
    cdef PushDecision write_locked(self, const uint8_t *data, size_t size)
    cdef PushDecision write_buffer(self, chunk)
    cdef PushDecision write_str(self, chunk)
    cdef int configure(self, errors, whole_lines, count_lines) except -1
    cdef void set(self, str errors, bint whole_lines, bint counted) noexcept
    cdef tuple settings(self)
    cdef tuple held(self)
    cdef int absorb(self, tuple held) except -1
    cdef int check_held(self, tuple held) except -1
    cdef bytes raw(self, unsigned long long start, unsigned long long stop)
    cdef object copied(self, unsigned long long start, unsigned long long stop)
    cdef str decoded(self, part, str errors)
    cdef Facts facts(self)
    cdef Omitted omitted(self, Cuts cuts)
    cdef Omitted omitted_lines(self, Facts facts)
    cdef object limit(self, tuple ends)
