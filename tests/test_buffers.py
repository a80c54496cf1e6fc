"""Chunks of every buffer type: read as their bytes or refused, and never referenced after the push."""

import ctypes
import inspect
import mmap
import sys
import tracemalloc
from array import array

import numpy
import pytest

from retention import TextHead, TextHeadTail, TextRetainer, TextTail

ACCEPTED = "chunk must be a str or a bytes-like object, got "


class Bytes(bytes):
    """A subclass that adds nothing."""


class ByteArray(bytearray):
    """A subclass that adds nothing."""


class Str(str):
    """A subclass whose methods must not be asked."""

    def __str__(self):
        return "something else"

    def encode(self, *args):
        return b"something else"


def pushed(chunk):
    """The bytes that a retainer kept of one chunk."""
    retainer = TextRetainer(TextHead(10_000))
    assert retainer.push(chunk).kept
    result = retainer.finish_bytes()
    assert retainer.seen_bytes == len(result.head)
    return result.head


# Nothing of the caller's memory is kept


@pytest.mark.parametrize("strategy", [TextHead(5), TextTail(5), TextHeadTail(2, 3), TextHead(10**6)])
def test_a_reused_buffer_cannot_rewrite_history(strategy):
    buffer = bytearray(b"first")
    retainer = TextRetainer(strategy)
    retainer.push(buffer)
    buffer[:] = b"XXXXX"
    assert retainer.finish().text == "first"


def test_a_stream_read_through_one_buffer_is_kept_as_it_was_read():
    buffer = bytearray(2)
    retainer = TextRetainer(TextHeadTail(3, 3))
    for pair in (b"ab", b"cd", b"ef", b"gh"):
        buffer[:] = pair
        retainer.push(memoryview(buffer))
    assert retainer.finish().text == "abcfgh"


def test_a_reused_array_cannot_rewrite_history():
    numbers = numpy.full(4, ord("a"), dtype=numpy.uint8)
    retainer = TextRetainer(TextTail(4))
    retainer.push(numbers)
    numbers[:] = 0
    assert retainer.finish().text == "aaaa"


@pytest.mark.parametrize("make", [bytearray, ByteArray, lambda data: array("B", data)])
@pytest.mark.parametrize("size", [1, 10, 1000])
def test_a_chunk_can_be_resized_right_after_its_push(make, size):
    # A view that outlived the push would make these a BufferError.
    chunk = make(b"a" * size)
    TextRetainer(TextHeadTail(3, 3)).push(chunk)
    chunk.extend(b"more")
    del chunk[:]
    assert len(chunk) == 0


def test_a_chunk_can_be_resized_right_after_extend():
    chunks = [bytearray(b"ab"), ByteArray(b"cd"), array("i", [1])]
    TextRetainer(TextHead(100)).extend(chunks)
    for chunk in chunks:
        chunk.append(0)
    assert [len(chunk) for chunk in chunks] == [3, 3, 2]


def test_a_view_can_be_released_right_after_its_push():
    buffer = bytearray(b"abcd")
    view = memoryview(buffer)
    TextRetainer(TextHead(100)).push(view)
    view.release()
    buffer.clear()
    assert buffer == b""


def test_a_refused_view_can_be_released_right_after_its_push():
    buffer = bytearray(b"abcd")
    view = memoryview(buffer)[::2]
    with pytest.raises(BufferError):
        TextRetainer(TextHead(100)).push(view)
    view.release()
    buffer.clear()
    assert buffer == b""


def test_a_map_can_be_closed_right_after_its_push():
    with mmap.mmap(-1, 100) as memory:
        memory[:5] = b"hello"
        retainer = TextRetainer(TextHead(5))
        retainer.push(memory)
    assert memory.closed
    assert retainer.finish().text == "hello"


@pytest.mark.parametrize("strategy", [TextHead(1), TextTail(1), TextHeadTail(1, 1)])
@pytest.mark.parametrize("make", [bytes, bytearray, lambda data: str(data, "ascii"), memoryview])
def test_one_kept_byte_does_not_pin_its_chunk(strategy, make):
    retainer = TextRetainer(strategy)
    tracemalloc.start()
    try:
        chunk = make(b"x" * (50 << 20))
        retainer.push(chunk)
        del chunk
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 100_000
    assert retainer.seen_bytes == 50 << 20


