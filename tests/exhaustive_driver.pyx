"""Short streams by the million, through the very methods of TextRetainer, against a model of its own.

Compiled by exhaustive.py. The model is written from the specification and calls nothing that is under test; that it
equals reference.py is tested in test_exhaustive.py.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uintptr_t
from libc.string cimport memcmp, memset

from retention._cuts cimport Cuts, exact_cuts
from retention._lines cimport Lines
from retention._scan cimport (
    scan_after_newline,
    scan_has_surrogates_2,
    scan_has_surrogates_4,
    scan_is_ascii,
    scan_newlines,
    scan_utf8_size,
)
from retention._utf8 cimport character_size, divided_after, divided_before, encode_character, encoded_size
from retention._window cimport (
    Span,
    Window,
    copy_bytes,
    span_copy,
    span_size,
    window_free,
    window_init,
    window_reserve,
    window_reserve_ring,
    window_span,
    window_write,
)
from retention.results cimport PushDecision
from retention.text cimport Facts, TextRetainer


cdef enum:
    # The longest stream.
    MOST = 8
    # A budget of lines that there is not.
    NO_LIMIT = -1


# The specification, over a stream that is known as a whole. -----------------------------------------------------------

# Unicode Table 3-7: the ranges of the bytes of a well-formed sequence.
WELL_FORMED = [
    [(0x00, 0x7F)],
    [(0xC2, 0xDF), (0x80, 0xBF)],
    [(0xE0, 0xE0), (0xA0, 0xBF), (0x80, 0xBF)],
    [(0xE1, 0xEC), (0x80, 0xBF), (0x80, 0xBF)],
    [(0xED, 0xED), (0x80, 0x9F), (0x80, 0xBF)],
    [(0xEE, 0xEF), (0x80, 0xBF), (0x80, 0xBF)],
    [(0xF0, 0xF0), (0x90, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
    [(0xF1, 0xF3), (0x80, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
    [(0xF4, 0xF4), (0x80, 0x8F), (0x80, 0xBF), (0x80, 0xBF)],
]


cdef struct Row:
    Py_ssize_t length
    uint8_t low[4]
    uint8_t high[4]


cdef Row[9] TABLE
for number, ranges in enumerate(WELL_FORMED):
    TABLE[number].length = len(ranges)
    for at, (low, high) in enumerate(ranges):
        TABLE[number].low[at] = low
        TABLE[number].high[at] = high


cdef struct Stream:
    uint8_t data[MOST]
    Py_ssize_t size
    # The newlines before each position.
    Py_ssize_t newlines[MOST + 1]
    # Where the character that a cut at each position divides begins and ends; the position itself if it divides none.
    Py_ssize_t begin[MOST + 1]
    Py_ssize_t end[MOST + 1]


cdef struct Budgets:
    Py_ssize_t head, tail, head_lines, tail_lines
    bint all_tail, whole_lines


cdef struct Answer:
    # The cuts, at the budgets and off what they divide; the head is all up to the one, the tail all from the other.
    Py_ssize_t exact_stop, exact_start, stop, start
    Py_ssize_t lines, omitted_lines


cdef bint is_character(const Stream *stream, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """A well-formed sequence, or the beginning of one that the end of the stream broke off."""
    cdef Py_ssize_t row, at
    for row in range(9):
        if end - begin > TABLE[row].length or (end - begin < TABLE[row].length and end < stream.size):
            continue
        at = begin
        while at < end and TABLE[row].low[at - begin] <= stream.data[at] <= TABLE[row].high[at - begin]:
            at += 1
        if at == end:
            return True
    return False


cdef void look_at(Stream *stream) noexcept nogil:
    """Fill in what the stream's bytes say."""
    cdef Py_ssize_t cut, begin, end
    stream.newlines[0] = 0
    for cut in range(stream.size):
        stream.newlines[cut + 1] = stream.newlines[cut] + (stream.data[cut] == 0x0A)
    for cut in range(stream.size + 1):
        stream.begin[cut] = stream.end[cut] = cut
        for begin in range(max(cut - 3, 0), cut):
            for end in range(cut + 1, min(begin + 4, stream.size) + 1):
                if is_character(stream, begin, end):
                    stream.begin[cut] = begin
                    stream.end[cut] = end


