"""Memory: bounded by the budgets and not by the stream, and given back. Each claim in an interpreter of its own."""

import os
import sys

import pytest
from measuring import run

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


# Text

TEXT_STRATEGIES = ["TextHead(100_000)", "TextTail(100_000)", "TextHeadTail(50_000, 50_000)"]


@pytest.mark.parametrize("strategy", TEXT_STRATEGIES)
def test_a_gibibyte_in_chunks_takes_the_budgets_and_a_constant(strategy):
    most, seen = run(
        """
        retainer = TextRetainer(strategy)
        chunk = b"0123456789abcdef" * 4096
        start()
        for _ in range(16384):
            retainer.push(chunk)
        print(peak(), retainer.seen_bytes)
        """,
        strategy=strategy,
    )
    assert seen == GIB
    assert most < 100_000 + 2 * KIB


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss differs between systems")
def test_a_gibibyte_in_chunks_takes_no_memory_that_the_system_sees():
    # Beside what Python traces: the process itself must not grow by more than budgets, result and slack.
    (grown,) = run(
        """
        import resource
        retainer = TextRetainer(TextHeadTail(50_000, 50_000))
        chunk = b"0123456789abcdef" * 4096
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(16384):
            retainer.push(chunk)
        retainer.finish()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """
    )
    assert grown < 4 * KIB  # in KiB


@pytest.mark.parametrize("strategy", TEXT_STRATEGIES)
def test_ten_million_chunks_of_one_byte_take_no_more(strategy):
    most, seen = run(
        """
        retainer = TextRetainer(strategy)
        push = retainer.push
        start()
        for _ in range(1_000_000):
            push(b"0"); push(b"1"); push(b"2"); push(b"3"); push(b"4")
            push(b"5"); push(b"6"); push(b"7"); push(b"8"); push(b"9")
        print(peak(), retainer.seen_bytes)
        """,
        strategy=strategy,
    )
    assert seen == 10_000_000
    assert most < 100_000 + 2 * KIB


@pytest.mark.parametrize("strategy", TEXT_STRATEGIES)
@pytest.mark.parametrize("character", ["x", "é", "€", "😀"])
def test_many_chunks_of_one_character_take_no_more(strategy, character):
    most, seen = run(
        """
        retainer = TextRetainer(strategy)
        push = retainer.push
        start()
        for _ in range(200_000):
            push(character)
        print(peak(), retainer.seen_bytes)
        """,
        strategy=strategy,
        character=repr(character),
    )
    assert seen == 200_000 * len(character.encode())
    assert most < 100_000 + 2 * KIB


@pytest.mark.parametrize("strategy", TEXT_STRATEGIES)
@pytest.mark.parametrize("character", ["x", "é", "€", "😀"])
def test_a_large_str_is_encoded_only_where_it_is_kept(strategy, character):
    (most,) = run(
        """
        retainer = TextRetainer(strategy)
        chunk = character * 10_000_000
        start()
        retainer.push(chunk)
        print(peak())
        """,
        strategy=strategy,
        character=repr(character),
    )
    assert most < 100_000 + 2 * KIB


