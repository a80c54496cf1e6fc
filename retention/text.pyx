"""TextRetainer: chunks of a text stream in, what was kept of it out."""

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_CheckExact, PyByteArray_GET_SIZE
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_Check, PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from retention._utf8 cimport code_unit, divided_after, divided_before, encode_character, encoded_size
from retention._window cimport (
    CONTEXT,
    Span,
    Window,
    span_copy,
    span_size,
    window_free,
    window_init,
    window_reserve,
    window_skip,
    window_span,
    window_write,
)
from retention.results cimport Omitted, PushDecision, RetainedBytes, RetainedText, omission, shared_decision

import codecs

from retention.notices import HeadTailLimit, RetentionNotice
from retention.strategies import TextRetentionStrategy, shown


cdef extern from "Python.h":
    int PyUnicode_READY(object text) except -1
    int PyUnicode_KIND(object text) noexcept
    bint PyUnicode_IS_ASCII(object text) noexcept
    void *PyUnicode_DATA(object text) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(object text) noexcept
    str PyUnicode_New(Py_ssize_t size, Py_UCS4 maxchar)

cdef extern from "_scan.h" nogil:
    bint scan_is_ascii(const uint8_t *text, size_t size) noexcept
    size_t scan_utf8_size_1(const uint8_t *text, size_t length) noexcept
    size_t scan_utf8_size_2(const uint16_t *text, size_t length) noexcept
    size_t scan_utf8_size_4(const uint32_t *text, size_t length) noexcept


cdef enum:
    # Bytes encoded at a time, on the stack, before they go into the window.
    BLOCK = 1024