@pytest.mark.parametrize("make", [bytes, bytearray, Bytes, ByteArray, memoryview, lambda data: str(data, "ascii")])
def test_a_push_leaves_no_reference_to_its_chunk(make):
    chunk = make(b"abcdef")
    retainer = TextRetainer(TextHead(100))
    before = sys.getrefcount(chunk)
    retainer.push(chunk)
    retainer.extend([chunk])
    retainer.finish()
    assert sys.getrefcount(chunk) == before


def test_a_failed_push_leaves_no_reference_to_its_chunk():
    chunk = numpy.arange(10)[::2]
    before = sys.getrefcount(chunk)
    retainer = TextRetainer(TextHead(100))
    for _ in range(10):
        with pytest.raises(BufferError):
            retainer.push(chunk)
    assert sys.getrefcount(chunk) == before


# Contiguous buffers are read as their bytes


class Point(ctypes.Structure):
    """Two numbers, 8 bytes."""

    _fields_ = (("x", ctypes.c_int32), ("y", ctypes.c_int32))


@pytest.mark.parametrize(
    ("chunk", "data"),
    [
        (b"ab", b"ab"),
        (Bytes(b"ab"), b"ab"),
        (bytearray(b"ab"), b"ab"),
        (ByteArray(b"ab"), b"ab"),
        ("aé", b"a\xc3\xa9"),
        (Str("aé"), b"a\xc3\xa9"),
        (memoryview(b"ab"), b"ab"),
        (memoryview(b"abcd")[1:3], b"bc"),
        (memoryview(b"ab").cast("b"), b"ab"),
        (memoryview(b"ab").cast("c"), b"ab"),
        (memoryview(b"abcd").cast("H"), b"abcd"),
        (memoryview(b"abcdef").cast("B", (2, 3)), b"abcdef"),
        (memoryview(bytearray(b"ab")), b"ab"),
        (memoryview(bytearray(b"ab")).toreadonly(), b"ab"),
        (memoryview(b"abcdef")[::2][:1], b"a"),  # of one element every stride is contiguous
    ],
)
def test_builtin_types_are_read_as_their_bytes(chunk, data):
    assert pushed(chunk) == data


@pytest.mark.parametrize("code", ["b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d"])
def test_arrays_are_read_as_the_bytes_of_their_numbers(code):
    numbers = array(code, [1, 2, 3])
    assert pushed(numbers) == numbers.tobytes()


@pytest.mark.parametrize(
    ("chunk", "data"),
    [
        ((ctypes.c_char * 3)(*b"abc"), b"abc"),
        ((ctypes.c_uint8 * 3)(1, 2, 3), b"\1\2\3"),
        ((ctypes.c_uint8 * 2 * 2)((1, 2), (3, 4)), b"\1\2\3\4"),
        (ctypes.create_string_buffer(b"ab"), b"ab\0"),
        (ctypes.c_uint8(97), b"a"),  # no dimension at all
        ((ctypes.c_uint8 * 0)(), b""),
    ],
)
def test_ctypes_are_read_as_their_bytes(chunk, data):
    assert pushed(chunk) == data


@pytest.mark.parametrize("chunk", [(ctypes.c_int * 3)(1, 2, 3), Point(1, 2), (Point * 2)(Point(1, 2), Point(3, 4))])
def test_ctypes_of_many_bytes_are_read_as_they_lie_in_memory(chunk):
    assert pushed(chunk) == bytes(chunk)


@pytest.mark.parametrize("dtype", ["i1", "?", "<i4", ">i4", "<f8", ">f8", "f2", "c16", "S3", "<U2", "V5", "i2,f8"])
def test_numpy_types_are_read_as_they_lie_in_memory(dtype):
    numbers = numpy.zeros(4, dtype=dtype)
    numbers.view("u1")[:] = numpy.arange(numbers.nbytes) % 2
    assert pushed(numbers) == numbers.tobytes()


def test_a_number_of_the_other_byte_order_is_not_swapped():
    assert pushed(numpy.array([0x61626364], dtype=">i4")) == b"abcd"
    assert pushed(numpy.array([0x61626364], dtype="<i4")) == b"dcba"


