"""A part of exhaustive.py: the shortest streams, some of the longer ones; and its model against reference.py."""

import ctypes
import mmap
import random
from itertools import product

import pytest
import reference
from exhaustive import CLASSES, LINE_CLASSES, SETS, build, cases, line_retainers, load, retainers

from retention import TextHead, TextHeadTail, TextRetainer, TextTail

pytest.importorskip("Cython", reason="compiling the driver needs Cython")
pytest.importorskip("setuptools", reason="compiling the driver needs setuptools")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    return load(build(tmp_path_factory.mktemp("driver")))


@pytest.fixture
def chance():
    """Another sample each time; what fails names its stream, so that it needs no seed to be seen again."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    return random.Random(seed)


def well_formed(driver, data):
    """The length of the character that some bytes begin, one that their end breaks off included; 0 for none."""
    rows = [row for row in driver.WELL_FORMED if all(a <= one <= b for one, (a, b) in zip(data, row, strict=False))]
    return len(rows[0]) if rows else 0


# The borders of what may follow the first byte of a character; and what stands before and after the bytes in question,
# and would make another character of them if it were read.
FOLLOWING = b"\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0"
BAITS = [b"\0", b"\xbf", b"\xe1"]


@pytest.mark.parametrize("size", range(1, 5))
def test_the_size_of_a_character_is_told_by_its_own_bytes(driver, size):
    borders = sorted({border for one in CLASSES for border in one[:2]})
    for data in map(bytes, product(borders, *[FOLLOWING] * (size - 1))):
        wanted = well_formed(driver, data)
        for bait in BAITS:
            assert driver.size_at(data + bait, 0, size) == wanted, (data, bait)


@pytest.mark.parametrize("size", range(1, 5))
def test_a_cut_divides_the_character_that_begins_before_it_and_ends_after_it(driver, size):
    for data in map(bytes, product([one[0] for one in CLASSES], *[b"\x7f\x80\x90\xa0\xe1"] * (size - 1))):
        for cut in range(size + 1):
            begin, end = reference.divided(data, cut)
            for bait in BAITS:
                found = driver.divided_at(3 * bait + data + bait, 3, 3 + cut, 3 + size)
                assert found == (cut - begin, end - cut), (data, cut, bait)


def test_each_code_point_is_encoded_as_python_does(driver):
    for code in range(0x110000):
        wanted = chr(code).encode() if not 0xD800 <= code < 0xE000 else "\ufffd".encode()
        assert driver.encoding(code) == (len(wanted), wanted), hex(code)


@pytest.fixture
def before_nothing():
    """Puts bytes at the end of memory: what is behind them cannot be read."""
    size = 1 << 20
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + size
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0

    def put(data):
        memory[size - len(data) : size] = data
        return memoryview(memory)[size - len(data) : size]

    return put


CODECS = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}

# Around the sizes of the blocks that the functions count in.
LENGTHS = [
    *range(70),
    *(block + more for block in (255, 256, 510, 512, 8160, 16384, 32768, 65536) for more in (-1, 0, 1, 2, 33)),
]


def check_scan(driver, put, text, width):
    wanted = len(text.encode("utf-8", "surrogatepass")), text.count("\n")
    special = text.isascii() if width == 1 else any("\ud800" <= one <= "\udfff" for one in set(text))
    found = driver.scanned(put(text.encode(CODECS[width], "surrogatepass")), width)
    assert found == (*wanted, special), (text[:20], len(text), width)


@pytest.mark.parametrize("width", CODECS)
@pytest.mark.parametrize("length", LENGTHS)
def test_code_units_are_counted_however_many_there_are(driver, before_nothing, width, length):
    # All alike: no counter may overflow.
    for character in "\0\n\x7f\x80\xff\u0100\u07ff\u0800\ud7ff\ud800\udbff\udc00\udfff\ue000\uffff\U00010000\U0010ffff":
        if ord(character) < 1 << 8 * width:
            check_scan(driver, before_nothing, character * length, width)
            # And one that is in the last block alone.
            check_scan(driver, before_nothing, "a" * length + character, width)


@pytest.mark.parametrize("width", CODECS)
@pytest.mark.parametrize("length", [1, 31, 254, 256, 257, 600])
def test_a_code_unit_is_seen_wherever_it_is(driver, before_nothing, width, length):
    for at in range(length):
        for character in "\n\x80" if width == 1 else "\n\udfff":
            check_scan(driver, before_nothing, "a" * at + character + "a" * (length - at - 1), width)


@pytest.mark.parametrize("length", [1, 2, 1023, 1024, 1025, 2049, 5000])
@pytest.mark.parametrize("every", [1, 2, 1000, 1024, 1500])
def test_each_newline_is_found_by_its_number(driver, before_nothing, length, every):
    ends = sorted({*range(every, length, every), length})
    text = bytes(10 if at + 1 in ends else 120 for at in range(length))
    for number, end in enumerate(ends, 1):
        assert driver.after_newline(before_nothing(text), number) == end, number


@pytest.mark.parametrize("behind", [0, 1, 2, 31, 32, 33, 4095])
def test_bytes_of_any_number_are_copied_and_no_others_written(driver, behind):
    data = random.Random(behind).randbytes(7000)
    for size in (*range(130), 255, 256, 257, 258, 2047, 2048, 2049, 2304, 2305, 4096, 6000):
        assert driver.copied(data, size, behind) == b"#" * 64 + data[:size] + b"#" * 64, size


def test_a_window_answers_0_to_what_it_takes_and_may_be_freed_again(driver):
    answers, seen = driver.answers_of_a_window()
    assert answers == [0] * len(answers)
    assert seen == 141


def test_a_window_holds_3_bytes_more_than_a_budget_and_nothing_for_one_of_0(driver):
    found = [driver.limits_of_a_window(head, tail) for head, tail in product([0, 1, 9], repeat=2)]
    assert found == list(product([0, 4, 12], repeat=2))


def test_a_window_without_memory_answers_minus_1_and_is_as_it_was(driver):
    assert driver.answers_without_memory() == ([-1, -1, -1], True)


@pytest.mark.parametrize(("name", "most"), [("bytes", 4), ("lines", 3)])
def test_every_short_stream_is_retained_as_the_model_says(driver, name, most):
    classes, _, make = SETS[name]
    retained = cases(driver, make())
    for size in range(most + 1):
        count = len(classes) ** size
        assert driver.check(retained, classes, size, 0, count) == 3 * count * len(retained)


@pytest.mark.parametrize(("name", "size", "streams"), [("bytes", 5, 4000), ("bytes", 6, 4000), ("lines", 5, 400)])
def test_some_longer_streams_are_retained_as_the_model_says(driver, chance, name, size, streams):
    classes, _, make = SETS[name]
    retained = cases(driver, make())
    for _ in range(streams):
        number = chance.randrange(len(classes) ** size)
        driver.check(retained, classes, size, number, number + 1)


def random_stream(chance):
    return bytes(chance.choice(chance.choice(LINE_CLASSES)) for _ in range(chance.randrange(7)))


def test_the_model_is_that_of_the_reference(driver, chance):
    made = [*retainers(7), *line_retainers(5, 2)]
    for _ in range(10_000):
        stream, retainer = random_stream(chance), chance.choice(made)
        strategy, whole_lines = retainer.strategy, retainer.whole_lines
        exact = reference.exact_cuts(strategy, stream)
        stop, start = exact
        if stop < start:
            stop, start = reference.divided(stream, stop)[0], reference.divided(stream, start)[1]
            if whole_lines:
                stop, start = reference.whole_line_cuts(stream, stop, start)
        lines = len(reference.lines(stream)), reference.omitted_lines(stream, stop, start)
        budgets = *reference.budgets(strategy), *reference.line_budgets(strategy)
        found = driver.model(stream, *budgets, strategy.kind == "tail", whole_lines)
        assert found == (*exact, stop, start, *lines), (strategy, whole_lines, stream)


def test_the_text_that_is_kept_is_that_of_the_reference(chance):
    made = [one.strategy for one in (*retainers(7), *line_retainers(5, 2))]
    for _ in range(4000):
        stream, strategy = random_stream(chance), chance.choice(made)
        errors = chance.choice(["replace", "ignore", "backslashreplace"])
        settings = {"errors": errors, "whole_lines": chance.random() < 0.5, "count_lines": chance.random() < 0.5}
        retainer = TextRetainer(strategy, **settings)
        retainer.push(stream)
        assert retainer.finish() == reference.text(strategy, stream, **settings), (strategy, settings, stream)


@pytest.mark.parametrize(
    ("strategy", "budgets"),
    [
        (TextHead(3), (2, 0, None, None)),
        (TextTail(3), (0, 2, None, None)),
        (TextHeadTail(1, 1), (1, 2, None, None)),
        (TextHead(3, max_lines=1), (3, 0, None, None)),
        (TextTail(3, max_lines=1), (0, 3, None, 2)),
    ],
)
def test_a_difference_is_found(driver, strategy, budgets):
    # The model is told of another budget than the retainer has.
    case = driver.Case(TextRetainer(strategy), *budgets)
    with pytest.raises(AssertionError, match="the model says"):
        driver.check([case], LINE_CLASSES, 4, 0, len(LINE_CLASSES) ** 4)
