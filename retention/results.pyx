"""What retainers answer: immutable values with equality, hash, repr, pattern matching and pickling.

Extension classes, because a frozen dataclass takes as long to create as 16 KiB of text to decode.
"""

cimport cython
from cpython.number cimport PyIndex_Check, PyNumber_Index


from retention.strategies import shown


cdef object integer(str name, value):
    if type(value) is bool or not PyIndex_Check(value):
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
    return PyNumber_Index(value)


cdef class Record:
    # Fields that cannot be set, compared and shown in the order of the constructor's arguments.

    __match_args__ = ()

    cdef tuple values(self):
        raise NotImplementedError

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return self is other or self.values() == (<Record>other).values()

    def __hash__(self):
        return hash((type(self), self.values()))

    def __repr__(self):
        names = type(self).__match_args__
        fields = ", ".join(map("{}={!r}".format, names, self.values()))
        return f"{type(self).__name__}({fields})"

    def __reduce__(self):
        return type(self), self.values()


@cython.final
@cython.no_gc
cdef class PushDecision(Record):
    """PushDecision(kept, truncated, should_stop)\n--\n
    What became of one pushed chunk or item.

    kept: the chunk was empty, or nothing has been omitted so far.
    truncated: something has been omitted so far, because of the budget. It says nothing about the source.
    should_stop: the caller asked to be told when the budget is full, and this push went beyond it.

    Retainers, copying and unpickling hand out one shared object for each combination.
    """

    __match_args__ = ("kept", "truncated", "should_stop")

    def __cinit__(self, bint kept, bint truncated, bint should_stop):
        self.kept = kept
        self.truncated = truncated
        self.should_stop = should_stop

    cdef tuple values(self):
        return self.kept, self.truncated, self.should_stop

    def __reduce__(self):
        return shared_decision, self.values()


cdef dict decisions = {}


cpdef PushDecision shared_decision(bint kept, bint truncated, bint should_stop):
    cdef tuple key = (kept, truncated, should_stop)
    return decisions.setdefault(key, PushDecision(kept, truncated, should_stop))


@cython.final
@cython.no_gc
cdef class Omitted(Record):
    """Omitted(kind, count=None)\n--\n
    How much was left out, in the unit of the field that holds it.

    kind: "none"; "exact"; "at_least", where the source was stopped early; "unknown", where nobody counted.
    count: 1 or more for "exact" and "at_least"; 0 for "none" and None for "unknown", where it may be left out.

    False when nothing was omitted. The sum of two says what both together left out: "none" changes nothing, two
    exact counts stay exact, "unknown" makes the sum unknown, and what remains is a lower bound.

    Raises ValueError for another kind or a count that does not go with it, TypeError for one that is no integer.
    """

    __match_args__ = ("kind", "count")

    def __cinit__(self, str kind not None, count=None):
        self.kind = kind
        if kind == "exact" or kind == "at_least":
            if count is None:
                raise ValueError(f"count is required for Omitted({kind!r}): an integer of 1 or more")
            self.count = integer("count", count)
            if self.count < 1:
                raise ValueError(f"count must be 1 or more for Omitted({kind!r}), got {shown(count)}")
        elif kind == "none":
            self.count = 0
            if count is not None and integer("count", count) != 0:
                raise ValueError(f"count must be 0 or left out for Omitted('none'), got {shown(count)}")
        elif kind == "unknown":
            if count is not None:
                raise ValueError(f"count must be None or left out for Omitted('unknown'), got {shown(count)}")
        else:
            raise ValueError(f"kind must be 'none', 'exact', 'at_least' or 'unknown', got {shown(kind)}")

    cdef tuple values(self):
        return self.kind, self.count

    def __bool__(self):
        return self.kind != "none"

    def __add__(self, other):
        if type(self) is not Omitted or type(other) is not Omitted:
            return NotImplemented
        return add_omitted(self, other)


cdef Omitted add_omitted(Omitted one, Omitted other):
    if not one:
        return other
    if not other:
        return one
    if one.kind == "unknown":
        return one
    if other.kind == "unknown":
        return other
    return Omitted("exact" if one.kind == other.kind == "exact" else "at_least", one.count + other.count)


cdef Omitted NONE = Omitted("none")
cdef Omitted UNKNOWN = Omitted("unknown")


cdef Omitted omission(unsigned long long count, bint at_least):
    cdef Omitted omitted
    if count == 0:
        return NONE
    omitted = Omitted.__new__(Omitted, "at_least" if at_least else "exact", count)
    return omitted