def test_a_structure_is_read_with_its_padding():
    dtype = numpy.dtype([("flag", "u1"), ("number", "<u4")], align=True)
    # 61 | 3 bytes of padding | 62 63 64 65
    chunk = numpy.frombuffer(b"a\0\0\0bcde", dtype=dtype)
    assert pushed(chunk) == b"a\0\0\0bcde"


@pytest.mark.parametrize("shape", [(2, 3), (6, 1), (1, 6), (1, 2, 3), (3, 1, 2)])
def test_a_contiguous_array_of_any_shape_is_read_row_by_row(shape):
    assert pushed(numpy.frombuffer(b"abcdef", dtype="u1").reshape(shape)) == b"abcdef"


def test_an_array_without_dimensions_is_one_number():
    assert pushed(numpy.array(0x6261, dtype="<u2")) == b"ab"


def test_a_read_only_array_is_read():
    numbers = numpy.frombuffer(b"abc", dtype="u1")
    assert not numbers.flags.writeable
    assert pushed(numbers) == b"abc"


def test_a_fortran_array_that_is_also_c_contiguous_is_read():
    assert pushed(numpy.asfortranarray(numpy.frombuffer(b"abc", dtype="u1").reshape(1, 3))) == b"abc"


@pytest.mark.parametrize(
    "chunk",
    [
        memoryview(b""),
        array("d"),
        numpy.zeros(0),
        numpy.zeros((0, 3)),
        numpy.zeros((3, 0), dtype=">i4"),
        memoryview(numpy.zeros((0, 3))),
        memoryview(numpy.zeros((2, 0, 3), dtype="u1")),
        numpy.zeros((4, 6))[:0, ::2],  # strides that no C array has, over nothing
        numpy.zeros((4, 6), order="F")[:, :0],
        memoryview(b"abc")[3:],
        memoryview(b"abc")[3::2],
    ],
)
def test_a_buffer_of_no_bytes_is_an_empty_chunk_whatever_its_shape(chunk):
    retainer = TextRetainer(TextHead(1))
    retainer.push(b"ab")
    decision = retainer.push(chunk)
    assert (decision.kept, decision.truncated, retainer.seen_bytes) == (True, True, 2)


# What is refused


@pytest.mark.parametrize(
    "chunk",
    [
        memoryview(b"abcdef")[::2],
        memoryview(b"abcdef")[::-1],
        memoryview(bytearray(b"abcdef"))[1::3],
        numpy.arange(6, dtype="u1")[::2],
        numpy.arange(6, dtype="u1")[::-1],
        numpy.arange(6, dtype="u1").reshape(2, 3)[:, 1:],
        numpy.asfortranarray(numpy.arange(6, dtype="u1").reshape(2, 3)),
        numpy.arange(6, dtype="u1").reshape(2, 3).T,
        numpy.broadcast_to(numpy.uint8(97), (5,)),  # five times one byte
        numpy.zeros(3, dtype="u1,i4")["f1"],
    ],
)
def test_a_buffer_that_is_not_contiguous_is_refused(chunk):
    retainer = TextRetainer(TextHead(10))
    retainer.push(b"a")
    with pytest.raises(BufferError, match="chunk must be C-contiguous"):
        retainer.push(chunk)
    assert retainer.finish().text == "a"


def test_a_released_view_is_refused():
    view = memoryview(b"abc")
    view.release()
    retainer = TextRetainer(TextHead(10))
    with pytest.raises(ValueError, match="released"):
        retainer.push(view)
    assert retainer.seen_bytes == 0


def test_a_closed_map_is_refused():
    memory = mmap.mmap(-1, 10)
    memory.close()
    retainer = TextRetainer(TextHead(10))
    with pytest.raises(ValueError, match="closed"):
        retainer.push(memory)
    assert retainer.seen_bytes == 0


@pytest.mark.parametrize("chunk", [None, 5, 1.5, True, [97], (97,), {97}, {"a": 1}, print, int, iter(b"ab"), ...])
def test_what_is_neither_text_nor_a_buffer_is_refused(chunk):
    retainer = TextRetainer(TextHead(3))
    retainer.push(b"abcd")
    before = (retainer.finish(), retainer.seen_bytes, retainer.truncated)
    with pytest.raises(TypeError) as caught:
        retainer.push(chunk)
    assert str(caught.value) == ACCEPTED + shortened(repr(chunk))
    assert (retainer.finish(), retainer.seen_bytes, retainer.truncated) == before