# No stream is longer: budgets are clipped to it, so that two of them add up without overflow.
cdef Py_ssize_t LARGEST = <Py_ssize_t>((<size_t>-1) // 8)

cdef PushDecision KEPT = shared_decision(True, False, False)
cdef PushDecision OMITTED = shared_decision(False, True, False)
cdef PushDecision OMITTED_STOP = shared_decision(False, True, True)
# An empty chunk loses nothing, also when something was lost before it.
cdef PushDecision EMPTY_AFTER_OMISSION = shared_decision(True, True, False)


cdef struct Cuts:
    # The head is the stream up to the one, the tail the stream from the other on; equal where nothing is omitted.
    unsigned long long head_stop
    unsigned long long tail_start


@cython.final
cdef class TextRetainer:
    """TextRetainer(strategy, *, errors='replace')\n--\n
    Keeps the head, the tail or both of a text stream, in bytes, and counts what it leaves out.

    strategy: TextHead, TextTail or TextHeadTail.
    errors: the error handler by which kept bytes are decoded from UTF-8 when the result is made. The budget counts
        the stream's bytes: a malformed byte becomes a U+FFFD, 3 bytes when it is encoded again, so the text of a
        binary may be up to three times the budget.

    Memory: at most both budgets and a small constant, however long the stream and however small its chunks; a budget
    is a limit, never an allocation. Nothing of a chunk is referenced after its push.

    >>> retainer = TextRetainer(TextHeadTail(5, 5))
    >>> for chunk in ("hello, ", b"wide ", bytearray(b"world")):
    ...     decision = retainer.push(chunk)
    >>> retainer.finish()
    RetainedText(text='helloworld', head='hello', tail='world', truncated=True, \
omitted_bytes=Omitted(kind='exact', count=7), seen_bytes=17)

    Raises:
        TypeError: the strategy is none of the three, or errors is no string.
        LookupError: no error handler of that name is registered.
    """

    cdef Window window
    # The two budgets together, and the head's alone, as far as memory can reach.
    cdef unsigned long long budget, head_budget
    # What a chunk with something beyond the budget is answered.
    cdef PushDecision beyond
    cdef readonly object strategy
    cdef str kind
    # The budgets as a notice shows them.
    cdef object limit
    cdef str errors

    def __cinit__(self, strategy, *, errors="replace"):
        if not isinstance(strategy, TextRetentionStrategy):
            raise TypeError(f"strategy must be a TextHead, TextTail or TextHeadTail, got {shown(strategy)}")
        head, tail = strategy._ends()
        self.strategy = strategy
        self.limit = HeadTailLimit(head, tail) if strategy.kind == "head_tail" else head + tail
        self.errors = known_error_handler(errors)
        self.beyond = OMITTED_STOP if getattr(strategy, "stop", None) == "stop_when_full" else OMITTED
        self.kind = strategy.kind
        self.head_budget = min(head, LARGEST)
        self.budget = self.head_budget + <unsigned long long>min(tail, LARGEST)
        window_init(&self.window, self.head_budget, self.budget - self.head_budget)

    def __dealloc__(self):
        window_free(&self.window)

    def __repr__(self):
        return f"<TextRetainer of {self.strategy!r}: {self.window.seen} bytes seen>"

    @property
    def seen_bytes(self):
        """The length of the stream so far, in bytes; a str counts as its UTF-8."""
        return self.window.seen

    @property
    def truncated(self):
        """Whether anything has been omitted so far because of the budget."""
        return self.window.seen > self.budget

    @cython.critical_section
    def push(self, chunk, /):
        """Append a chunk to the stream: a str, or the bytes of any C-contiguous buffer.

        Returns the PushDecision: `kept`, `truncated`, `should_stop`. The answer, as everything else, depends on the
        bytes of the stream alone, never on how it was cut into chunks.

        Raises TypeError for what is neither str nor buffer, BufferError for a buffer that is not C-contiguous,
        MemoryError. The retainer is then as it was before.
        """
        return self.accept(chunk)

    @cython.critical_section
    def extend(self, chunks, /):
        """Push each chunk of an iterable, up to and including the first that asks to stop.

        Returns a PushDecision: `should_stop` of the last push, `truncated` so far, `kept` if every chunk was kept;
        for an empty iterable that of an empty chunk. Where the iterable or a chunk raises, what came before stays.

        Raises TypeError for a str or a buffer, which is one chunk and wants `push`, and what `push` raises.
        """
        if PyUnicode_Check(chunks) or PyObject_CheckBuffer(chunks):
            raise TypeError(f"extend takes an iterable of chunks, got {type(chunks).__name__}: use push for one chunk")
        cdef bint kept = True
        cdef PushDecision decision = self.decide(0)
        for chunk in chunks:
            decision = self.accept(chunk)
            kept &= decision.kept
            if decision.should_stop:
                break
        if self.window.seen <= self.budget:
            return KEPT
        if kept:
            return EMPTY_AFTER_OMISSION
        return OMITTED_STOP if decision.should_stop else OMITTED

    @cython.critical_section
    def finish(self):
        """The RetainedText of the stream so far, as if it ended here. Changes nothing: pushing may go on.

        A cut never divides a character (a well-formed UTF-8 sequence, Unicode Table 3-7, or the beginning of one that
        the stream's end broke off): it is omitted whole. Malformed bytes stay, for the error handler to decode.

        Raises what the error handler raises, and MemoryError.
        """
        cdef Cuts cuts = self.cuts()
        cdef unsigned long long seen = self.window.seen
        # Both ends are out of the window before an error handler, which may be anybody's code, can push to it.
        cdef object head = self.copied(0, cuts.head_stop)
        cdef object tail = self.copied(cuts.tail_start, seen)
        head = self.decoded(head)
        tail = self.decoded(tail)
        text = tail if not head else head if not tail else head + tail
        return RetainedText.__new__(
            RetainedText, text, head, tail, cuts.head_stop < cuts.tail_start, self.omitted(cuts), seen
        )

    @cython.critical_section
    def finish_bytes(self):
        """The RetainedBytes of the stream so far, cut exactly at the budget whatever that divides.

        Changes nothing: pushing may go on. Raises MemoryError.
        """
        cdef Cuts cuts = self.exact_cuts()
        return RetainedBytes.__new__(
            RetainedBytes,
            self.raw(0, cuts.head_stop),
            self.raw(cuts.tail_start, self.window.seen),
            cuts.head_stop < cuts.tail_start,
            self.omitted(cuts),
            self.window.seen,
        )

    @cython.critical_section
    def notice(self, scope, /):
        """The RetentionNotice of the stream so far, in bytes: `kept` and `omitted` as `finish` has them.

        scope: what was bounded, in the tool's words: "bash stdout".
        """
        cdef Cuts cuts = self.cuts()
        kept = self.window.seen - (cuts.tail_start - cuts.head_stop)
        return RetentionNotice(scope, self.kind, "bytes", self.limit, kept, self.omitted(cuts))

    cdef PushDecision decide(self, size_t size):
        # The decision about a chunk of `size` bytes that has just been counted.
        if self.window.seen <= self.budget:
            return KEPT
        return self.beyond if size else EMPTY_AFTER_OMISSION

    cdef PushDecision accept(self, chunk):
        if PyBytes_CheckExact(chunk):
            return self.write(<const uint8_t *>PyBytes_AS_STRING(chunk), PyBytes_GET_SIZE(chunk))
        if PyUnicode_Check(chunk):
            return self.write_str(chunk)
        if PyByteArray_CheckExact(chunk):
            return self.write(<const uint8_t *>PyByteArray_AS_STRING(chunk), PyByteArray_GET_SIZE(chunk))
        return self.write_buffer(chunk)

    cdef PushDecision write(self, const uint8_t *data, size_t size):
        if size and window_write(&self.window, data, size) < 0:
            raise MemoryError
        return self.decide(size)

    cdef PushDecision write_buffer(self, chunk):
        cdef const uint8_t[::1] view
        try:
            source = memoryview(chunk)
        except TypeError:
            raise TypeError(f"chunk must be a str or a bytes-like object, got {shown(chunk)}") from None
        if source.nbytes == 0:
            return self.decide(0)
        if not source.c_contiguous:
            raise BufferError(f"chunk must be C-contiguous, got {shown(chunk)}: copy it first")
        try:
            view = source.cast("B")
        except ValueError:
            # Formats that a memoryview cannot recast (other byte orders, structures) have bytes all the same.
            view = source.tobytes()
        return self.write(&view[0], view.shape[0])

    cdef PushDecision write_str(self, chunk):
        cdef size_t length, size
        cdef int kind
        PyUnicode_READY(chunk)
        length = PyUnicode_GET_LENGTH(chunk)
        if PyUnicode_IS_ASCII(chunk):
            return self.write(<const uint8_t *>PyUnicode_DATA(chunk), length)
        kind = PyUnicode_KIND(chunk)
        if kind == 1:
            size = scan_utf8_size_1(<const uint8_t *>PyUnicode_DATA(chunk), length)
        elif kind == 2:
            size = scan_utf8_size_2(<const uint16_t *>PyUnicode_DATA(chunk), length)
        else:
            size = scan_utf8_size_4(<const uint32_t *>PyUnicode_DATA(chunk), length)
        if window_reserve(&self.window, size) < 0:
            raise MemoryError
        if kind == 1:
            write_encoded(&self.window, <const uint8_t *>PyUnicode_DATA(chunk), length, size)
        elif kind == 2:
            write_encoded(&self.window, <const uint16_t *>PyUnicode_DATA(chunk), length, size)
        else:
            write_encoded(&self.window, <const uint32_t *>PyUnicode_DATA(chunk), length, size)
        return self.decide(size)

    cdef Cuts exact_cuts(self):
        cdef Cuts cuts
        cdef unsigned long long seen = self.window.seen
        if seen > self.budget:
            cuts.head_stop = self.head_budget
            cuts.tail_start = seen - (self.budget - self.head_budget)
        else:
            # Where nothing is omitted all is head, or all is tail for a strategy that knows no head.
            cuts.head_stop = cuts.tail_start = 0 if self.kind == "tail" else seen
        return cuts

    cdef Cuts cuts(self):
        # The exact cuts, moved off the characters that they divide.
        cdef Cuts cuts = self.exact_cuts()
        cdef uint8_t near[2 * CONTEXT]
        cdef size_t before
        if cuts.head_stop < cuts.tail_start:
            if cuts.head_stop:
                before = self.near_cut(cuts.head_stop, near)
                cuts.head_stop -= divided_before(near + before, before, self.after_cut(cuts.head_stop))
            if cuts.tail_start < self.window.seen:
                before = self.near_cut(cuts.tail_start, near)
                cuts.tail_start += divided_after(near + before, before, self.after_cut(cuts.tail_start))
        return cuts

    cdef size_t after_cut(self, unsigned long long cut):
        return <size_t>min(self.window.seen - cut, <unsigned long long>CONTEXT)

    cdef size_t near_cut(self, unsigned long long cut, uint8_t *near):
        # Copies the bytes around a cut, as many as tell whether it divides a character. Returns those before it.
        cdef size_t before = <size_t>min(cut, <unsigned long long>CONTEXT)
        cdef Span span = window_span(&self.window, cut - before, cut + self.after_cut(cut))
        span_copy(&span, near)
        return before

    cdef bytes raw(self, unsigned long long start, unsigned long long stop):
        cdef Span span = window_span(&self.window, start, stop)
        cdef bytes raw = PyBytes_FromStringAndSize(NULL, span_size(&span))
        span_copy(&span, <uint8_t *>PyBytes_AS_STRING(raw))
        return raw

    cdef object copied(self, unsigned long long start, unsigned long long stop):
        # A part of the stream: as the text itself where it is ASCII, which no handler sees, else as raw bytes.
        cdef Span span = window_span(&self.window, start, stop)
        cdef int i
        cdef str text
        for i in range(3):
            if not scan_is_ascii(span.piece[i], span.size[i]):
                return self.raw(start, stop)
        text = PyUnicode_New(span_size(&span), 127)
        if text:
            span_copy(&span, <uint8_t *>PyUnicode_DATA(text))
        return text

    cdef str decoded(self, part):
        if type(part) is str:
            return part
        return PyUnicode_DecodeUTF8(PyBytes_AS_STRING(part), PyBytes_GET_SIZE(part), self.errors.encode())

    cdef Omitted omitted(self, Cuts cuts):
        return omission(cuts.tail_start - cuts.head_stop, self.beyond is OMITTED_STOP)


cdef str known_error_handler(errors):
    if not isinstance(errors, str):
        raise TypeError(f"errors must be the name of an error handler, got {shown(errors)}")
    try:
        codecs.lookup_error(errors)
    except LookupError:
        raise LookupError(f"errors must name a registered error handler, got {shown(errors)}") from None
    return str(errors)


cdef void write_encoded(Window *window, const code_unit *text, size_t length, size_t size) noexcept nogil:
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


cdef void write_characters(Window *window, const code_unit *text, size_t start, size_t stop) noexcept nogil:
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