@cython.final
@cython.no_gc
cdef class RetainedText(Record):
    """RetainedText(text, head, tail, truncated, omitted_bytes, seen_bytes, seen_lines=None, omitted_lines=...)\n--\n
    The kept text of a stream, and what it lacks.

    text: head + tail. Where nothing was omitted, all of it is in `head` (in `tail`, for a tail strategy).
    truncated: something was omitted because of the budget. It never means that the source was incomplete.
    omitted_bytes: an Omitted, in bytes of the stream: those seen that are in neither part.
    seen_bytes: the length of the stream, in bytes.
    seen_lines: the lines of the stream; None if they were not counted.
    omitted_lines: an Omitted, in lines: those wholly missing, not one that is shown in part; unknown if not counted.

    Raises TypeError for a field of another type.
    """

    __match_args__ = (
        "text", "head", "tail", "truncated", "omitted_bytes", "seen_bytes", "seen_lines", "omitted_lines"
    )

    def __cinit__(
        self,
        str text not None,
        str head not None,
        str tail not None,
        bint truncated,
        Omitted omitted_bytes not None,
        seen_bytes,
        seen_lines=None,
        Omitted omitted_lines not None=UNKNOWN,
    ):
        self.text = text
        self.head = head
        self.tail = tail
        self.truncated = truncated
        self.omitted_bytes = omitted_bytes
        self.seen_bytes = integer("seen_bytes", seen_bytes)
        self.seen_lines = None if seen_lines is None else integer("seen_lines", seen_lines)
        self.omitted_lines = omitted_lines

    cdef tuple values(self):
        return (
            self.text,
            self.head,
            self.tail,
            self.truncated,
            self.omitted_bytes,
            self.seen_bytes,
            self.seen_lines,
            self.omitted_lines,
        )

    def render(self, marker=None):
        """Return the text with a marker in the gap: head + marker + tail where something was omitted, else the text.

        marker: a string, or a function of this result that returns one. By default it is a line of its own, such as
            `[Omitted 7 lines.]`: of lines where they were counted and one is wholly missing, else of bytes. It adds no
            newline where one stands already, nor at the very start or end.

        Raises TypeError for a marker that is neither, or whose function returns no string.
        """
        from retention.markers import marker_for, marker_line

        if not self.truncated:
            return self.text
        return self.head + marker_for(self, marker_line if marker is None else marker) + self.tail


@cython.final
@cython.no_gc
cdef class RetainedBytes(Record):
    """RetainedBytes(head, tail, truncated, omitted_bytes, seen_bytes)\n--\n
    The kept bytes of a stream, cut exactly at the budget.

    head, tail: raw bytes. Where nothing was omitted, all of them are in `head` (in `tail`, for a tail strategy).
    truncated: something was omitted because of the budget. It never means that the source was incomplete.
    omitted_bytes: an Omitted: the bytes seen that are in neither part.
    seen_bytes: the length of the stream, in bytes.

    Raises TypeError for a field of another type.
    """

    __match_args__ = ("head", "tail", "truncated", "omitted_bytes", "seen_bytes")

    def __cinit__(
        self,
        bytes head not None,
        bytes tail not None,
        bint truncated,
        Omitted omitted_bytes not None,
        seen_bytes,
    ):
        self.head = head
        self.tail = tail
        self.truncated = truncated
        self.omitted_bytes = omitted_bytes
        self.seen_bytes = integer("seen_bytes", seen_bytes)

    cdef tuple values(self):
        return self.head, self.tail, self.truncated, self.omitted_bytes, self.seen_bytes


@cython.final
cdef class RetainedItems(Record):
    """RetainedItems(items, head, tail, truncated, omitted, seen, kept)\n--\n
    The kept items of a stream, and how many it lacks.

    items: head + tail. The three lists are the caller's own: they share nothing with each other or the retainer.
    truncated: something was omitted because of the budget. It never means that the source was incomplete.
    omitted: an Omitted, in items: those seen that are in neither part.
    seen, kept: the items observed, and those in `items`.

    Holds lists, so it has no hash. Raises TypeError for a field of another type.
    """

    __match_args__ = ("items", "head", "tail", "truncated", "omitted", "seen", "kept")
    __hash__ = None

    def __cinit__(
        self,
        list items not None,
        list head not None,
        list tail not None,
        bint truncated,
        Omitted omitted not None,
        seen,
        kept,
    ):
        self.items = items
        self.head = head
        self.tail = tail
        self.truncated = truncated
        self.omitted = omitted
        self.seen = integer("seen", seen)
        self.kept = integer("kept", kept)

    @classmethod
    def __class_getitem__(cls, item, /):
        from types import GenericAlias

        return GenericAlias(cls, item)

    cdef tuple values(self):
        return self.items, self.head, self.tail, self.truncated, self.omitted, self.seen, self.kept

    def render(self, line=None, marker=None):
        """Return the items as text, one a line, with a marker on a line of its own where something was omitted.

        line: a function of an item that returns its line; by default `str`.
        marker: a string, or a function of this result that returns one; no line where it is empty. By default it is
            the omission clause, such as `[Omitted 7 items.]`.

        Raises TypeError for a marker that is neither, or a function that returns no string.
        """
        from retention.markers import items_marker, marker_for

        if line is None:
            line = str
        # No comprehensions: those of Cython 3.3 give an item back twice where there is no memory for a longer list.
        lines = []
        for item in self.head:
            lines.append(line(item))
        if self.truncated:
            words = marker_for(self, items_marker if marker is None else marker)
            if words:
                lines.append(words)
        for item in self.tail:
            lines.append(line(item))
        return "\n".join(lines)