cdef Py_ssize_t lines_of(const Stream *stream, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The lines of a part: a last piece without a newline is one if it is not empty."""
    return stream.newlines[end] - stream.newlines[begin] + (begin < end and stream.data[end - 1] != 0x0A)


cdef void longest_ends(
    const Stream *stream, const Budgets *budgets, Py_ssize_t size, Py_ssize_t *stop, Py_ssize_t *start
) noexcept nogil:
    """The longest prefix and the longest suffix of the first `size` bytes that are within the budgets."""
    stop[0] = min(budgets.head, size)
    start[0] = max(size - budgets.tail, 0)
    if budgets.head_lines != NO_LIMIT:
        while lines_of(stream, 0, stop[0]) > budgets.head_lines:
            stop[0] -= 1
    if budgets.tail_lines != NO_LIMIT:
        while lines_of(stream, start[0], size) > budgets.tail_lines:
            start[0] += 1


cdef bint divides_crlf(const Stream *stream, Py_ssize_t cut) noexcept nogil:
    return 0 < cut < stream.size and stream.data[cut - 1] == 0x0D and stream.data[cut] == 0x0A


cdef Py_ssize_t head_off_line(const Stream *stream, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t border = stop
    while border and stream.data[border - 1] != 0x0A:
        border -= 1
    if border:
        return border
    return stop - divides_crlf(stream, stop)


cdef Py_ssize_t tail_off_line(const Stream *stream, Py_ssize_t start) noexcept nogil:
    cdef Py_ssize_t border = start
    while border < stream.size and stream.data[border - 1] != 0x0A:
        border += 1
    if border < stream.size:
        return border
    return start + divides_crlf(stream, start)


cdef Answer expected(const Stream *stream, const Budgets *budgets) noexcept nogil:
    cdef Answer answer
    cdef Py_ssize_t begin, end
    longest_ends(stream, budgets, stream.size, &answer.exact_stop, &answer.exact_start)
    if answer.exact_start <= answer.exact_stop:
        answer.exact_stop = answer.exact_start = 0 if budgets.all_tail else stream.size
        answer.stop = answer.start = answer.exact_stop
    else:
        answer.stop = stream.begin[answer.exact_stop]
        answer.start = stream.end[answer.exact_start]
        if budgets.whole_lines:
            answer.stop = head_off_line(stream, answer.stop)
            answer.start = tail_off_line(stream, answer.start)
    answer.lines = lines_of(stream, 0, stream.size)
    answer.omitted_lines = begin = 0
    for end in range(1, stream.size + 1):
        if end == stream.size or stream.data[end - 1] == 0x0A:
            answer.omitted_lines += answer.stop <= begin and end <= answer.start
            begin = end
    return answer


def model(bytes data, head, tail, head_lines, tail_lines, all_tail, whole_lines):
    """What the model says: the exact cuts, the moved cuts, the stream's lines and the omitted ones."""
    cdef Stream stream
    cdef Budgets budgets
    cdef Py_ssize_t at
    if len(data) > MOST:
        raise ValueError(f"a stream here has at most {MOST} bytes")
    stream.size = len(data)
    for at in range(stream.size):
        stream.data[at] = data[at]
    look_at(&stream)
    set_budgets(&budgets, head, tail, head_lines, tail_lines, all_tail, whole_lines)
    return as_tuple(expected(&stream, &budgets))


cdef int set_budgets(Budgets *budgets, head, tail, head_lines, tail_lines, all_tail, whole_lines) except -1:
    budgets.head, budgets.tail = head, tail
    budgets.head_lines = NO_LIMIT if head_lines is None else head_lines
    budgets.tail_lines = NO_LIMIT if tail_lines is None else tail_lines
    budgets.all_tail, budgets.whole_lines = all_tail, whole_lines
    return 0


cdef tuple as_tuple(Answer answer):
    return (
        answer.exact_stop, answer.exact_start, answer.stop, answer.start, answer.lines, answer.omitted_lines
    )


# The retainers, against it. -------------------------------------------------------------------------------------------


cdef class Case:
    """A fresh retainer, which is emptied again for each stream, and the budgets that the model knows it by."""

    cdef TextRetainer retainer
    cdef Window window
    cdef Lines lines
    cdef Budgets budgets

    def __init__(self, TextRetainer retainer not None, head, tail, head_lines, tail_lines):
        if retainer.window.seen:
            raise ValueError("the retainer must be fresh")
        self.retainer = retainer
        # Nothing is allocated yet: plain copies will do to begin again.
        self.window = retainer.window
        self.lines = retainer.lines
        set_budgets(
            &self.budgets, head, tail, head_lines, tail_lines, retainer.kind == "tail", retainer.whole_lines
        )


cdef int begin_again(Case case) except -1:
    window_free(&case.retainer.window)
    case.retainer.window = case.window
    case.retainer.lines = case.lines
    return 0


cdef int check_push(Case case, const Stream *stream, Py_ssize_t seen, Py_ssize_t size) except -1:
    """Push the `size` bytes after the first `seen`, and see what is answered."""
    cdef Py_ssize_t stop, start
    cdef bint truncated, right
    cdef PushDecision decision = case.retainer.write(stream.data + seen, size)
    longest_ends(stream, &case.budgets, seen + size, &stop, &start)
    truncated = stop < start
    right = decision.truncated == truncated and decision.kept == (size == 0 or not truncated)
    if not right or decision.should_stop != (case.retainer.stops and truncated and size > 0):
        raise AssertionError(
            f"{described(case)}: {stream.data[:seen]!r}, then {stream.data[seen:seen + size]!r} gave {decision}, "
            f"the model says truncated={truncated}"
        )
    return 0


cdef bint holds(Case case, const Stream *stream, Py_ssize_t start, Py_ssize_t stop) noexcept:
    """Whether a part of the window has the stream's bytes."""
    cdef uint8_t part[MOST]
    cdef Span span = window_span(&case.retainer.window, start, stop)
    if span_size(&span) != <size_t>(stop - start):
        return False
    span_copy(&span, part)
    return memcmp(part, stream.data + start, stop - start) == 0


cdef int check_answer(Case case, const Stream *stream, const Answer *wanted, str how) except -1:
    cdef Facts facts = case.retainer.facts()
    cdef Cuts exact = exact_cuts(&case.retainer.window, &case.retainer.lines, case.budgets.all_tail)
    cdef bint right = (
        facts.seen == <unsigned long long>stream.size
        and exact.head_stop == <unsigned long long>wanted.exact_stop
        and exact.tail_start == <unsigned long long>wanted.exact_start
        and facts.cuts.head_stop == <unsigned long long>wanted.stop
        and facts.cuts.tail_start == <unsigned long long>wanted.start
    )
    if right and case.retainer.lines.counted:
        right = (
            facts.seen_lines == <unsigned long long>wanted.lines
            and facts.omitted_lines == <unsigned long long>wanted.omitted_lines
        )
    if not right:
        found = (
            exact.head_stop, exact.tail_start, facts.cuts.head_stop, facts.cuts.tail_start,
            facts.seen_lines, facts.omitted_lines,
        )
        raise AssertionError(
            f"{described(case)}: {stream.data[:stream.size]!r} {how}: exact cuts, cuts, lines and omitted lines are "
            f"{found}, {facts.seen} bytes seen; the model says {as_tuple(wanted[0])}"
        )
    if not (
        holds(case, stream, 0, wanted.exact_stop)
        and holds(case, stream, wanted.exact_start, stream.size)
        and holds(case, stream, 0, wanted.stop)
        and holds(case, stream, wanted.start, stream.size)
    ):
        raise AssertionError(f"{described(case)}: {stream.data[:stream.size]!r} {how}: other bytes are held")
    return 0


cdef str described(Case case):
    return f"{case.retainer.strategy}, whole_lines={bool(case.retainer.whole_lines)}"


cdef int check_stream(Case case, const Stream *stream) except -1:
    cdef Answer wanted = expected(stream, &case.budgets)
    cdef Py_ssize_t seen
    cdef Py_ssize_t half = stream.size // 2
    begin_again(case)
    check_push(case, stream, 0, stream.size)
    check_answer(case, stream, &wanted, "as a whole")
    begin_again(case)
    # A ring's seam is written across by no single byte, and by no chunk that is longer than the ring.
    check_push(case, stream, 0, half)
    check_push(case, stream, half, stream.size - half)
    check_answer(case, stream, &wanted, "in halves")
    begin_again(case)
    for seen in range(stream.size):
        check_push(case, stream, seen, 1)
    check_push(case, stream, stream.size, 0)
    check_answer(case, stream, &wanted, "byte by byte")
    return 0


def check(list cases not None, list classes not None, Py_ssize_t size, long long first, long long last):
    """Check the streams of one size with the numbers from `first` up to `last`; return how many retainers were filled.

    A stream's number has the classes of its bytes for digits. Which bytes of the classes it gets is mixed from the
    number: classes are right only if all of their bytes are treated alike.

    Raises AssertionError at the first difference.
    """
    cdef Stream stream
    cdef long long number, digits
    cdef unsigned long long mixed
    cdef Py_ssize_t at
    cdef Case case
    cdef bytes members
    if not 0 <= size <= MOST:
        raise ValueError(f"a stream here has at most {MOST} bytes")
    for number in range(first, last):
        stream.size = size
        digits = number
        mixed = <unsigned long long>(number + 1) * 0x9E3779B97F4A7C15u
        for at in range(size - 1, -1, -1):
            members = classes[digits % len(classes)]
            stream.data[at] = members[(mixed >> 40) % len(members)]
            digits //= len(classes)
            mixed *= 0x9E3779B97F4A7C15u
        look_at(&stream)
        for case in cases:
            check_stream(case, &stream)
    return 3 * (last - first) * len(cases)


# The functions of _scan.pxd, _utf8.pxd and _window.pxd alone, as other people's modules call them. ------------------


def scanned(const uint8_t[::1] memory not None, int width):
    """What is said of the code units in some memory, of so many bytes each: their bytes in UTF-8, the newlines among
    them, and whether all are ASCII, or of more than a byte whether any is a surrogate."""
    cdef size_t length = memory.shape[0] // width
    cdef const void *text = &memory[0] if length else NULL
    if width == 1:
        return (
            scan_utf8_size(<const uint8_t *>text, length),
            scan_newlines(<const uint8_t *>text, length),
            bool(scan_is_ascii(<const uint8_t *>text, length)),
        )
    if width == 2:
        return (
            scan_utf8_size(<const uint16_t *>text, length),
            scan_newlines(<const uint16_t *>text, length),
            bool(scan_has_surrogates_2(<const uint16_t *>text, length)),
        )
    return (
        scan_utf8_size(<const uint32_t *>text, length),
        scan_newlines(<const uint32_t *>text, length),
        bool(scan_has_surrogates_4(<const uint32_t *>text, length)),
    )


def after_newline(const uint8_t[::1] memory not None, Py_ssize_t number):
    return scan_after_newline(&memory[0], memory.shape[0], number)


def size_at(const uint8_t[::1] memory not None, Py_ssize_t begin, Py_ssize_t end):
    """`character_size` of a part of some memory."""
    assert 0 <= begin < end <= memory.shape[0]
    return character_size(&memory[begin], end - begin)


def divided_at(const uint8_t[::1] memory not None, Py_ssize_t begin, Py_ssize_t cut, Py_ssize_t end):
    """`divided_before` and `divided_after` at a cut in a part of some memory."""
    assert 0 <= begin <= cut <= end < memory.shape[0]
    return (
        divided_before(&memory[cut], cut - begin, end - cut),
        divided_after(&memory[cut], cut - begin, end - cut),
    )


def encoding(uint32_t character):
    """`encoded_size` of a code point, and what `encode_character` writes."""
    cdef uint8_t[4] block
    cdef size_t size = encode_character(character, block)
    return encoded_size(character), block[:size]


def copied(const uint8_t[::1] source not None, Py_ssize_t size, Py_ssize_t behind):
    """What `copy_bytes` writes, with 64 bytes before and after, where its target lies so far behind its source within a
    page."""
    cdef bytearray memory = bytearray(b"#" * (size + 2 * 4096))
    cdef uint8_t *start = <uint8_t *><char *>memory
    cdef Py_ssize_t at = 64 + ((<uintptr_t>&source[0] + behind - (<uintptr_t>start + 64)) & 4095)
    copy_bytes(start + at, &source[0], size)
    return bytes(memory[at - 64:at + size + 64])


def answers_of_a_window():
    """What is answered to writes into a window of a head of 2 bytes and a tail of 3, in memory that held anything."""
    cdef Window window
    cdef uint8_t data[64]
    memset(data, 0, sizeof(data))
    memset(&window, 0xFF, sizeof(Window))
    window_init(&window, 2, 3)
    answers = [window_reserve(&window, 1), window_reserve(&window, 64), window_reserve_ring(&window, 64)]
    for size in (1, 1, 1, 64, 1, 0, 64, 2, 7):
        answers.append(window_write(&window, data, size))
    seen = window.seen
    window_free(&window)
    # As it may be.
    window_free(&window)
    assert window.head == NULL and window.ring == NULL and window.seen == 0
    # Without a tail.
    window_init(&window, 1, 0)
    answers += [window_write(&window, data, 64), window_write(&window, data, 64), window_reserve_ring(&window, 64)]
    window_free(&window)
    # The second time there is room already.
    window_init(&window, 1000, 1000)
    for _ in range(2):
        answers += [window_reserve(&window, 1), window_reserve_ring(&window, 1)]
    window_free(&window)
    return answers, seen


def limits_of_a_window(head, tail):
    """The most that is held of the two ends."""
    cdef Window window
    window_init(&window, head, tail)
    return window.head_limit, window.ring_limit


def answers_without_memory():
    """What is answered where room for 2**62 bytes is asked for, and whether the window is as it was."""
    cdef Window window
    cdef uint8_t data[1]
    cdef size_t much = <size_t>1 << 62
    window_init(&window, much, much)
    answers = [
        window_reserve(&window, much),
        window_reserve_ring(&window, much),
        window_write(&window, data, much),
    ]
    unchanged = window.seen == window.head_size == window.head_alloc == window.ring_at == window.ring_alloc == 0
    window_free(&window)
    return answers, unchanged
