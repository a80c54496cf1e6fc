"""Mutants of mutants.py that change nothing that a test could see, and why.

By their file and line, or, where that does not hold for all of a line's, by what is there before and after.
"""

EXPLAINED: dict[str, dict[str | tuple[str, str], str]] = {
    "_engine.pyx": {
        "errno = ENOSYS;": "Only systems without RWF_NOWAIT have this.",
        "return -1;": "Only systems without RWF_NOWAIT have this.",
        (
            "return errno == ECHILD ? 1 : errno == EINTR ? 0 : -1;",
            "return errno == ECHILD ? 2 : errno == EINTR ? 0 : -1;",
        ): "It is only asked whether it is positive.",
        (
            "return errno == ECHILD ? 1 : errno == EINTR ? 0 : -1;",
            "return errno == ECHILD ? 1 : errno == EINTR ? 0 : -2;",
        ): "It is only asked whether it is negative.",
        "BLOCK = 64 << 10": "Another size is as good.",
        (
            "reader.manner = ONCE",
            "pass",
        ): "A file that cannot be read at once is asked again in each turn, in vain.",
        (
            "TURN = 16",
            "TURN = 17",
        ): "Another number is as good.",
        (
            "LOOK = 20",
            "LOOK = 21",
        ): "Another time is as good.",
        (
            "IN_VAIN = 250",
            "IN_VAIN = 251",
        ): "Another number is as good.",
        (
            "def __cinit__(self, list readers, *, int waker=-1):",
            "def __cinit__(self, list readers, *, int waker=-2):",
        ): "No descriptor is negative.",
        (
            "self.output = self.pidfd = self.spilled.fd = self.signals.reader = self.signals.writer = -1",
            "self.output = self.pidfd = self.spilled.fd = self.signals.reader = self.signals.writer = -2",
        ): "No descriptor is negative.",
        (
            "self.readers = <Reader *>PyMem_Calloc(max(len(readers), 1), sizeof(Reader))",
            "self.readers = <Reader *>PyMem_Calloc(max(len(readers), 2), sizeof(Reader))",
        ): "One more is not used.",
        (
            "self.polled = <pollfd *>PyMem_Calloc(len(readers) + 4, sizeof(pollfd))",
            "self.polled = <pollfd *>PyMem_Calloc(len(readers) + 5, sizeof(pollfd))",
        ): "One more is not used.",
        (
            "self.block = NULL",
            "pass",
        ): "Where it has no memory, the C library of Linux leaves it as it is.",
        (
            "if self.sees_signals and (seconds is None or seconds > 0):",
            "if self.sees_signals and (seconds is None or seconds >= 0):",
        ): "Handlers run a moment sooner.",
        (
            "PyErr_CheckSignals()",
            "pass",
        ): "It is for a signal in the microseconds since the interpreter has looked, which no test can send then.",
        (
            "self.signals.before = signal.set_wakeup_fd(self.signals.writer, warn_on_full_buffer=False)",
            "self.signals.before = signal.set_wakeup_fd(self.signals.writer, warn_on_full_buffer=True)",
        ): "It is emptied long before it is full.",
        (
            "return 0",
            "return 1",
        ): "It is only asked whether it is negative.",
        (
            "cdef int found = -1",
            "cdef int found = -2",
        ): "No descriptor is negative.",
        (
            "self.signals_seen = now",
            "pass",
        ): "Signals are looked for more often.",
        (
            "if deadline != NEVER and now >= deadline:",
            "if deadline != NEVER and now > deadline:",
        ): "The clock counts nanoseconds.",
        (
            "if self.must_look_for_signals() and now - self.signals_seen >= SIGNALS:",
            "if self.must_look_for_signals() and now + self.signals_seen >= SIGNALS:",
        ): "Signals are looked for more often.",
        (
            "if self.must_look_for_signals() and now - self.signals_seen >= SIGNALS:",
            "if self.must_look_for_signals() and now - self.signals_seen > SIGNALS:",
        ): "Another time is as good.",
        (
            "if self.must_look_for_signals() and now - self.signals_seen >= SIGNALS:",
            "if self.must_look_for_signals() or now - self.signals_seen >= SIGNALS:",
        ): "Signals are looked for by who hears them too.",
        (
            "cdef long long milliseconds = -1",
            "cdef long long milliseconds = -2",
        ): "For poll any negative time is without end.",
        (
            "milliseconds = min(max((deadline - now + 999_999) // 1_000_000, 0), 1_000_000_000)",
            "milliseconds = min(max((deadline - now + 1000000) // 1_000_000, 0), 1_000_000_000)",
        ): "At most a millisecond more is waited.",
        (
            "milliseconds = min(max((deadline - now + 999_999) // 1_000_000, 0), 1_000_000_000)",
            "milliseconds = min(max((deadline - now + 999_999) // 1000001, 0), 1_000_000_000)",
        ): "A wait that is a millionth shorter is followed by another.",
        (
            "milliseconds = min(max((deadline - now + 999_999) // 1_000_000, 0), 1_000_000_000)",
            "milliseconds = min(max((deadline - now + 999_999) // 1_000_000, 1), 1_000_000_000)",
        ): "A millisecond is waited where nothing is ready.",
        (
            "milliseconds = min(max((deadline - now + 999_999) // 1_000_000, 0), 1_000_000_000)",
            "milliseconds = min(max((deadline - now + 999_999) // 1_000_000, 0), 1000000001)",
        ): "The wait is followed by another.",
        (
            "if self.watching and self.pidfd < 0 and not 0 <= milliseconds < LOOK:",
            "if self.watching and self.pidfd <= 0 and not 0 <= milliseconds < LOOK:",
        ): "Only more often than it must.",
        (
            "if self.watching and self.pidfd < 0 and not 0 <= milliseconds < LOOK:",
            "if self.watching and self.pidfd < 1 and not 0 <= milliseconds < LOOK:",
        ): "Only more often than it must.",
        (
            "if self.watching and self.pidfd < 0 and not 0 <= milliseconds < LOOK:",
            "if self.watching and self.pidfd < 0 and not 1 <= milliseconds < LOOK:",
        ): "LOOK milliseconds are waited where nothing is ready.",
        (
            "if self.watching and self.pidfd < 0 and not 0 <= milliseconds < LOOK:",
            "if self.watching and self.pidfd < 0 and not 0 < milliseconds < LOOK:",
        ): "LOOK milliseconds are waited where nothing is ready.",
        (
            "if self.watching and self.pidfd < 0 and not 0 <= milliseconds < LOOK:",
            "if self.watching and self.pidfd < 0 and not 0 <= milliseconds <= LOOK:",
        ): "It is LOOK either way.",
        (
            "if self.must_look_for_signals() and not 0 <= milliseconds < SIGNALS // 1_000_000:",
            "if self.must_look_for_signals() and not 1 <= milliseconds < SIGNALS // 1_000_000:",
        ): "A tenth of a second is waited where nothing is ready.",
        (
            "if self.must_look_for_signals() and not 0 <= milliseconds < SIGNALS // 1_000_000:",
            "if self.must_look_for_signals() and not 0 < milliseconds < SIGNALS // 1_000_000:",
        ): "A tenth of a second is waited where nothing is ready.",
        (
            "if self.must_look_for_signals() and not 0 <= milliseconds < SIGNALS // 1_000_000:",
            "if self.must_look_for_signals() and not 0 <= milliseconds <= SIGNALS // 1_000_000:",
        ): "It is this time either way.",
        (
            "if self.must_look_for_signals() and not 0 <= milliseconds < SIGNALS // 1_000_000:",
            "if self.must_look_for_signals() and not 0 <= milliseconds < SIGNALS // 1000001:",
        ): "Another time is as good.",
        (
            "milliseconds = SIGNALS // 1_000_000",
            "milliseconds = SIGNALS // 1000001",
        ): "Another time is as good.",
        (
            "entry.fd = self.readers[number].fd if self.readers[number].state == OPEN else -1",
            "entry.fd = self.readers[number].fd if self.readers[number].state == OPEN else -2",
        ): "A negative descriptor is passed over.",
        (
            "entry.fd = self.pidfd if self.watching else -1",
            "entry.fd = self.pidfd if self.watching else -2",
        ): "A negative descriptor is passed over.",
        (
            "return self.sees_signals and self.signals.reader < 0",
            "return self.sees_signals and self.signals.reader <= 0",
        ): "Signals are looked for by who hears them too.",
        (
            "return self.sees_signals and self.signals.reader < 0",
            "return self.sees_signals and self.signals.reader < 1",
        ): "Signals are looked for by who hears them too.",
        (
            "self.waker = -1",
            "self.waker = -2",
        ): "No descriptor is negative.",
        (
            "cdef int ended = self.polled[self.count + 1].revents if self.pidfd >= 0 else child_has_ended(self.pid)",
            "cdef int ended = self.polled[self.count + 1].revents if self.pidfd > 0 else child_has_ended(self.pid)",
        ): "It is asked for instead, whose answer is the same.",
        (
            "cdef int ended = self.polled[self.count + 1].revents if self.pidfd >= 0 else child_has_ended(self.pid)",
            "cdef int ended = self.polled[self.count + 1].revents if self.pidfd >= 1 else child_has_ended(self.pid)",
        ): "It is asked for instead, whose answer is the same.",
        (
            "self.in_vain = self.in_vain + 1 if ended < 0 else 0",
            "self.in_vain = self.in_vain + 2 if ended < 0 else 0",
        ): "Another number is as good.",
        (
            "self.in_vain = self.in_vain + 1 if ended < 0 else 0",
            "self.in_vain = self.in_vain + 1 if ended < 0 else 1",
        ): "Another number is as good.",
        (
            "if deadline != NEVER and monotonic() >= deadline:",
            "if deadline != NEVER and monotonic() > deadline:",
        ): "The clock counts nanoseconds.",
        (
            "if deadline != NEVER and monotonic() >= deadline:",
            "if deadline != NEVER and monotonic() < deadline:",
        ): "The time is looked at after at most TURN blocks in any case.",
        (
            "if error == EAGAIN or error == EWOULDBLOCK or error == EINTR:",
            "if error == EAGAIN and error == EWOULDBLOCK or error == EINTR:",
        ): "They are one on Linux.",
        (
            "if errno == EAGAIN or errno == EWOULDBLOCK or errno == EINTR:",
            "if errno == EAGAIN and errno == EWOULDBLOCK or errno == EINTR:",
        ): "They are one on Linux.",
        (
            "if written < 0:",
            "if written <= 0:",
        ): "Of more than 0 bytes at least one is written, or it fails.",
        (
            "if written < 0:",
            "if written < 1:",
        ): "Of more than 0 bytes at least one is written, or it fails.",
        (
            "self.output = -1",
            "self.output = -2",
        ): "No descriptor is negative.",
        (
            "return <long long>now.tv_sec * 1_000_000_000 + now.tv_nsec",
            "return <long long>now.tv_sec * 1000000001 + now.tv_nsec",
        ): "It is the same clock for all, whose seconds are a nanosecond longer.",
    },
    "_signals.pxd": {
        "if (pipe(ends) < 0)": "Only other systems have this.",
        "return -1;": "Only other systems have this.",
        "for (int i = 0; i < 2; i++) {": "Only other systems have this.",
        "fcntl(ends[i], F_SETFD, FD_CLOEXEC);": "Only other systems have this.",
        "fcntl(ends[i], F_SETFL, O_NONBLOCK);": "Only other systems have this.",
        "return 0;": "Only other systems have this.",
        (
            "SIGNALS_TAKEN = 64",
            "SIGNALS_TAKEN = 65",
        ): "Another number is as good.",
        (
            "signals.reader, signals.writer, signals.before = ends[0], ends[1], -1",
            "signals.reader, signals.writer, signals.before = ends[0], ends[1], -2",
        ): "No descriptor is negative.",
        (
            "if size > 0:",
            "if size >= 0:",
        ): "It never comes to its end: the other one is ours.",
        (
            "if signals.before >= 0 and write(signals.before, numbers, size) < 0:",
            "if signals.before >= 0 and write(signals.before, numbers, size) <= 0:",
        ): "Either way the next are taken.",
        (
            "if signals.before >= 0 and write(signals.before, numbers, size) < 0:",
            "if signals.before >= 0 and write(signals.before, numbers, size) >= 0:",
        ): "Either way the next are taken.",
        (
            "if signals.before >= 0 and write(signals.before, numbers, size) < 0:",
            "if signals.before >= 0 and write(signals.before, numbers, size) < 1:",
        ): "Either way the next are taken.",
        (
            "signals.reader = signals.writer = -1",
            "signals.reader = signals.writer = -2",
        ): "No descriptor is negative.",
    },
    "process.py": {
        "class _PopenOptions(TypedDict, total=False):": "Only a type checker looks at it, as test_typing has one do.",
    },
    "fitting.pyx": {
        (
            "if type(max_bytes) is not int or max_bytes < 0:",
            "if type(max_bytes) is not int or max_bytes <= 0:",
        ): "The slower way takes a 0 as well.",
        (
            "if type(max_bytes) is not int or max_bytes < 0:",
            "if type(max_bytes) is not int or max_bytes < 1:",
        ): "The slower way takes a 0 as well.",
        (
            "cuts = cuts_within(text, max_bytes, 0 if share == 0 else 1, whole_lines)",
            "cuts = cuts_within(text, max_bytes, 0 if share == 0 else 2, whole_lines)",
        ): "No head is longer than what there is room for.",
        (
            "cdef size_t reserve = CLAUSE_SIZE + digits(size - limit)",
            "cdef size_t reserve = CLAUSE_SIZE - digits(size - limit)",
        ): "The first few tries are too small for any marker.",
        (
            "if 0 < line < length:",
            "if 1 < line < length:",
        ): "A tail begins behind the first character, so a line that begins in it does so behind the second.",
        (
            "cuts.tail_start += 1",
            "cuts.tail_start += 2",
        ): "The newline is the last character: else the tail would have begun behind it already.",
    },
    "_scan.pxd": {
        (
            "while (size >= 256) {",
            "while (size > 256) {",
        ): "The loop after it looks at the rest.",
        (
            "while (size >= 256) {",
            "while (size >= 257) {",
        ): "The loop after it looks at the rest.",
        (
            "uint8_t seen = 0;",
            "uint8_t seen = 1;",
        ): "Only the highest bit is asked for.",
        (
            "if (seen & 0x80)",
            "if (seen & 129)",
        ): "It denies it of some ASCII, which is then decoded like all else.",
        (
            "return !(seen & 0x80);",
            "return !(seen & 129);",
        ): "It denies it of some ASCII, which is then decoded like all else.",
        (
            "while (length > 255) {",
            "while (length >= 255) {",
        ): "The loop after it counts the rest.",
        (
            "size_t rounds = length / 32 < 255 ? length / 32 : 255;",
            "size_t rounds = length / 32 <= 255 ? length / 32 : 255;",
        ): "It is as long either way.",
        (
            "size_t rounds = length / 32 < 255 ? length / 32 : 255;",
            "size_t rounds = length / 32 < 256 ? length / 32 : 255;",
        ): "It is as long either way.",
        (
            "size_t rounds = length / 32 < 255 ? length / 32 : 255;",
            "size_t rounds = length / 32 < 255 ? length / 33 : 255;",
        ): "The loop after it counts the rest.",
        (
            "while (size > 1024) {",
            "while (size >= 1024) {",
        ): "There are as many newlines: the size only tells what may be skipped.",
        (
            "while (size > 1024) {",
            "while (size > 1025) {",
        ): "There are as many newlines: the size only tells what may be skipped.",
        (
            "size -= 1024;",
            "size = 1024;",
        ): "There are as many newlines: the size only tells what may be skipped.",
        (
            "size -= 1024;",
            "size -= 1025;",
        ): "There are as many newlines: the size only tells what may be skipped.",
        (
            "size_t block = length < 255 ? length : 255;",
            "size_t block = length <= 255 ? length : 255;",
        ): "It is as long either way.",
        (
            "size_t block = length < 255 ? length : 255;",
            "size_t block = length < 256 ? length : 255;",
        ): "It is as long either way.",
        (
            "size_t block = length < 16384 ? length : 16384;",
            "size_t block = length <= 16384 ? length : 16384;",
        ): "It is as long either way.",
        (
            "size_t block = length < 16384 ? length : 16384;",
            "size_t block = length < 16385 ? length : 16384;",
        ): "It is as long either way.",
        (
            "size_t block = length < 16384 ? length : 16384;",
            "size_t block = length < 16384 ? length : 16385;",
        ): "No counter overflows in a block of this size either.",
        (
            "size_t block = length < 32768 ? length : 32768;",
            "size_t block = length <= 32768 ? length : 32768;",
        ): "It is as long either way.",
        (
            "size_t block = length < 32768 ? length : 32768;",
            "size_t block = length < 32769 ? length : 32768;",
        ): "It is as long either way.",
        (
            "size_t block = length < 32768 ? length : 32768;",
            "size_t block = length < 32768 ? length : 32769;",
        ): "No counter overflows in a block of this size either.",
        (
            "size_t block = length < 65536 ? length : 65536;",
            "size_t block = length <= 65536 ? length : 65536;",
        ): "It is as long either way.",
        (
            "size_t block = length < 65536 ? length : 65536;",
            "size_t block = length < 65537 ? length : 65536;",
        ): "It is as long either way.",
        (
            "size_t block = length < 65536 ? length : 65536;",
            "size_t block = length < 65536 ? length : 65537;",
        ): "No counter overflows in a block of this size either.",
    },
    "text.pyx": {
        (
            "TOO_LONG = 1",
            "TOO_LONG = 2",
        ): "Another number is as good.",
        (
            "lock_init(&self.lock)",
            "pass",
        ): "On Linux a mutex of zeros is one.",
        (
            "lock_free(&self.lock)",
            "pass",
        ): "On Linux a mutex holds nothing.",
        (
            "return 0",
            "return 1",
        ): "It is only asked whether it is negative.",
        (
            "return -1",
            "return -2",
        ): "It is only asked whether it is negative.",
        (
            "size = -1",
            "size = -2",
        ): "It is only asked whether it is negative.",
        (
            "PyUnicode_READY(chunk)",
            "pass",
        ): "Only strings that are made by a part of the C API that CPython 3.12 has no more are not ready.",
        (
            "PyUnicode_READY(text)",
            "pass",
        ): "Only strings that are made by a part of the C API that CPython 3.12 has no more are not ready.",
        (
            "cdef bint should_stop = False",
            "cdef bint should_stop = True",
        ): "In extend: where there is no chunk all is kept, and nobody asks for it.",
        (
            "self.absorb((size, 0, True, first, last))",
            "self.absorb((size, 1, True, first, last))",
        ): "Where no lines are counted, neither is looked at.",
        (
            "self.absorb((size, 0, True, first, last))",
            "self.absorb((size, 0, False, first, last))",
        ): "Where no lines are counted, neither is looked at.",
        (
            "if self.window.seen == 0 or (self.window.seen <= MOST_BYTES and seen <= MOST_BYTES - self.window.seen):",
            "if self.window.seen == 0 or (self.window.seen < MOST_BYTES and seen <= MOST_BYTES - self.window.seen):",
        ): "What is merged is not empty here: the other half says the same.",
        (
            "if self.lines.counted and first:",
            "if self.lines.counted or first:",
        ): "Where no lines are counted, none ends the head; and nothing has no lines.",
        (
            'known = first.count(b"\\n") + last.count(b"\\n") if self.lines.counted else 0',
            'known = first.count(b"\\n") + last.count(b"\\n") if self.lines.counted else 1',
        ): "Where no lines are counted, it is not looked at.",
        (
            "facts.omitted_lines = lines_between(&self.window, &self.lines, facts.cuts) if self.lines.counted else 0",
            "facts.omitted_lines = lines_between(&self.window, &self.lines, facts.cuts) if self.lines.counted else 1",
        ): "Where no lines are counted, it is not looked at.",
        (
            "if not LOCK_ALWAYS:",
            "if LOCK_ALWAYS:",
        ): "With a GIL a critical section is nothing, and a bytearray has a buffer like others.",
        (
            "if not scan_is_ascii(span.piece[i], span.size[i]):",
            "if scan_is_ascii(span.piece[i], span.size[i]):",
        ): "One piece of three is always empty. All is decoded then, what is ASCII to the same text.",
        (
            "for i in range(3):",
            "for i in range(4):",
        ): "AddressSanitizer, which CI runs with, tells of a read behind the array.",
        (
            "return False",
            "return True",
        ): "A mutex that nobody has is given back, which changes nothing on Linux.",
        (
            "self.drains += 1",
            "self.drains -= 1",
        ): "The lock is taken also where it need not be.",
        (
            "self.drains += 1",
            "self.drains += 2",
        ): "The lock is taken also where it need not be.",
        (
            "self.drains -= 1",
            "self.drains += 1",
        ): "The lock is taken also where it need not be.",
        (
            "self.drains -= 1",
            "self.drains = 1",
        ): "The lock is taken also where it need not be.",
        (
            "self.drains -= 1",
            "pass",
        ): "The lock is taken also where it need not be.",
        (
            "if size < 0:",
            "if size <= 0:",
        ): "What is not ASCII has more than a byte.",
        (
            "if size < 0:",
            "if size < 1:",
        ): "What is not ASCII has more than a byte.",
    },
    "items.pyx": {
        (
            "cdef bint kept = True",
            "cdef bint kept = False",
        ): "In extend: where there is no item, none is omitted, and `decide` does not look at the stop.",
        (
            "return self.decide(True, False)",
            "return self.decide(True, True)",
        ): "Where all is kept, `decide` does not look at the stop.",
        (
            "if to_head > self.head_budget - size_of(<PyObject *>self.head):",
            "if to_head >= self.head_budget - size_of(<PyObject *>self.head):",
        ): "The iterator does the same, item by item.",
        (
            "return 0",
            "return 1",
        ): "It is only asked whether it is negative.",
        (
            "if not LOCK_ALWAYS:",
            "if LOCK_ALWAYS:",
        ): "With a GIL a critical section is nothing.",
        (
            "append(items, <PyObject *>item)",
            "pass",
        ): "It is for a build without the GIL.",
        (
            "cdef Py_ssize_t to_head = min(size, max(self.head_budget - size_of(<PyObject *>self.head), 0))",
            "cdef Py_ssize_t to_head = min(size, max(self.head_budget + size_of(<PyObject *>self.head), 0))",
        ): "Where there is less room, the iterator does the same, item by item.",
    },
    "_utf8.pxd": {
        (
            "for back in range(1, min(before, <size_t>3) + 1):",
            "for back in range(1, min(before, <size_t>4) + 1):",
        ): "A character has at most 4 bytes: one that begins 4 before a cut ends there.",
        (
            "return min(character_size(cut - back, 1) - back, after)",
            "return min(character_size(cut - back, 2) - back, after)",
        ): "The second byte, which is there, has been found right before.",
    },
    "_window.pxd": {
        (
            "if size - 16 <= 48:",
            "if size - 16 < 48:",
        ): "64 bytes are copied either way.",
        (
            "if size > 32:",
            "if size >= 32:",
        ): "What has been copied is copied again.",
        (
            "memcpy(to + 16, source + 16, 16)",
            "memcpy(to + 16, source + 16, 17)",
        ): "There are more than 32 bytes.",
        "if size >= 2048 and ((<uintptr_t>to - <uintptr_t>source) & 4095) - 1 < <uintptr_t>31:": (
            "It only says which of two ways of copying is taken, the faster one."
        ),
        (
            "memcpy(to + size - 32, source + size - 32, 16)",
            "memcpy(to + size - 32, source + size - 32, 17)",
        ): "The byte after these has been copied already.",
        (
            "while size > 256:",
            "while size >= 256:",
        ): "The last bytes are copied by one call or by two.",
        (
            "while size > 256:",
            "while size <= 256:",
        ): "All is copied by one call, which is only slower.",
        (
            "while size > 256:",
            "while size > 257:",
        ): "The last bytes are copied by one call or by two.",
        (
            "memcpy(to, source, 256)",
            "memcpy(to, source, 257)",
        ): "There are more than 256, and the last is copied again.",
        (
            "if size < window.ring_alloc - window.ring_at:",
            "if size <= window.ring_alloc - window.ring_at:",
        ): "A ring that is full to its end is written to from its beginning next, by the slow half.",
        (
            "if window.ring_limit == 0:",
            "if window.ring_limit == 1:",
        ): "The slow half does the same; no ring is of 1 byte.",
    },
    "_window.pyx": {
        (
            "if needed <= alloc[0]:",
            "if needed < alloc[0]:",
        ): "It only grows one byte sooner.",
        (
            "size = min(limit, max(needed, 2 * alloc[0], <size_t>SMALLEST))",
            "size = min(limit, max(needed, 3 * alloc[0], <size_t>SMALLEST))",
        ): "It only grows faster, within its limit.",
        (
            "if window.ring_alloc == window.ring_limit or size == 0:",
            "if window.ring_alloc == window.ring_limit and size == 0:",
        ): "Growing does nothing then either.",
        (
            "needed = window.ring_limit if size >= window.ring_limit - window.ring_at else window.ring_at + size",
            "needed = window.ring_limit if size > window.ring_limit - window.ring_at else window.ring_at + size",
        ): "The sum is the limit then.",
        (
            "needed = window.ring_limit if size >= window.ring_limit - window.ring_at else window.ring_at + size",
            "needed = window.ring_limit if size >= window.ring_limit + window.ring_at else window.ring_at + size",
        ): "Growing keeps to the limit.",
        (
            "if size >= window.ring_limit:",
            "if size > window.ring_limit:",
        ): "A chunk as long as the ring may also begin in the middle of it.",
        (
            "if window.ring_limit and size > to_head:",
            "if window.ring_limit or size > to_head:",
        ): "No bytes are copied then.",
        (
            "if window.ring_limit and size > to_head:",
            "if window.ring_limit and size >= to_head:",
        ): "No bytes are copied then.",
        (
            "if start < window.head_size:",
            "if start <= window.head_size:",
        ): "A piece of no bytes.",
        (
            "if start < stop:",
            "if start <= stop:",
        ): "Pieces of no bytes.",
        (
            "SMALLEST = 256",
            "SMALLEST = 257",
        ): "It is as good as 256.",
    },
    "_cuts.pyx": {
        (
            r"if whole_lines and cut < window.seen and byte_at(window, cut - 1) != c'\n':",
            r"if whole_lines and cut <= window.seen and byte_at(window, cut - 1) != c'\n':",
        ): "No bytes are left, and the last is that of a character, no CR.",
        (
            "cdef Span span = window_span(window, position, position + 1)",
            "cdef Span span = window_span(window, position, position + 2)",
        ): "Only the first byte is looked at.",
    },
    "_lines.pxd": {
        (
            (
                "cdef unsigned long long room = "
                "window.head_budget - window.seen if window.seen < window.head_budget else 0"
            ),
            (
                "cdef unsigned long long room = "
                "window.head_budget - window.seen if window.seen <= window.head_budget else 0"
            ),
        ): "The difference is 0 too.",
    },
    "_lines.pyx": {
        (
            "return -1",
            "return -2",
        ): "It is only asked whether it is negative.",
        (
            "return 0",
            "return 1",
        ): "It is only asked whether it is negative.",
        (
            "before += span.size[i]",
            "before = span.size[i]",
        ): "A part that reaches from the head into the ring ends before the ring does.",
        (
            "return before + scan_after_newline(span.piece[2], span.size[2], <size_t>number)",
            "return before + scan_after_newline(span.piece[2], span.size[3], <size_t>number)",
        ): "There are as many newlines: the size only tells what may be skipped.",
        (
            "for i in range(2):",
            "for i in range(3):",
        ): "What follows the loop is the third round.",
    },
    "_units.pxd": {
        (
            "if filled > BLOCK - 4:",
            "if filled >= BLOCK - 4:",
        ): "A block is written a character sooner.",
        (
            "if filled > BLOCK - 4:",
            "if filled <= BLOCK - 4:",
        ): "Each character is written alone, which is only slower.",
        (
            "if filled > BLOCK - 4:",
            "if filled > BLOCK - 5:",
        ): "A block is written a byte sooner.",
        (
            "if filled > BLOCK - 4:",
            "if filled > BLOCK + 4:",
        ): "It writes beyond the block: noticed by AddressSanitizer, under which the tests run too.",
        (
            "cdef size_t room = window.head_limit - window.head_size",
            "cdef size_t room = window.head_limit + window.head_size",
        ): "More is encoded than is kept.",
        (
            "if size > room + window.ring_limit + 8:",
            "if size >= room + window.ring_limit + 8:",
        ): "All is encoded, or only what is kept.",
        (
            "if size > room + window.ring_limit + 8:",
            "if size > room + window.ring_limit + 9:",
        ): "All is encoded, or only what is kept.",
        (
            "while front < room:",
            "while front <= room:",
        ): "A character more than is kept is encoded.",
        (
            "while back < window.ring_limit:",
            "while back <= window.ring_limit:",
        ): "A character more than is kept is encoded.",
        (
            "return -1",
            "return -2",
        ): "It is only asked whether it is negative.",
        (
            "BLOCK = 1024",
            "BLOCK = 1025",
        ): "It is as good as 1024.",
    },
    "_spill.pxd": {
        (
            "AROUND = 3",
            "AROUND = 4",
        ): "More around a cut than is needed is as good.",
        (
            "if written < 0:",
            "if written <= 0:",
        ): "Of more than 0 bytes at least one is written to a file, or it fails.",
        (
            "if written < 0:",
            "if written < 1:",
        ): "Of more than 0 bytes at least one is written to a file, or it fails.",
        (
            "if spilled.before + kept > AROUND:",
            "if spilled.before + kept >= AROUND:",
        ): "They are moved by 0.",
        (
            "memmove(spilled.near, spilled.near + (spilled.before + kept - AROUND), AROUND - kept)",
            "memmove(spilled.near, spilled.near + (spilled.before + kept - AROUND), AROUND + kept)",
        ): "What is moved beyond them is written over before it is read.",
    },
    "child.py": {
        (
            "waker: int = -1,",
            "waker: int = -2,",
        ): "No descriptor is negative.",
        (
            "pidfd = -1",
            "pidfd = -2",
        ): "No descriptor is negative.",
        (
            "while self.process.poll() is None and not self.refused and monotonic() < limit:",
            "while self.process.poll() is None and not self.refused and monotonic() <= limit:",
        ): "The clock counts nanoseconds.",
        (
            "for _ in range(max([pipe_blocks(file) for file in self.files if not file.closed], default=0)):",
            "for _ in range(max([pipe_blocks(file) for file in self.files if not file.closed], default=1)):",
        ): "Where all are closed, nothing is being read.",
        (
            "self.pump_until(0)",
            "self.pump_until(1)",
        ): "Both are in the past.",
        (
            "return -1",
            "return -2",
        ): "No descriptor is negative.",
        (
            "return 1",
            "return 2",
        ): "It is at most; what has nothing more to read is read in vain.",
        (
            "sleep(0.01)",
            "pass",
        ): "It only takes more of the processor's time.",
    },
    "spill.py": {
        (
            "nbytes, capped, errno = pump.end_spill() if pump is not None else (0, False, 0)",
            "nbytes, capped, errno = pump.end_spill() if pump is not None else (1, False, 0)",
        ): "Where there is no pump, an exception comes instead of the result.",
        (
            "nbytes, capped, errno = pump.end_spill() if pump is not None else (0, False, 0)",
            "nbytes, capped, errno = pump.end_spill() if pump is not None else (0, True, 0)",
        ): "Where there is no pump, an exception comes instead of the result.",
        (
            "nbytes, capped, errno = pump.end_spill() if pump is not None else (0, False, 0)",
            "nbytes, capped, errno = pump.end_spill() if pump is not None else (0, False, 1)",
        ): "Where there is no pump, an exception comes instead of the result.",
        (
            "fd = -1",
            "fd = -2",
        ): "No descriptor is negative.",
        (
            "self.fd = -1",
            "self.fd = -2",
        ): "No descriptor is negative.",
        (
            "fd, self.fd = self.fd, -1",
            "fd, self.fd = self.fd, -2",
        ): "No descriptor is negative.",
    },
    "strategies.py": {
        (
            'return float("inf") if value > 0 else float("-inf")  # type: ignore[operator]',
            'return float("inf") if value >= 0 else float("-inf")  # type: ignore[operator]',
        ): "0 is a float.",
        (
            'return float("inf") if value > 0 else float("-inf")  # type: ignore[operator]',
            'return float("inf") if value > 1 else float("-inf")  # type: ignore[operator]',
        ): "1 is a float.",
    },
    "draining.py": {
        'return source.makefile("rb", buffering=0)': ("A buffer of one byte reads nothing ahead."),
    },
    "running.py": {
        (
            "ours=True,",
            "ours=False,",
        ): "Whoever may not make the pipes non-blocking reads as much of them, by other calls.",
        (
            "waker=STDOUT if piped else -1,",
            "waker=STDOUT if piped else -2,",
        ): "No descriptor is negative.",
    },
    "_spawn.py": {
        (
            "if min(ends) > 2:",
            "if min(ends) > 3:",
        ): "Others are beside the standard ones as well.",
        (
            "higher = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3) for end in ends]",
            "higher = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 4) for end in ends]",
        ): "Others are beside the standard ones as well.",
    },
    "_streams.py": {
        (
            "select([], [fd], [])",
            "pass",
        ): "It only takes more of the processor's time.",
    },
    "_frozen.py": {
        (
            "return rebuild, (type(self), dict(zip(self.__slots__, self._values(), strict=True)))",
            "return rebuild, (type(self), dict(zip(self.__slots__, self._values(), strict=False)))",
        ): "There is a value for each slot: one that is not set raises.",
    },
    "aio.py": {
        (
            "sleep(0.001)",
            "pass",
        ): "It only takes more of the processor's time.",
    },
}
