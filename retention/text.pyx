"""TextRetainer: chunks of a text stream in, what was kept of it out."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_CheckExact, PyByteArray_GET_SIZE
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_Check, PyUnicode_DecodeUTF8, PyUnicode_FromObject, PyUnicode_FromObject
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from retention._cuts cimport Cuts, exact_cuts, is_truncated, lines_between, moved_cuts
from retention._lines cimport ChunkLines, measure_lines, write_ends, write_lines
from retention._lock cimport LOCK_ALWAYS, lock_free, lock_give, lock_init, lock_take
from retention._scan cimport scan_is_ascii, scan_utf8_size
from retention._units cimport write_units
from retention._window cimport (
    CONTEXT,
    Span,
    span_copy,
    span_size,
    window_free,
    window_init,
    window_reserve,
    window_reserve_ring,
    window_span,
    window_write,
)
from retention.results cimport Omitted, PushDecision, RetainedBytes, RetainedText, omission, shared_decision

import codecs

from retention.notices import HeadTailLimit, RetentionNotice
from retention.strategies import TextRetentionStrategy, shown


cdef extern from "Python.h":
    str PyUnicode_New(Py_ssize_t size, Py_UCS4 maxchar)

# The layout of a pickled state, and the types of its fields after the version.
cdef int STATE_VERSION = 1
cdef list STATE_TYPES = [str, bool, bool, int, int, bool, bytes, bytes]

# Of a stream that is merged from others; and of one that is unpickled, to which pushing may have added as much as
# anybody can push. From there no more pushing reaches the end of the counter.
cdef unsigned long long MOST_BYTES = (1 << 63) - 1
cdef unsigned long long COUNTABLE = <unsigned long long>3 << 62

cdef enum:
    TOO_LONG = 1


# No stream is longer: budgets are clipped to it, so that two of them add up without overflow.
cdef Py_ssize_t LARGEST = <Py_ssize_t>((<size_t>-1) // 8)

cdef Omitted UNKNOWN = Omitted("unknown")

cdef PushDecision KEPT = shared_decision(True, False, False)
cdef PushDecision OMITTED = shared_decision(False, True, False)
cdef PushDecision OMITTED_STOP = shared_decision(False, True, True)
# An empty chunk loses nothing, also when something was lost before it.
cdef PushDecision EMPTY_AFTER_OMISSION = shared_decision(True, True, False)


@cython.final
cdef class TextRetainer:
    """TextRetainer(strategy, *, errors='replace', whole_lines=False, count_lines=False)\n--\n
    Keeps the head, the tail or both of a text stream, in bytes, and counts what it leaves out.

    strategy: TextHead, TextTail or TextHeadTail.
    errors: the error handler by which kept bytes are decoded from UTF-8 when the result is made. The budget counts
        the stream's bytes: a malformed byte becomes a U+FFFD, 3 bytes when it is encoded again, so the text of a
        binary may be up to three times the budget.
    whole_lines: a cut inside a line moves to the line's border, unless that would leave its part empty; and no cut
        divides a CR LF.
    count_lines: count lines although neither the strategy nor `whole_lines` needs it. A line ends with a newline; a
        last piece without one is a line if it is not empty.

    Memory: at most both budgets and a small constant, however long the stream and however small its chunks; a budget
    is a limit, never an allocation. Nothing of a chunk is referenced after its push.

    >>> retainer = TextRetainer(TextHeadTail(5, 5))
    >>> for chunk in ("hello, ", b"wide ", bytearray(b"world")):
    ...     decision = retainer.push(chunk)
    >>> retainer.finish()
    RetainedText(text='helloworld', head='hello', tail='world', truncated=True, \
omitted_bytes=Omitted(kind='exact', count=7), seen_bytes=17, seen_lines=None, \
omitted_lines=Omitted(kind='unknown', count=None))

    Raises:
        TypeError: the strategy is none of the three, or errors is no string.
        LookupError: no error handler of that name is registered.
    """

    def __cinit__(self, strategy, *, errors="replace", whole_lines=False, count_lines=False):
        if not isinstance(strategy, TextRetentionStrategy):
            raise TypeError(f"strategy must be a TextHead, TextTail or TextHeadTail, got {shown(strategy)}")
        self.byte_ends = head, tail = strategy._byte_ends()
        self.line_ends = head_lines, tail_lines = strategy._line_ends()
        self.strategy = strategy
        self.kind = strategy.kind
        self.stops = getattr(strategy, "stop", None) == "stop_when_full"
        self.beyond = OMITTED_STOP if self.stops else OMITTED
        self.configure(errors, whole_lines, count_lines)
        # A budget of no lines is one of no bytes.
        window_init(
            &self.window, 0 if head_lines == 0 else min(head, LARGEST), 0 if tail_lines == 0 else min(tail, LARGEST)
        )
        self.lines.head_left = min(head_lines or LARGEST, LARGEST)
        self.lines.tail_budget = min(tail_lines or LARGEST, LARGEST)
        self.lines.ends_line = True
        lock_init(&self.lock)

    def __dealloc__(self):
        window_free(&self.window)
        lock_free(&self.lock)

    cdef int configure(self, errors, whole_lines, count_lines) except -1:
        counted = count_lines or whole_lines or self.line_ends != (None, None)
        self.set(known_error_handler(errors), whole_lines, counted)
        return 0

    cdef void set(self, str errors, bint whole_lines, bint counted) noexcept:
        cdef bint locked = begin(self)
        self.errors = errors
        self.whole_lines = whole_lines
        self.lines.counted = counted
        end(self, locked)

    cdef tuple settings(self):
        cdef bint locked = begin(self)
        cdef str errors = self.errors
        cdef bint whole_lines = self.whole_lines
        cdef bint counted = self.lines.counted
        end(self, locked)
        return errors, whole_lines, counted

    def __repr__(self):
        return f"<TextRetainer of {self.strategy!r}: {self.seen_bytes} bytes seen>"

    @property
    def seen_bytes(self):
        """The length of the stream so far, in bytes; a str counts as its UTF-8."""
        cdef bint locked = begin(self)
        cdef unsigned long long seen = self.window.seen
        end(self, locked)
        return seen

    @property
    def truncated(self):
        """Whether anything has been omitted so far because of the budget."""
        cdef bint locked = begin(self)
        cdef bint truncated = is_truncated(&self.window, &self.lines)
        end(self, locked)
        return truncated

    def push(self, chunk, /):
        """Append a chunk to the stream: a str, or the bytes of any C-contiguous buffer.

        Returns the PushDecision: `kept`, `truncated`, `should_stop`. The answer, as everything else, depends on the
        bytes of the stream alone, never on how it was cut into chunks.

        Raises TypeError for what is neither str nor buffer, BufferError for a buffer that is not C-contiguous,
        MemoryError. The retainer is then as it was before.
        """
        return self.accept(chunk)

    def extend(self, chunks, /):
        """Push each of the chunks of an iterable, up to and including the first that asks to stop.

        Returns a PushDecision: `should_stop` of the last push, `truncated` so far, `kept` if every chunk was kept;
        for an empty iterable that of an empty chunk. Where the iterable or a chunk raises, what came before stays.

        Raises TypeError for a str or a buffer, which is one chunk and wants `push`, or what is no iterable; and what
        `push` and the iterable raise.
        """
        if PyUnicode_Check(chunks) or PyObject_CheckBuffer(chunks):
            raise TypeError(f"extend takes an iterable of chunks, got {type(chunks).__name__}: use push for one chunk")
        cdef bint kept = True
        cdef bint should_stop = False
        cdef PushDecision decision
        # By an iterator, also a list, where another thread may make it shorter meanwhile.
        for chunk in (iter(chunks) if LOCK_ALWAYS else chunks):
            decision = self.accept(chunk)
            kept &= decision.kept
            should_stop = decision.should_stop
            if should_stop:
                break
        # Of the stream as it is now, as the answer to an empty chunk would be.
        if not self.truncated:
            return KEPT
        if kept:
            return EMPTY_AFTER_OMISSION
        return OMITTED_STOP if should_stop else OMITTED

    def drain(self, source, *, timeout=None):
        """Read a source to its end, without the GIL where it has a descriptor.

        source: a descriptor, a socket, a binary file (what it has buffered is taken first), or an object with
            `readinto` or `read`, which takes no timeout.
        timeout: in seconds; 0 takes at least one block of what is ready.

        Returns a DrainResult: how it ended ("eof", "stopped" or "timeout") and the bytes taken. Other threads may use
        this retainer meanwhile: each call gets an answer about one moment.

        Raises TypeError for another source, a text file among them; ValueError for a timeout that cannot be kept;
        OSError where reading fails; and what a signal handler raises. What has been read by then stays.
        """
        from retention.draining import drain

        return drain(self, source, timeout)

    def finish(self):
        """Return the RetainedText of the stream so far, as if it ended here. Changes nothing: pushing may go on.

        A cut never divides a character (a well-formed UTF-8 sequence, Unicode Table 3-7, or the beginning of one that
        the stream's end broke off): it is omitted whole. Malformed bytes stay, for the error handler to decode.

        Raises what the error handler raises, and MemoryError.
        """
        cdef Facts facts
        cdef str errors
        cdef bint locked = begin(self)
        try:
            errors = self.errors
            facts = self.facts()
            head = self.copied(0, facts.cuts.head_stop)
            tail = self.copied(facts.cuts.tail_start, facts.seen)
        finally:
            end(self, locked)
        # Only now, on copies: an error handler is anybody's code, and may push to this very retainer.
        head = self.decoded(head, errors)
        tail = self.decoded(tail, errors)
        text = tail if not head else head if not tail else head + tail
        return RetainedText.__new__(
            RetainedText,
            text,
            head,
            tail,
            facts.cuts.head_stop < facts.cuts.tail_start,
            self.omitted(facts.cuts),
            facts.seen,
            facts.seen_lines if self.lines.counted else None,
            self.omitted_lines(facts),
        )

    def finish_bytes(self):
        """Return the RetainedBytes of the stream so far, cut exactly at the budget whatever that divides.

        Changes nothing: pushing may go on. Raises MemoryError.
        """
        cdef Cuts cuts
        cdef unsigned long long seen
        cdef bint locked = begin(self)
        try:
            cuts = exact_cuts(&self.window, &self.lines, self.kind == "tail")
            seen = self.window.seen
            head = self.raw(0, cuts.head_stop)
            tail = self.raw(cuts.tail_start, seen)
        finally:
            end(self, locked)
        truncated = cuts.head_stop < cuts.tail_start
        return RetainedBytes.__new__(RetainedBytes, head, tail, truncated, self.omitted(cuts), seen)

    def notice(self, scope, /, unit="bytes"):
        """Return the RetentionNotice of the stream so far: `kept` and `omitted` as `finish` has them.

        scope: what was bounded, in the tool's words: "bash stdout".
        unit: "bytes"; or "lines", for a strategy with a budget in lines: the limit is that budget, None for an end
            without one, and the counts are of lines. Where bytes are omitted but no whole line, the notice is in
            bytes all the same, so that a gap inside one enormous line never goes unsaid.

        Raises ValueError for another unit, or for lines where the strategy has no such budget.
        """
        cdef Facts facts
        cdef Omitted omitted, omitted_lines
        cdef bint locked
        if unit != "bytes" and unit != "lines":
            raise ValueError(f"unit must be 'bytes' or 'lines', got {shown(unit)}")
        if unit == "lines" and self.line_ends == (None, None):
            raise ValueError(f"unit 'lines' needs a strategy with a budget in lines, got {shown(self.strategy)}")
        locked = begin(self)
        facts = self.facts()
        end(self, locked)
        omitted, omitted_lines = self.omitted(facts.cuts), self.omitted_lines(facts)
        if unit == "lines" and (omitted_lines or not omitted):
            kept = facts.seen_lines - facts.omitted_lines
            return RetentionNotice(scope, self.kind, "lines", self.limit(self.line_ends), kept, omitted_lines)
        kept = facts.seen - (facts.cuts.tail_start - facts.cuts.head_stop)
        return RetentionNotice(scope, self.kind, "bytes", self.limit(self.byte_ends), kept, omitted)

    def merge(self, later, /):
        """Become what this retainer would be had the stream of `later` been pushed after its own.

        Exact, cuts inside characters, lines and early stop included, by what the two hold: however long the streams,
        it costs no more than the budgets. `later` stays as it is, and may be this very retainer: then the stream is
        there twice. `a + b` is a new retainer of both.

        Raises TypeError for what is no TextRetainer; ValueError if strategy, errors, whole_lines or the counting of
        lines differ; OverflowError for a stream of 2**63 bytes or more; MemoryError. Both are then as they were.
        """
        if not isinstance(later, TextRetainer):
            raise TypeError(f"later must be a TextRetainer, got {shown(later)}")
        cdef TextRetainer other = later
        if (self.strategy, *self.settings()) != (other.strategy, *other.settings()):
            raise ValueError(
                "only retainers of equal strategy, errors, whole_lines and count_lines can be merged, "
                f"got {shown(self)} and {shown(other)}"
            )
        self.absorb(other.held())

    def __add__(self, other):
        """Return a new TextRetainer of both streams, this one's first; it raises what `merge` raises."""
        if not isinstance(self, TextRetainer) or not isinstance(other, TextRetainer):
            return NotImplemented
        both = TextRetainer(self.strategy)
        both.__setstate__(self.__reduce__()[2])
        both.merge(other)
        return both

    def __reduce__(self):
        return TextRetainer, (self.strategy,), (STATE_VERSION, *self.settings(), *self.held())

    def __setstate__(self, state, /):
        """Take the state of a pickled retainer: for pickle and copy.

        Raises ValueError for a state that no retainer of this strategy can have, or of a later version.
        """
        cdef tuple held
        if type(state) is not tuple or not state or type(state[0]) is not int:
            raise ValueError(f"state must be that of a pickled TextRetainer, got {shown(state)}")
        if state[0] != STATE_VERSION:
            raise ValueError(f"the state was made by another version of retention: {shown(state[0])}")
        if len(state) != 9 or [type(field) for field in state[1:]] != STATE_TYPES:
            raise ValueError("the state of the TextRetainer is damaged: its fields are not of the right types")
        if self.window.seen:
            raise ValueError("only a fresh TextRetainer can take a state")
        held = state[4:]
        errors, whole_lines, counted = self.settings()
        try:
            self.configure(state[1], state[2], state[3])
            self.check_held(held)
            self.absorb(held)
        except BaseException:
            self.set(errors, whole_lines, counted)
            raise

    def _reach(self, unsigned long long size, /):
        # How many bytes of a stream of this length are held from its beginning, and how many from its end.
        cdef unsigned long long first = min(size, <unsigned long long>self.window.head_limit)
        return first, min(size - first, <unsigned long long>self.window.ring_limit)

    def _take_ends(self, size, bytes first not None, bytes last not None, /):
        # Append a stream of this length by the bytes of its two ends, as many as `_reach` says; no lines are counted.
        self.absorb((size, 0, True, first, last))

    cdef tuple held(self):
        # The stream so far, as far as it is known: its length, its newlines and whether it ends with one, the bytes
        # held from its beginning, and those held from its end.
        cdef unsigned long long seen, newlines, after
        cdef bint ends_line
        cdef bint locked = begin(self)
        try:
            seen = self.window.seen
            newlines = self.lines.newlines
            ends_line = self.lines.ends_line
            after = min(seen - self.window.head_size, <unsigned long long>self.window.ring_limit)
            first = self.raw(0, self.window.head_size)
            last = self.raw(seen - after, seen)
        finally:
            end(self, locked)
        return seen, newlines, ends_line, first, last

    cdef int absorb(self, tuple held) except -1:
        # As if the stream of which this is held had been pushed.
        cdef bytes first, last
        cdef unsigned long long seen, newlines
        cdef bint ends_line
        cdef bint locked
        cdef int status = TOO_LONG
        seen, newlines, ends_line, first, last = held
        if seen == 0:
            return 0
        locked = begin(self)
        if self.window.seen == 0 or (self.window.seen <= MOST_BYTES and seen <= MOST_BYTES - self.window.seen):
            status = self.reserve(len(first) + len(last))
        if status == 0:
            write_ends(
                &self.window, &self.lines, first, len(first), last, len(last), seen, newlines, ends_line
            )
        end(self, locked)
        if status == TOO_LONG:
            raise OverflowError("a stream of 2**63 bytes or more cannot be counted")
        if status < 0:
            raise MemoryError
        return 0

    cdef int check_held(self, tuple held) except -1:
        # That a stream exists of which this retainer, which is fresh, would hold just this.
        cdef bytes first, last
        cdef ChunkLines chunk
        cdef const uint8_t *data
        seen, newlines, ends_line, first, last = held
        if not (0 <= newlines <= seen <= COUNTABLE):
            raise ValueError("the state of the TextRetainer is damaged: its counts cannot be")
        head_limit = self.window.head_limit
        if self.lines.counted and first:
            data = <const uint8_t *>PyBytes_AS_STRING(first)
            chunk = measure_lines(data, len(first), True, &self.window, &self.lines)
            if chunk.head_stop:
                head_limit = chunk.head_stop + CONTEXT
        if len(first) != min(seen, head_limit) or len(last) != min(seen - len(first), self.window.ring_limit):
            raise ValueError("the state of the TextRetainer is damaged: it does not hold what its counts say")
        between = seen - len(first) - len(last)
        known = first.count(b"\n") + last.count(b"\n") if self.lines.counted else 0
        # Before they are compared: Cython 3.3 gives the result of a chained comparison back twice where there is no
        # memory for a later operand.
        least, most = known, known + between
        end_known = not between or last
        if not self.lines.counted:
            right = newlines == 0 and ends_line
        elif end_known:
            right = least <= newlines <= most and ends_line == (not seen or (first + last).endswith(b"\n"))
        else:
            # Of the end of what lies between, it is only known whether it is a newline.
            least += ends_line
            most -= not ends_line
            right = least <= newlines <= most
        if not right:
            raise ValueError("the state of the TextRetainer is damaged: its lines cannot be")
        return 0

    cdef object limit(self, tuple ends):
        # Two budgets as a notice shows them.
        if self.kind == "head_tail":
            return HeadTailLimit(*ends)
        return ends[0] if self.kind == "head" else ends[1]

    cdef void begin_drain(self) noexcept:
        lock_take(&self.lock)
        self.drains += 1
        lock_give(&self.lock)

    cdef void end_drain(self) noexcept:
        lock_take(&self.lock)
        self.drains -= 1
        lock_give(&self.lock)

    cdef int make_room(self, size_t size) noexcept nogil:
        cdef int status
        lock_take(&self.lock)
        status = self.reserve(size)
        if status == 0:
            self.promised += size
        lock_give(&self.lock)
        return status

    cdef void give_room_back(self, size_t size) noexcept nogil:
        lock_take(&self.lock)
        self.promised -= size
        lock_give(&self.lock)

    cdef int reserve(self, size_t size) noexcept nogil:
        # Beside what has been promised, wherever it goes: a line that fills the head sends all of it to the ring.
        size += self.promised
        if window_reserve(&self.window, size) < 0:
            return -1
        return window_reserve_ring(&self.window, size) if self.lines.counted else 0

    cdef bint take_block(self, const uint8_t *data, size_t size, size_t promised) noexcept nogil:
        cdef bint should_stop
        lock_take(&self.lock)
        self.promised -= promised
        self.feed(data, size)
        should_stop = self.stops and is_truncated(&self.window, &self.lines)
        lock_give(&self.lock)
        return should_stop

    cdef int feed(self, const uint8_t *data, size_t size) noexcept nogil:
        if self.lines.counted:
            return write_lines(&self.window, &self.lines, data, size)
        return window_write(&self.window, data, size)

    cdef PushDecision decide(self, size_t size):
        # The decision about a chunk of `size` bytes that has just been counted.
        if not is_truncated(&self.window, &self.lines):
            return KEPT
        return self.beyond if size else EMPTY_AFTER_OMISSION

    cdef PushDecision accept(self, chunk):
        if PyBytes_CheckExact(chunk):
            return self.write(<const uint8_t *>PyBytes_AS_STRING(chunk), PyBytes_GET_SIZE(chunk))
        if PyUnicode_Check(chunk):
            return self.write_str(chunk)
        if not LOCK_ALWAYS:
            if PyByteArray_CheckExact(chunk):
                return self.write(<const uint8_t *>PyByteArray_AS_STRING(chunk), PyByteArray_GET_SIZE(chunk))
            return self.write_buffer(chunk)
        # Other threads may push the same chunk, and a memoryview or bytearray counts its exports as if there were a GIL
        # (CPython 3.13).
        with cython.critical_section(chunk):
            return self.write_buffer(chunk)

    cdef PushDecision write(self, const uint8_t *data, size_t size):
        if LOCK_ALWAYS or self.drains:
            return self.write_locked(data, size)
        if size and self.feed(data, size) < 0:
            raise MemoryError
        return self.decide(size)

    cdef PushDecision write_locked(self, const uint8_t *data, size_t size):
        cdef PushDecision decision
        cdef int status = 0
        lock_take(&self.lock)
        if size:
            if self.promised:
                status = self.reserve(size)
            if status == 0:
                status = self.feed(data, size)
        decision = self.decide(size)
        lock_give(&self.lock)
        if status < 0:
            raise MemoryError
        return decision

    cdef PushDecision write_buffer(self, chunk):
        # As plain bytes, which an exporter gives out of memory that is C-contiguous, whatever its items (PEP 3118).
        cdef Py_buffer view
        if not PyObject_CheckBuffer(chunk):
            raise TypeError(f"chunk must be a str or a bytes-like object, got {shown(chunk)}")
        try:
            PyObject_GetBuffer(chunk, &view, PyBUF_SIMPLE)
        except (BufferError, ValueError):
            # NumPy's is a ValueError.
            whole = memoryview(chunk)
            if whole.nbytes == 0:
                return self.write(NULL, 0)
            if whole.c_contiguous:
                raise
            raise BufferError(f"chunk must be C-contiguous, got {shown(chunk)}: copy it first") from None
        try:
            return self.write(<const uint8_t *>view.buf, view.len)
        finally:
            PyBuffer_Release(&view)

    cdef PushDecision write_str(self, chunk):
        cdef size_t length
        cdef Py_ssize_t size
        cdef int kind
        cdef const void *data
        cdef PushDecision decision
        cdef bint locked
        PyUnicode_READY(chunk)
        length = PyUnicode_GET_LENGTH(chunk)
        data = PyUnicode_DATA(chunk)
        kind = PyUnicode_KIND(chunk)
        if PyUnicode_IS_ASCII(chunk):
            return self.write(<const uint8_t *>data, length)
        locked = begin(self)
        if locked and self.promised and self.reserve(utf8_size(chunk)) < 0:
            size = -1
        elif kind == 1:
            size = write_units(&self.window, &self.lines, <const uint8_t *>data, length)
        elif kind == 2:
            size = write_units(&self.window, &self.lines, <const uint16_t *>data, length)
        else:
            size = write_units(&self.window, &self.lines, <const uint32_t *>data, length)
        decision = self.decide(size)
        end(self, locked)
        if size < 0:
            raise MemoryError
        return decision

    cdef Facts facts(self):
        cdef Facts facts
        facts.cuts = exact_cuts(&self.window, &self.lines, self.kind == "tail")
        facts.cuts = moved_cuts(&self.window, facts.cuts, self.whole_lines)
        facts.seen = self.window.seen
        # A last piece without a newline is a line too.
        facts.seen_lines = self.lines.newlines + (not self.lines.ends_line)
        facts.omitted_lines = lines_between(&self.window, &self.lines, facts.cuts) if self.lines.counted else 0
        return facts

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

    cdef str decoded(self, part, str errors):
        if type(part) is str:
            return part
        return PyUnicode_DecodeUTF8(PyBytes_AS_STRING(part), PyBytes_GET_SIZE(part), errors.encode())

    cdef Omitted omitted(self, Cuts cuts):
        return omission(cuts.tail_start - cuts.head_stop, self.stops)

    cdef Omitted omitted_lines(self, Facts facts):
        return omission(facts.omitted_lines, self.stops) if self.lines.counted else UNKNOWN


cdef inline bint begin(TextRetainer retainer) noexcept:
    # Before reading or writing a retainer's window and lines. With the GIL and no drain, nobody else can: as long as
    # nothing is made until `end` that the collector tracks, for it runs anybody's code (before CPython 3.12 at once).
    if LOCK_ALWAYS or retainer.drains:
        lock_take(&retainer.lock)
        return True
    return False


cdef inline void end(TextRetainer retainer, bint locked) noexcept:
    if locked:
        lock_give(&retainer.lock)


cdef size_t utf8_size(text) except? 0:
    cdef size_t length
    PyUnicode_READY(text)
    length = PyUnicode_GET_LENGTH(text)
    if PyUnicode_IS_ASCII(text):
        return length
    if PyUnicode_KIND(text) == 1:
        return scan_utf8_size(<const uint8_t *>PyUnicode_DATA(text), length)
    if PyUnicode_KIND(text) == 2:
        return scan_utf8_size(<const uint16_t *>PyUnicode_DATA(text), length)
    return scan_utf8_size(<const uint32_t *>PyUnicode_DATA(text), length)


cdef str known_error_handler(errors):
    if not isinstance(errors, str):
        raise TypeError(f"errors must be the name of an error handler, got {shown(errors)}")
    errors = PyUnicode_FromObject(errors)
    try:
        codecs.lookup_error(errors)
    except (LookupError, ValueError):
        # A ValueError for a name that no handler can have: with a NUL, or with a lone surrogate.
        raise LookupError(f"errors must name a registered error handler, got {shown(errors)}") from None
    return errors