def shortened(text):
    return text if len(text) <= 60 else text[:57] + "..."


def test_a_refused_chunk_of_a_long_repr_is_shown_shortened():
    with pytest.raises(TypeError) as caught:
        TextRetainer(TextHead(3)).push(["x" * 1000])
    assert str(caught.value) == f"{ACCEPTED}['{'x' * 55}..."


def test_a_refused_chunk_without_a_repr_is_shown_by_its_type():
    class Shy:
        def __repr__(self):
            raise RuntimeError("no repr")

    with pytest.raises(TypeError) as caught:
        TextRetainer(TextHead(3)).push(Shy())
    assert str(caught.value) == ACCEPTED + "an object of type Shy"


def test_push_takes_one_positional_argument():
    retainer = TextRetainer(TextHead(3))
    for arguments, keywords in [((), {}), ((b"a", b"b"), {}), ((), {"chunk": b"a"})]:
        with pytest.raises(TypeError):
            retainer.push(*arguments, **keywords)
    assert retainer.seen_bytes == 0


# Buffers whose making runs the caller's code

exports_from_python = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="classes written in Python export buffers by __buffer__ from 3.12 on"
)


class Export:
    """A buffer that runs code while it is made and while it is given back."""

    def __init__(self, data, made=lambda: None, released=lambda: None):
        self.data, self.made, self.released = data, made, released

    def __buffer__(self, flags):
        self.made()
        return memoryview(self.data)

    def __release_buffer__(self, view):
        view.release()
        self.released()


@exports_from_python
def test_an_export_that_pushes_comes_before_its_own_bytes():
    retainer = TextRetainer(TextHeadTail(4, 4))
    retainer.push(Export(b"outer", made=lambda: retainer.push(b"inner")))
    assert retainer.finish().text == "inneuter"
    assert retainer.seen_bytes == 10


@exports_from_python
def test_an_export_that_pushes_while_it_is_released_comes_after_its_own_bytes():
    retainer = TextRetainer(TextHead(100))
    retainer.push(Export(b"outer", released=lambda: retainer.push(b"inner")))
    assert retainer.finish().text == "outerinner"


@exports_from_python
def test_an_export_that_asks_for_results_gets_them():
    retainer = TextRetainer(TextHead(100))
    retainer.push(b"ab")
    seen = []
    retainer.push(Export(b"cd", made=lambda: seen.append(retainer.finish().text)))
    assert (seen, retainer.finish().text) == (["ab"], "abcd")


@exports_from_python
def test_an_export_is_released_by_the_end_of_its_push():
    released = []
    retainer = TextRetainer(TextHead(100))
    retainer.push(Export(b"abc", released=lambda: released.append(retainer.seen_bytes)))
    assert released == [3]


@exports_from_python
@pytest.mark.parametrize("error", [ValueError, BufferError, OSError, MemoryError])
def test_an_export_that_raises_leaves_the_retainer_as_it_was(error):
    def made():
        raise error("no memory to show")

    retainer = TextRetainer(TextHead(2))
    retainer.push(b"abc")
    before = retainer.finish()
    with pytest.raises(error, match="no memory to show"):
        retainer.push(Export(b"abc", made=made))
    assert (retainer.finish(), retainer.seen_bytes) == (before, 3)


@exports_from_python
def test_an_export_that_refuses_to_be_plain_bytes_says_why():
    class Formatted:
        def __buffer__(self, flags):
            if flags & inspect.BufferFlags.FORMAT:
                return memoryview(b"abc")
            raise BufferError("only with its format")

    retainer = TextRetainer(TextHead(2))
    with pytest.raises(BufferError, match="only with its format"):
        retainer.push(Formatted())
    assert retainer.seen_bytes == 0


def test_numpys_dates_count_as_their_bytes():
    # Of these NumPy exports the bytes alone, and no format.
    dates = numpy.array(["2020-01-01", "1970-01-02"], dtype="M8[D]")
    retainer = TextRetainer(TextHead(16))
    retainer.push(dates)
    assert retainer.finish_bytes().head == dates.tobytes()