@pytest.mark.parametrize("strategy", ["TextTail(10**6, max_lines=1)", "TextTail(10**6, max_lines=10**6)"])
def test_a_tail_of_lines_takes_the_budget_in_bytes_and_a_constant(strategy):
    most, seen, kept = run(
        """
        retainer = TextRetainer(strategy, whole_lines=True)
        chunk = b"a line of some length\\n" * 3000
        start()
        for _ in range(1500):
            retainer.push(chunk)
        print(peak(), retainer.seen_bytes, retainer.notice("x", unit="lines").kept)
        """,
        strategy=strategy,
    )
    assert seen == 1500 * 3000 * 22
    assert kept in (1, 10**6 // 22)
    assert most < 10**6 + 4 * KIB


@pytest.mark.parametrize("make", ["'é\\n' * 5000", "'汉\\n' * 5000", "'😀\\n' * 5000", "b'x\\n' * 5000"])
def test_a_head_of_lines_takes_no_more_than_its_lines(make):
    (most,) = run(
        f"""
        retainer = TextRetainer(TextHead(10**9, max_lines=10))
        chunk = {make}
        start()
        for _ in range(1000):
            retainer.push(chunk)
        print(peak())
        """
    )
    assert most < 2 * KIB


@pytest.mark.parametrize("character", ["x", "é", "€", "😀"])
def test_counting_the_lines_of_a_large_str_copies_nothing(character):
    (most,) = run(
        """
        retainer = TextRetainer(TextHeadTail(50_000, 50_000, head_lines=5, tail_lines=5), whole_lines=True)
        chunk = (character * 99 + "\\n") * 100_000
        start()
        retainer.push(chunk)
        print(peak())
        """,
        character=repr(character),
    )
    assert most < 100_000 + 2 * KIB


# A chunk of `size` bytes finds no room after this.
LEAVE_LITTLE_ROOM = """
import resource
size = 300_000_000

def leave_little_room():
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + size // 3, -1))
"""

where_room_is_limited = pytest.mark.skipif(
    sys.platform != "linux" or "ASAN_OPTIONS" in os.environ,
    reason="other systems do not limit the address space, and AddressSanitizer takes most of it",
)


@where_room_is_limited
@pytest.mark.parametrize("make", ["b'x' * size + b'\\ny\\n'", "'é' * (size // 2) + '\\ny\\n'"], ids=["bytes", "str"])
@pytest.mark.parametrize("strategy", ["TextHead(10**12, max_lines=3)", "TextTail(10**12, max_lines=3)"])
def test_a_push_without_memory_changes_no_count(strategy, make):
    (same,) = run(
        f"""
        chunk = {make}
        leave_little_room()
        retainer = TextRetainer({strategy})
        retainer.push("1\\n2")
        before = retainer.finish()
        try:
            retainer.push(chunk)
        except MemoryError:
            same = retainer.finish() == before
            retainer.push("\\n3\\n")
            result = retainer.finish()
            same = same and (result.text, result.seen_lines, retainer.truncated) == ("1\\n2\\n3\\n", 3, False)
            retainer.push("4")
            print(int(same and retainer.truncated))
        """,
        setup=LEAVE_LITTLE_ROOM,
    )
    assert same


@where_room_is_limited
@pytest.mark.parametrize("make", ["b'y\\n' + b'x' * size", "'y\\n' + 'é' * (size // 2)"], ids=["bytes", "str"])
def test_a_push_without_memory_leaves_the_end_of_the_head_where_it_was(make):
    # The chunk would have ended the head by its last line, before there is no room for the rest in the tail.
    (same,) = run(
        f"""
        chunk = {make}
        leave_little_room()
        retainer = TextRetainer(TextHeadTail(10**12, 10**12, head_lines=2, tail_lines=1))
        retainer.push("1\\n2")
        try:
            retainer.push(chunk)
        except MemoryError:
            retainer.extend(["0123456789", "\\n3\\n", "4\\n"])
            result = retainer.finish()
            print(int((result.head, result.tail) == ("1\\n20123456789\\n", "4\\n")))
        """,
        setup=LEAVE_LITTLE_ROOM,
    )
    assert same


@pytest.mark.parametrize(
    "make",
    [
        "TextRetainer(TextHead(10**12))",
        "TextRetainer(TextHead(10**12, max_lines=10**12))",
        "TextRetainer(TextTail(10**12, max_lines=10**12), whole_lines=True)",
        "TextRetainer(TextTail(10**12))",
        "TextRetainer(TextHeadTail(10**12, 10**12))",
        "TextRetainer(TextHeadTail(10**30, 10**30))",
        "ItemRetainer(ItemHead(10**12))",
        "ItemRetainer(ItemTail(10**12))",
        "ItemRetainer(ItemHeadTail(10**30, 10**30))",
    ],
)
def test_a_budget_costs_nothing_until_it_is_used(make):
    empty, some = run(
        f"""
        start()
        retainer = {make}
        empty = peak()
        for _ in range(100):
            retainer.push("x")
        print(empty, peak())
        """
    )
    assert empty < 2 * KIB
    assert some < 4 * KIB


@pytest.mark.parametrize("strategy", ["TextHead(10**12)", "TextTail(10**12)", "TextHeadTail(10, 10**12)"])
def test_memory_grows_with_the_data_to_about_twice_its_size_at_most(strategy):
    least, most = run(
        """
        chunk = b"x" * 1000
        retainer = TextRetainer(strategy)
        start()
        shares = []
        for number in range(1, 3000):
            retainer.push(chunk)
            shares.append(tracemalloc.get_traced_memory()[0] * 100 // (number * 1000))
        print(min(shares[100:]), max(shares[100:]))
        """,
        strategy=strategy,
    )
    assert 100 <= least <= most <= 220  # per cent of what was pushed


def test_a_retainer_that_is_let_go_gives_its_memory_back():
    full, after = run(
        """
        start()
        retainers = [TextRetainer(TextHeadTail(MIB, MIB)) for _ in range(10)]
        for retainer in retainers:
            retainer.push(b"x" * 5 * MIB)
        full = held()
        del retainer, retainers
        print(full, held())
        """,
        MIB=MIB,
    )
    assert full > 20 * MIB
    assert after < 4 * KIB


# Results


@pytest.mark.parametrize(
    ("pattern", "strategy", "most"),
    [
        # All in one part, which is also the text: one copy where it is ASCII.
        ("x", "TextHead(MIB)", 1.1),
        ("x", "TextTail(MIB)", 1.1),
        # Two parts, and both together once more.
        ("x", "TextHeadTail(MIB // 2, MIB // 2)", 2.1),
        # The bytes, and the room that CPython's decoder begins with: as many characters as bytes, of 4 bytes each.
        ("é", "TextHead(MIB)", 6.5),
        ("€", "TextHead(MIB)", 6.5),
        ("😀", "TextTail(MIB)", 6.5),
        ("x€😀", "TextHeadTail(MIB // 2, MIB // 2)", 6.5),
    ],
)
def test_a_result_takes_a_few_times_the_budget_and_leaves_nothing_behind(pattern, strategy, most):
    highest, after = run(
        """
        retainer = TextRetainer(strategy)
        retainer.push(pattern * 2 * MIB)
        start()
        result = retainer.finish()
        highest = peak()
        del result
        print(highest, held())
        """,
        MIB=MIB,
        strategy=strategy,
        pattern=repr(pattern),
    )
    assert highest < most * MIB
    assert after < 4 * KIB


def test_a_result_does_not_keep_its_retainer():
    (left,) = run(
        """
        start()
        retainer = TextRetainer(TextHead(10 * MIB))
        retainer.push(b"x" * 9 * MIB)
        retainer.push(b"x" * 2 * MIB)
        result = retainer.finish_bytes()
        del retainer
        print(held())
        """,
        MIB=MIB,
    )
    assert 10 * MIB <= left < 10 * MIB + 4 * KIB


# Items


@pytest.mark.parametrize("strategy", ["ItemHead(1000)", "ItemTail(1000)", "ItemHeadTail(500, 500)"])
def test_many_items_take_the_budgets_and_a_constant(strategy):
    most, seen = run(
        """
        retainer = ItemRetainer(strategy)
        push = retainer.push
        start()
        for _ in range(500_000):
            push([])
        print(peak(), retainer.seen)
        """,
        strategy=strategy,
    )
    assert seen == 500_000
    # A place in a list for each, and the empty list itself.
    assert most < 1000 * (8 * 2 + 100)


@pytest.mark.parametrize("strategy", ["ItemHead(10)", "ItemTail(10)", "ItemHeadTail(5, 5)"])
def test_extending_by_a_long_list_copies_only_what_is_kept(strategy):
    (most,) = run(
        """
        source = [None] * 5_000_000
        start()
        retainer = ItemRetainer(strategy)
        retainer.extend(source)
        print(peak())
        """,
        strategy=strategy,
    )
    assert most < 4 * KIB
