"""What retainers answer. Only retainers make these without their constructors, by setting every field."""


cdef class Record:
    cdef tuple values(self)


cdef class PushDecision(Record):
    cdef readonly bint kept, truncated, should_stop


# The one decision of these values that all retainers answer with.
cpdef PushDecision shared_decision(bint kept, bint truncated, bint should_stop)


cdef class Omitted(Record):
    cdef readonly str kind
    cdef readonly object count


cdef class RetainedText(Record):
    cdef readonly str text, head, tail
    cdef readonly bint truncated
    cdef readonly Omitted omitted_bytes
    cdef readonly object seen_bytes, seen_lines
    cdef readonly Omitted omitted_lines


cdef class RetainedBytes(Record):
    cdef readonly bytes head, tail
    cdef readonly bint truncated
    cdef readonly Omitted omitted_bytes
    cdef readonly object seen_bytes


cdef class RetainedItems(Record):
    cdef readonly list items, head, tail
    cdef readonly bint truncated
    cdef readonly Omitted omitted
    cdef readonly object seen, kept


# What a retainer left out: nothing for 0, else a count that is exact, or a lower bound where it stops early.
cdef Omitted omission(unsigned long long count, bint at_least)
